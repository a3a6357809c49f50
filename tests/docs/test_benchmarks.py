"""The page of benchmarks shows what the command prints: a week of one mission among 4,000 manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.goals import Goal
from bench.iceberg import WEEK
from bench.iceberg_tables import DAYS, FILES_A_DAY, MISSIONS, write_pyramid
from bench.page import Section, page
from lakeprune.cli.main import main
from tests.docs.blocks import blocks

_COMMAND = f'$ lakeprune explain ./flights -w "{WEEK}"\n'


def test_a_week_among_thousands_of_manifests_is_shown_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pyramid(tmp_path / "flights")
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "./flights", "-w", WEEK]) == 0
    printed = capsys.readouterr().out
    (block,) = blocks("docs/benchmarks.md", "console")
    assert block.text == _COMMAND + printed
    assert MISSIONS * DAYS == 4000
    assert f"Files in snapshot: {4000 * FILES_A_DAY}" in printed
    assert "manifests remaining: 7  (-3993, >99% pruned)" in printed
    assert f"Total reduction: {4000 * FILES_A_DAY} -> 14 files" in printed


def test_what_is_not_measured_again_stays_on_the_page_and_notes_stay_last() -> None:
    earlier = "# Benchmarks\n\n## A\n\none\n\n## B\n\ntwo\n\n## Notes\n\nwhy\n"
    written = page(earlier, ["a fact"], [Section(["## B", "", "three"], [Goal("fast", "9x", met=False)], (0.5, 1))])
    headings = [line for line in written.splitlines() if line.startswith("## ")]
    assert headings == ["## A", "## B", "## Notes"]
    assert [word for word in ("one", "two", "three", "why") if f"\n{word}\n" in written] == ["one", "three", "why"]
    assert "| fast | 9x | **no** |" in written
    assert page(written, ["a fact"], []) == written
