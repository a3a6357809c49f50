"""The pages on hints: every hint keeps the files that the page says, every command prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.cli.main import main
from lakeprune.planning.planner import Planner
from tests.apps.sharing.hinting import Asked, days_table, planner_of
from tests.apps.sharing.server.served import serving
from tools.repository import ROOT

CONCEPT = (ROOT / "docs/concepts/sharing-hints.md").read_text(encoding="utf-8")
COMMAND = (ROOT / "docs/commands/hints.md").read_text(encoding="utf-8")
HINTS = re.findall(r"```(json|sql)\n((?:(?!```).)*)```\n\nkeeps (\d) of 3 files", CONCEPT, re.DOTALL)


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(days_table(tmp_path_factory.mktemp("page") / "t"))


@pytest.mark.parametrize(("kind", "hint", "kept"), HINTS)
def test_a_hint_of_the_page_keeps_what_the_page_says(planner: Planner, kind: str, hint: str, kept: str) -> None:
    asked = Asked(planner, hint=hint) if kind == "json" else Asked(planner, [hint.strip()])
    assert len(asked.paths) == int(kept)


def test_every_hint_of_the_page_is_tried() -> None:
    assert len(HINTS) == len(re.findall(r"```(?:json|sql)\n", CONCEPT)) == 8


def test_the_reading_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", CONCEPT, re.DOTALL)
    with serving({"part": days_table(tmp_path / "part")}) as running:
        (tmp_path / "profile.share").write_text(running.profile())
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {"lakeprune": lakeprune}
        exec(code.replace("rows.read_all() ", "table = rows.read_all() "), names)  # noqa: S102  # it is our own page
        assert names["rows"].offer.files == 1
        assert names["table"]["id"].to_pylist() == [10, 11, 12, 13, 14]
        assert main(["explain", "profile.share#share1.s.part", "-w", "id < 3"]) == 0
        assert "the server offers 1 of 3 files" in capsys.readouterr().out


def test_the_python_of_the_page_of_the_command_says_the_hint() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", COMMAND, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102  # it is our own page
    assert names["hints"].sql == ("(age = 1) OR (age = 7)",)  # type: ignore[attr-defined]  # a Hints
