"""Flags that list files, the answer first, and Markdown that no table can break."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lakeprune.cli.main import main
from lakeprune.report.document import View
from tests.builders import delta
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File

WHERE = "country = 'DE' AND age > 40"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("listing") / "users"))


def listed(capsys: pytest.CaptureFixture[str], users: str, *flags: str) -> list[dict[str, Any]]:
    assert main(["explain", users, "-w", WHERE, "--format", "json", *flags]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["files"]
    return found


def test_kept_and_dropped_list_one_half_each(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert [file["kept"] for file in listed(capsys, users, "--kept")] == [True]
    assert [file["kept"] for file in listed(capsys, users, "--dropped")] == [False] * 5
    assert len(listed(capsys, users, "-v")) == 6


def test_the_largest_come_first(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [file["size_bytes"] for file in listed(capsys, users, "-v", "--sort", "size")]
    assert sizes == sorted(sizes, reverse=True)
    assert [file["size_bytes"] for file in listed(capsys, users, "-v", "--sort", "size", "--limit", "2")] == sizes[:2]


def test_one_file_says_why(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    (kept,) = listed(capsys, users, "--kept")
    name = kept["path"].rpartition("/")[2]
    assert listed(capsys, users, "--file", name) == [kept]
    assert main(["explain", users, "-w", WHERE, "--file", name]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  [KEPT   ]")]
    assert line.endswith("kept: ranges overlap with age > 40")


def test_a_file_that_is_not_there_is_an_error(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", users, "-w", WHERE, "--file", "part-9"]) == 2
    said = capsys.readouterr()
    assert (said.out, "error[LP260]" in said.err) == ("", True)


def test_a_cut_list_says_how_many_are_missing_of_what_was_asked_for(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", users, "-w", WHERE, "--dropped", "--limit", "3"]) == 0
    assert "... and 2 more files" in capsys.readouterr().out
    assert main(["explain", users, "-w", WHERE, "--kept", "--limit", "1"]) == 0
    assert "more file" not in capsys.readouterr().out


@pytest.mark.parametrize("flags", [["--limit", "5"], ["--sort", "size"]])
def test_a_limit_without_a_list_is_not_silent(users: str, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", users, "-w", WHERE, *flags]) == 0
    assert f"note: {flags[0]} is about the list of files" in capsys.readouterr().err
    assert main(["explain", users, "-w", WHERE, "--kept", *flags]) == 0
    assert capsys.readouterr().err == ""


def test_two_halves_do_not_go_together(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", users, "--kept", "--dropped"]) == 2
    assert "do not go together" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("where", "first"),
    [
        (WHERE, "Reads 1 of 6 files, 750 B, 83% pruned"),
        (None, "Reads all 6 files, 4.5 KB: no predicate"),
        ("age > 90", "Reads 0 of 6 files, 0 B, 100% pruned"),
    ],
)
def test_the_first_line_is_the_answer(where: str | None, first: str) -> None:
    assert report_on(snapshot(*USERS), where).to_text().splitlines()[0] == first


def test_numbers_are_grouped_and_nouns_agree() -> None:
    many = snapshot(*(File(f"f{n}", 700, 3000, 0, {"country": "IT"}, {"age": (n, n, 0)}) for n in range(1200)))
    text = report_on(many, "age > 100").to_text()
    assert text.startswith("Reads 1,099 of 1,200 files")
    assert "Live rows:         3,600,000" in text
    assert "Total reduction: 1200 -> 1099 files" in text  # as pipelines read it
    assert report_on(snapshot(USERS[0]), "age > 90").to_text().startswith("Reads 0 of 1 file, ")


def test_one_clause_has_no_table() -> None:
    one, two = (report_on(snapshot(*USERS), where).to_text() for where in ("age > 40", WHERE))
    assert "Clauses (" not in one
    assert "Keeps, of 6 files: " in one
    assert "Clauses (" in two


def test_markdown_cannot_be_broken_by_names() -> None:
    odd = File("a|b`c`\n<script>", 700, 3, 0, {"country": "I|T"}, {"age": (41, 65, 0)})
    report = report_on(snapshot(odd, *USERS), "age > 40 AND name != '```\n<img>|'")
    text = "".join(report.to_markdown(verbose=True))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows if "a\\|b" in line or line.startswith("| file")}
    assert len(widths) == 1
    outside = re.sub(r"(`{3,}).*?\n\1(?=\n)", "", text, flags=re.DOTALL)
    assert "<script>" not in re.sub(r"(`+).*?\1", "", outside)
    assert "<img>" not in re.sub(r"(`+).*?\1", "", outside)


def test_markdown_lists_a_hundred_files_and_says_so() -> None:
    many = snapshot(*(File(f"f{n}", 700, 3, 0, {"country": "IT"}, {"age": (n, n, 0)}) for n in range(150)))
    report = report_on(many, "age >= 0")
    text = report.to_markdown(verbose=True)
    assert text.count("| kept |") == 100
    assert "50 more" in text
    assert "50 more" not in report._rendered("markdown", View(True, 150))
