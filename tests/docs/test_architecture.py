"""docs/architecture.md shows what the code really does to a predicate."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from lakeprune.skipping.ladder import Rung
from tools.repository import ROOT
from tools.worked_predicate import steps

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
BELOW_REPORT = ("values", "predicate", "skipping", "engines", "programs", "storage", "planning")
PACKAGES = sorted(path.name for path in (ROOT / "src/lakeprune").iterdir() if (path / "__init__.py").exists())


def test_every_step_is_printed_as_the_code_prints_it() -> None:
    missing = [name for name, text in steps() if f"```text\n{text}\n```" not in PAGE]
    assert missing == [], "run `python -m tools.worked_predicate` and paste what changed"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_its_place_on_the_page(package: str) -> None:
    assert package in PAGE


def test_the_import_rule_is_the_enforced_one() -> None:
    enforced = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("layers = [")[2].partition("]")[0]
    order = [
        name for name in enforced.replace('"', " ").replace("|", " ").replace(":", " ").split() if name.startswith("lakeprune.")
    ]
    names = [name.removeprefix("lakeprune.") for name in order if name not in ("lakeprune.spark", "lakeprune.sharing")]
    stated = PAGE.partition("`cli -> ")[2].partition("`")[0].replace("\n", " ").replace("->", " ").replace(",", " ").split()
    assert ["cli", *stated] == names


def test_the_worked_table_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    list(steps())
    assert list(tmp_path.iterdir()) == []


def named_rungs(source: str) -> Iterator[str]:
    """The rungs of formats that a module imports by name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lakeprune.formats."):
            home = import_module(str(node.module))
            yield from (alias.name for alias in node.names if isinstance(getattr(home, alias.name), Rung))


@pytest.mark.parametrize("package", BELOW_REPORT)
def test_no_package_below_the_report_names_a_rung(package: str) -> None:
    paths = sorted((ROOT / "src/lakeprune" / package).rglob("*.py"))
    assert paths
    assert [(path.name, name) for path in paths for name in named_rungs(path.read_text(encoding="utf-8"))] == []


def test_a_rung_that_is_named_is_noticed() -> None:
    assert list(named_rungs("def f():\n    from lakeprune.formats.delta.ladder import EVIDENCE, STATISTICS")) == ["STATISTICS"]


def test_every_application_is_on_the_page() -> None:
    folders = [path.name for path in (ROOT / "src/lakeprune/apps").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in folders if f"| `apps/{name}` |" not in PAGE] == []
