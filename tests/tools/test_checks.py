"""The repository checks catch what they are there for: each gets a small repository with one fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.check_docs import (
    junk_drawers,
    outdated_flags,
    private_traces,
    undocumented_commands,
    undocumented_errors,
    undocumented_reasons,
)
from tools.check_file_sizes import MOST_LINES, oversized
from tools.check_homes import homeless
from tools.generate_flags import with_tables
from tools.markdown import dead_links, pages_nobody_links_to
from tools.repository import repository_files


def repository(root: Path, **files: str) -> Path:
    """A git repository with these files; `__` in a name stands for `/`, the last `_` for the dot."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)  # noqa: S607  # whichever git the developer uses
    for name, text in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = root / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_a_file_above_the_limit_is_reported_and_one_at_the_limit_is_not(tmp_path: Path) -> None:
    root = repository(tmp_path, src__long_py="x\n" * (MOST_LINES + 1), src__full_py="x\n" * MOST_LINES)
    assert list(oversized(root)) == [f"src/long.py: {MOST_LINES + 1} lines, at most {MOST_LINES}"]


def test_ignored_files_are_not_looked_at(tmp_path: Path) -> None:
    root = repository(tmp_path, build__long_py="x\n" * 500)
    (root / ".gitignore").write_text("build/\n", encoding="utf-8")
    assert repository_files(root) == [Path(".gitignore")]


def test_an_error_code_needs_a_heading_and_a_heading_needs_a_code(tmp_path: Path) -> None:
    root = repository(tmp_path, src__a_py='raise E("LP102")', docs__errors_md="LP102 in passing\n## LP999\n")
    found = set(undocumented_errors(root, repository_files(root)))
    assert found == {"docs/errors.md: no entry for LP102", "docs/errors.md: describes LP999, which does not exist"}


def test_every_reason_code_needs_an_entry(tmp_path: Path) -> None:
    emitted = "Keeps.NULL_COUNT, ReasonCode.COLLATION"
    root = repository(tmp_path, docs__reasons_md="## `COLLATION`\n## `NO_SUCH_REASON`\n", src__lakeprune__a_py=emitted)
    found = list(undocumented_reasons(root, repository_files(root)))
    assert "docs/reasons.md: no entry for CROSS_TYPE" in found
    assert "docs/reasons.md: no entry for COLLATION" not in found
    assert "docs/reasons.md: describes NO_SUCH_REASON, which does not exist" in found
    assert "docs/reasons.md: ReasonCode.CROSS_TYPE is documented and never emitted" in found
    assert "docs/reasons.md: ReasonCode.COLLATION is documented and never emitted" not in found


def test_a_table_of_flags_that_the_code_would_write_otherwise_is_reported(tmp_path: Path) -> None:
    current = with_tables("verify", "<!-- flags: output -->\n<!-- end of flags -->\n")
    assert "| `--output FILE` |  | write the document to FILE instead of stdout |" in current.splitlines()
    root = repository(tmp_path, docs__commands__verify_md=current, docs__commands__delete_md=current)
    found = [problem.split(":")[0] for problem in outdated_flags(root)]
    assert "docs/commands/verify.md" not in found
    assert "docs/commands/delete.md" in found  # whose --format has other choices


def test_a_command_needs_a_page_with_all_its_flags_and_no_others(tmp_path: Path) -> None:
    root = repository(tmp_path)
    assert "docs/commands/explain.md: missing, the command exists" in list(undocumented_commands(root))
    repository(root, docs__commands__explain_md="`--where`, `--wherever`")
    found = list(undocumented_commands(root))
    assert "docs/commands/explain.md: no entry for --verbose" in found
    assert "docs/commands/explain.md: no entry for --where" not in found
    assert "docs/commands/explain.md: describes --wherever, which does not exist" in found


def test_dead_links_are_reported_with_their_page(tmp_path: Path) -> None:
    text = "[a](b.md) [c](b.md#here) [d](b.md#gone) [e](gone.md) [f](https://example.org/x) `[g](nowhere)`"
    root = repository(tmp_path, docs__a_md=text, docs__b_md="# Here\n")
    assert list(dead_links(root, [Path("docs/a.md"), Path("docs/b.md")])) == [
        "docs/a.md: links to b.md#gone, which has no such heading",
        "docs/a.md: links to gone.md, which does not exist",
    ]


def test_a_page_that_only_an_unreachable_page_links_to_is_reported(tmp_path: Path) -> None:
    root = repository(tmp_path, README_md="[docs](docs/a.md)", docs__a_md="", docs__b_md="[c](c.md)", docs__c_md="[b](b.md)")
    pages = [path for path in repository_files(root) if path.suffix == ".md"]
    assert list(pages_nobody_links_to(root, pages)) == ["docs/b.md: no page links to it", "docs/c.md: no page links to it"]


@pytest.mark.parametrize(
    "line",
    ["cd /{}/main".format("work"), "see /{}/x".format("tmp"), "--index{}".format("-url x"), "files.python{}".format("hosted")],
)
def test_traces_of_a_machine_are_reported(tmp_path: Path, line: str) -> None:
    root = repository(tmp_path, notes_md=f"fine\n{line}\n")
    (found,) = private_traces(root, [Path("notes.md")])
    assert found.startswith("notes.md:2: ")


@pytest.mark.parametrize("template", ["./users", "a/{tmp}/b", "src/{work}/x", "n/{root}", "file:///data/users", "/{root}ed"])
def test_ordinary_paths_are_not_reported(tmp_path: Path, template: str) -> None:
    root = repository(tmp_path, notes_md=template.format(tmp="tmp", work="work", root="root"))
    assert list(private_traces(root, [Path("notes.md")])) == []


def test_binary_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff")
    assert list(private_traces(tmp_path, [Path("image.png")])) == []


def test_junk_drawers_are_reported() -> None:
    files = [Path("src/a/utils.py"), Path("src/common/b.py"), Path("src/_helpers.py"), Path("src/commonality.py")]
    assert len(list(junk_drawers(files))) == 3


@pytest.mark.parametrize(
    ("path", "line", "is_home"),
    [
        ("engines/duckdb/engine.py", "import _duckdb", True),
        ("engines/duckdb/dialect.py", "import _duckdb", False),
        ("apps/verify/spark_rows.py", "from pyspark.sql import DataFrame", True),
        ("apps/verify/verify.py", "def f():\n    from pyspark.sql import DataFrame", False),
        ("apps/verify/verify.py", "if TYPE_CHECKING:\n    from pyspark.sql import DataFrame", True),
        ("planning/planner.py", "import lakeprune.errors", True),
    ],
)
def test_libraries_stay_at_home(tmp_path: Path, path: str, line: str, is_home: bool) -> None:
    root = repository(tmp_path)
    file = root / "src/lakeprune" / path
    file.parent.mkdir(parents=True)
    file.write_text(line + "\n")
    assert (list(homeless(root)) == []) is is_home
