"""Files of the log beside what was found in them: verdicts, samples and recorded statistics, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeprune.apps.explain.opening import opened
from lakeprune.planning.opening import At
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.predicate.schema import leaf_paths
from lakeprune.predicate.tree import Column
from lakeprune.programs.audit import Fault, compare, recorded_statistics
from lakeprune.programs.compare import PlannedFiles, planned_files
from lakeprune.programs.patterns import Evaluation
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.types import INT
from tests.builders.delta import add, metadata, protocol, statistics, write_log
from tests.builders.engine import ENGINE
from tests.builders.snapshot import File, RowsSnapshot

FILES = (
    File("dropped", 100, 10, 0, {}, {"x": (1, 5, 0)}),
    File("kept", 200, 10, 0, {}, {"x": (1, 20, 0)}),
    File("full", 400, 10, 0, {}, {"x": (11, 20, 0)}),
)


def planned(share: float | None = None) -> PlannedFiles:
    planner = Planner(Evaluation(ENGINE, RowsSnapshot({"x": INT}, FILES), profile_of()[0]))
    return planned_files(planner.evaluation, planner.ask("x > 10").plan, share)


def found(files: PlannedFiles, **matching: int) -> str:
    rows = ", ".join(f"('{name}', 10, {count})" for name, count in matching.items())
    return files.logged.keyed(f"(VALUES {rows}) AS t(url, live, matching)")


def test_rows_that_agree_with_their_verdicts_contradict_nothing() -> None:
    files = planned()
    rows = found(files, dropped=0, kept=0, full=10)
    patterns = {pattern.signature.verdict: pattern for pattern in files.patterns(rows)}
    assert sum(pattern.contradictions for pattern in patterns.values()) == 0
    assert files.contradictions(rows, 10) == []
    assert (patterns[Verdict.FULL].bytes_with_match, patterns[Verdict.KEEP].files_with_match) == (400, 0)


def test_a_match_in_a_dropped_file_and_another_row_in_a_full_one_are_contradictions() -> None:
    files = planned()
    rows = found(files, dropped=3, kept=4, full=9)
    assert sum(pattern.contradictions for pattern in files.patterns(rows)) == 2
    assert files.contradictions(rows, 10) == [("dropped", Verdict.DROP, 10, 3), ("full", Verdict.FULL, 10, 9)]
    assert len(files.contradictions(rows, 1)) == 1


def test_a_file_without_rows_has_none_and_a_wrong_count_is_counted() -> None:
    files = planned()
    patterns = files.patterns(found(files, kept=10, full=10))
    (dropped,) = [pattern for pattern in patterns if pattern.signature.verdict is Verdict.DROP]
    assert (dropped.checked, dropped.live, dropped.files_with_wrong_row_count) == (1, 0, 1)


def test_a_sample_checks_every_kept_file_and_concludes_nothing_from_the_others() -> None:
    files = planned(0.000001)
    assert sorted(files.logged.paths()) == ["full", "kept"]
    rows = found(files, kept=10, full=10)
    (dropped,) = [pattern for pattern in files.patterns(rows) if pattern.signature.verdict is Verdict.DROP]
    assert (dropped.files, dropped.checked, dropped.files_with_wrong_row_count) == (1, 0, 0)


def test_a_file_that_the_log_does_not_have_is_counted() -> None:
    files = planned()
    assert files.logged.files_missing_from_log(found(files, kept=1)) == 0
    assert files.logged.files_missing_from_log(found(files, kept=1, stranger=1)) == 1


@pytest.mark.parametrize(
    ("low", "high", "nulls", "faults"),
    [
        (11, 20, 0, []),
        (12, 13, 0, []),  # loose bounds are not wrong
        (10, 20, 0, [Fault.MINIMUM]),
        (11, 21, 0, [Fault.MAXIMUM]),
        (11, 20, 2, [Fault.NULLS]),
    ],
)
def test_statistics_are_wrong_where_rows_lie_outside_of_them(
    low: int, high: int, nulls: int, faults: list[Fault], tmp_path: Path
) -> None:
    added = add("full", stats=statistics(10, x=(11, 20, 0)))
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long"}), added]])
    evaluation = opened(table, [], At(), {})[0].planner.evaluation
    columns = [Column.at(path) for path in leaf_paths(evaluation.snapshot.facts.schema.fields)]
    row = f"(VALUES ('full', 10, {nulls}, {low}, {high})) AS t(url, live, t0_n, t0_lo, t0_hi)"
    with evaluation.engine.awake():
        recorded = recorded_statistics(evaluation, columns, "TRUE")
        compared = compare(recorded, recorded.logged.keyed(row))
        assert compared.files() == (1, bool(faults))
        assert [(count.column, count.fault) for count in compared.counts()] == [("x", fault) for fault in faults]
        assert [fault.path for fault in compared.named(5)] == ["full"] * len(faults)
