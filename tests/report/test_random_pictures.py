"""Pictures of random tables of every type and layout, drawn and binned, count what the listing says; their pages are sound."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lakeprune
from lakeprune.report.model import Report
from lakeprune.report.pictures import compose
from lakeprune.report.pictures.model import VERDICTS, Shade
from lakeprune.report.verdict import CONSTANT
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.render.test_html import outline
from tests.soundness.delta_log import write_table
from tests.soundness.tables import random_table

TABLES = 2
PREDICATES = 4


@pytest.mark.parametrize("most_marks", [2000, 0])
@pytest.mark.parametrize("seed", range(TABLES))
def test_pictures_count_what_the_listing_says(
    seed: int, most_marks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "MOST_MARKS", most_marks)
    rng = Random(1000 + seed)
    table = random_table(rng)
    write_table(table, tmp_path / "table")
    options: dict[str, Any] = {"timezone": table.zone} if table.zone_is_given else {}
    wheres = [
        " AND ".join(f"({say(random_predicate(table.columns, table.zone, rng)).spark})" for _ in range(2))
        for _ in range(PREDICATES)
    ]
    for report in lakeprune.explain_many(tmp_path / "table", wheres, explain_why=True, **options):
        check(report)


def check(report: Report) -> None:
    listed = Counter(Shade.ASSUMED if file.assumes else Shade(file.verdict.value.lower()) for file in report.files)
    expected = [listed[shade] for shade in VERDICTS]
    picture = report.picture()
    credited = {file.path: file.credit for file in report.files}
    above = {rung.name for rung in report.facts.evidence.ladder[:-1]}
    for strip in picture.strips:
        assert [sum(counts) for counts in zip(*(lane.files for lane in strip.lanes), strict=True)] == expected, report.predicate
        for lane in strip.lanes:
            for mark in lane.marks:
                if mark.shade is Shade.BY_PARTITION:
                    assert credited[mark.path] in above | {CONSTANT}, report.predicate
                elif mark.shade in (Shade.DROP, Shade.BY_ANOTHER):
                    assert credited[mark.path] not in above, report.predicate
            drawn = Counter(mark.shade for mark in lane.marks)
            known = [of - unknown for of, unknown in zip(lane.files, lane.unknown, strict=True)]
            assert sum(drawn.values()) in (0, sum(known) - lane.only_null), report.predicate
            assert all(max(counts) <= most for counts, most in zip(lane.depth, known, strict=False) if counts), report.predicate
        assert all(0 <= place <= 1 for stripe in strip.stripes for place in (stripe.start, stripe.end))
        assert all(0 <= tick.at <= 1 for tick in strip.ticks)
    if picture.heat is not None:
        assert [sum(counts) for counts in zip(*(cell.files for cell in picture.heat.cells), strict=True)] == expected
    outline(report.to_html())
