"""What a plan promises, on random tables and predicates, against the rows themselves."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import lakeprune
from lakeprune.apps.scan.model import Pushdown, ScanPlan
from tests.apps.scan.random_tables import Rows, random_files, random_predicate, written
from tests.scope import IS_WHOLE


def check_residuals(plan: ScanPlan, rows: Rows, predicate: str | None) -> None:
    """Of kept files the residual decides like the predicate, row by row; no other file has a matching row."""
    truth = rows.matching([] if predicate is None else [predicate])
    kept = {file["path"]: file["residual"] for file in plan.files.to_pylist()}
    by_residual = {
        residual: rows.matching([plan.clauses[k].text for k in residual]) for residual in {tuple(each) for each in kept.values()}
    }
    for path, matching in truth.items():
        assert matching == (by_residual[tuple(kept[path])][path] if path in kept else set()), (predicate, path)


@settings(max_examples=400 if IS_WHOLE else 8)
@given(st.integers(0, 10**9))
def test_the_residual_decides_as_the_predicate_does_and_nothing_matches_outside(seed: int) -> None:
    rng = Random(seed)
    files, predicate = random_files(rng), random_predicate(rng)
    groups = rng.choice((1, 3, None))
    with TemporaryDirectory() as folder:
        plan = lakeprune.plan(written(Path(folder) / "t", files, rng), predicate, groups=groups)
        found = plan.files.to_pylist()
        check_residuals(plan, Rows(files), predicate)
        totals = plan.totals
        assert totals.files_scanned + totals.files_pruned == totals.files_total == len(files)
        assert (totals.files_scanned, totals.bytes_scanned) == (len(found), sum(file["size"] for file in found))
        left = {k for file in found for k in file["residual"]}
        for k, clause in enumerate(plan.clauses):
            assert (clause.pushdown is Pushdown.EXACT) == (k not in left)
        for file in found:
            assert (file["verdict"] == "full") == (not file["residual"])
            day, bucket, *_ = files[file["path"]][0]
            known = file["partition"]
            assert (None if known["day"] is None else str(known["day"]), known["bucket"]) == (day, bucket)
        assert ScanPlan.from_json(plan.to_json()).files.equals(plan.files)
        if groups is not None and found:
            check_groups(plan, groups)


def check_groups(plan: ScanPlan, groups: int) -> None:
    """No group has more than its share and one file; the files of a partition are in groups next to each other."""
    found = plan.files.to_pylist()
    share, largest = sum(file["size"] for file in found) / groups, max(file["size"] for file in found)
    assert all(0 <= file["group"] < groups for file in found)
    for number in range(groups):
        assert sum(file["size"] for file in found if file["group"] == number) <= share + largest
    by_partition = sorted(found, key=lambda file: str(file["partition"]))
    for _, several in groupby(by_partition, key=lambda file: str(file["partition"])):
        numbers = {file["group"] for file in several}
        inside = set(range(min(numbers), max(numbers) + 1))
        assert all(number in numbers for number in inside if any(file["group"] == number for file in found))


@settings(max_examples=300 if IS_WHOLE else 6)
@given(st.integers(0, 10**9), st.integers(0, 12))
def test_a_limit_is_reached_for_certain_or_every_kept_file_is_read(seed: int, limit: int) -> None:
    rng = Random(seed)
    files, predicate = random_files(rng), random_predicate(rng)
    with TemporaryDirectory() as folder:
        table = written(Path(folder) / "t", files, rng)
        whole, plan = lakeprune.plan(table, predicate), lakeprune.plan(table, predicate, limit=limit)
        again = lakeprune.plan(table, predicate, limit=limit)
        kept, needed = whole.files.to_pylist(), plan.files.to_pylist()
        assert {file["path"] for file in needed} <= {file["path"] for file in kept}
        assert plan.files.equals(again.files)
        assert plan.totals.files_scanned + plan.totals.files_pruned == plan.totals.files_total
        certain = sum(file["rows"] or 0 for file in kept if file["verdict"] == "full")
        truth = Rows(files).matching([] if predicate is None else [predicate])
        reached = sum(len(truth[file["path"]]) for file in needed)
        assert reached >= min(limit, sum(map(len, truth.values())))
        if limit == 0:
            assert not needed
        elif certain >= limit:
            assert all(file["verdict"] == "full" and file["rows"] for file in needed)
            assert sum(file["rows"] for file in needed[:-1]) < limit
        else:
            assert len(needed) == len(kept)
            counted = [file["rows"] is not None for file in needed]
            assert counted == sorted(counted, reverse=True), "files without a count come last"


@settings(max_examples=300 if IS_WHOLE else 6)
@given(st.integers(0, 10**9))
def test_statistics_that_are_exact_are_those_of_the_rows(seed: int) -> None:
    rng = Random(seed)
    files, predicate = random_files(rng), random_predicate(rng)
    with TemporaryDirectory() as folder:
        plan = lakeprune.plan(written(Path(folder) / "t", files, rng), predicate)
        statistics = plan.statistics
        has_residual = any(file["residual"] for file in plan.files.to_pylist())
    truth = Rows(files).matching([] if predicate is None else [predicate])
    result = [files[path][place] for path, places in truth.items() for place in places]
    if statistics.rows.exact:
        assert statistics.rows.value == len(result)
    elif statistics.rows.value is not None:
        assert len(result) <= statistics.rows.value
    for k, name in enumerate(("day", "bucket", "name", "amount")):
        column, values = statistics.column(name), [row[k] for row in result if row[k] is not None]
        for bound, pick in ((column.min, min), (column.max, max)):
            if bound.exact:
                assert bound.value == str(pick(values))  # type: ignore[type-var]
        if column.nulls.exact:
            assert column.nulls.value == len(result) - len(values)
        if has_residual:
            assert not any(each.exact for each in (column.min, column.max, column.nulls, statistics.rows))
