"""Diagnoses on Iceberg tables: their causes, in Iceberg's words. tests/spark/test_iceberg_advice.py executes the statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.formats.iceberg.metrics_modes import DEFAULT, INFERRED, mode_of
from lakeprune.formats.iceberg.remedies import IcebergRemedies
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.predicate.tree import Column
from lakeprune.values.types import LONG
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table
from tests.report.diagnosis.asking import explained, found_diagnoses, one

BY_BUCKET = {0: [SpecField(1, "bucket[4]", "id_bucket", 1000, "int")]}
BY_DAY = {0: [SpecField(3, "day", "ts_day", 1000, "int")]}
DAY = 86_400_000_000


def bounds(number: int, low: Any, high: Any, type_: str) -> dict[str, dict[int, Any]]:
    return {
        "value_counts": {number: 1000},
        "null_value_counts": {number: 0},
        "lower_bounds": {number: encoded(low, type_)},
        "upper_bounds": {number: encoded(high, type_)},
    }


def table(root: Path, entries: list[Entry], specs: Any = None, columns: Any = (), **properties: str) -> Path:
    own = [column(1, "id", "long"), column(2, "s", "string"), column(3, "ts", "timestamp"), *columns]
    names = {name.replace("__", ".").replace("_", "-"): value for name, value in properties.items()}
    write_table(root / "db" / "t", own, entries, specs, Layout(changes={"properties": names}))
    return root / "db" / "t"


def bucketed(root: Path) -> Path:
    files = [Entry(f"{n}.parquet", 1000, 10_000, tuple={1000: n}, metrics=bounds(1, n, 99_990 + n, "long")) for n in range(4)]
    return table(root, files, BY_BUCKET)


def test_a_range_on_a_bucketed_column_names_the_field_that_would_help(tmp_path: Path) -> None:
    found = one(bucketed(tmp_path), "id < 100", "TRANSFORM_HIDES_RANGE")
    assert found.numbers == {"files": 4, "dropped_files": 0, "buckets": 4}
    assert "partitioned by 4 buckets of id, which say nothing about a range" in found.message
    assert found.rewrite == (
        "ALTER TABLE catalog.db.t ADD PARTITION FIELD truncate(10000, id); "
        "CALL catalog.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))"
    )


def test_what_buckets_answer_is_not_hidden_by_them(tmp_path: Path) -> None:
    place = bucketed(tmp_path)
    assert lakeprune.explain(place, "id = 7").numbers.kept.files == 1
    for where in ("id = 7", "id IN (7, 8)", "id <> 7", "s > 'a'"):
        assert found_diagnoses(place, where, "TRANSFORM_HIDES_RANGE") == []
    buckets = {Bucket(LONG, 4).apply(value) for value in (7, 8)}
    assert lakeprune.explain(place, "id IN (7, 8)").numbers.kept.files == len(buckets)


def test_a_range_that_metrics_answer_is_not_hidden(tmp_path: Path) -> None:
    files = [Entry(f"{n}", 10, 100, tuple={1000: n}, metrics=bounds(1, n * 1000, n * 1000 + 9, "long")) for n in range(4)]
    assert found_diagnoses(table(tmp_path, files, BY_BUCKET), "id < 10", "TRANSFORM_HIDES_RANGE") == []


@pytest.mark.parametrize(
    ("low", "high", "type_", "wanted"),
    [
        (0, 999, "long", "truncate(100, id)"),
        (0, 10**15, "long", None),
        (None, None, "long", None),
        (0, 40 * DAY, "timestamp", "days(ts)"),
        (0, 400 * DAY, "timestamp", "months(ts)"),
        (0, 20_000 * DAY, "timestamp", "years(ts)"),
        (0, DAY, "timestamp", "hours(ts)"),
        ("a", "b", "string", "truncate(1, s)"),
    ],
)
def test_the_field_is_chosen_by_the_ends_of_the_column(
    tmp_path: Path, low: Any, high: Any, type_: str, wanted: str | None
) -> None:
    facts = lakeprune.explain(table(tmp_path, [Entry("a")])).facts
    field = {"long": 0, "string": 1, "timestamp": 2}[type_]
    statement = IcebergRemedies(facts).partition_by_range(Column.at((facts.schema.fields[field],)), low, high, 10)
    assert (statement or "").partition("; ")[0] == (
        "" if wanted is None else f"ALTER TABLE catalog.db.t ADD PARTITION FIELD {wanted}"
    )


MANY = tuple(column(number, f"c{number}", "int") for number in range(4, 105))


@pytest.mark.parametrize(
    ("properties", "where", "cause", "position", "begins"),
    [
        ({"write__metadata__metrics__default": "none"}, "id < 5", "metrics_mode", None, "ALTER TABLE"),
        ({"write__metadata__metrics__default": "counts"}, "id < 5", "metrics_mode", None, "ALTER TABLE"),
        ({"write__metadata__metrics__column__id": "counts"}, "id < 5", "metrics_mode", None, "ALTER TABLE"),
        ({"write__metadata__metrics__column__id": "none"}, "id IS NULL", "metrics_mode", None, "ALTER TABLE"),
        ({"write__metadata__metrics__default": "counts"}, "id IS NULL", "older_files", None, "CALL"),
        ({}, "id < 5", "older_files", None, "CALL"),
        ({}, "c104 < 5", "beyond_first_columns", 104, "ALTER TABLE"),
        ({}, "c100 < 5", "older_files", None, "CALL"),
        ({"write__metadata__metrics__max_inferred_column_defaults": "200"}, "c104 < 5", "older_files", None, "CALL"),
        ({"write__metadata__metrics__default": "full"}, "c104 < 5", "older_files", None, "CALL"),
        ({"write__metadata__metrics__column__c104": "full"}, "c104 < 5", "older_files", None, "CALL"),
    ],
)
def test_missing_metrics_have_one_cause(
    tmp_path: Path, properties: dict[str, str], where: str, cause: str, position: int | None, begins: str
) -> None:
    place = table(tmp_path, [Entry(f"{n}", 10, 1000) for n in range(3)], columns=MANY, **properties)
    found = one(place, where, "METRICS_MISSING")
    assert (found.numbers["cause"], found.numbers.get("column_position")) == (cause, position)
    assert found.numbers["missing_files"] == found.numbers["candidate_files"] == 3
    assert found.rewrite is not None
    assert found.rewrite.startswith(begins)
    assert "CALL catalog.system.rewrite_data_files(table => 'db.t'" in found.rewrite
    codes = {each.code for each in explained(place, where).diagnoses or ()}
    assert not codes & {"MISSING_STATS", "PARTIAL_STATS", "STATS_BEYOND_INDEXED_COLUMNS"}


def test_the_message_names_the_setting(tmp_path: Path) -> None:
    found = one(table(tmp_path, [Entry("a", 10, 1000)], columns=MANY), "c104 < 5", "METRICS_MISSING")
    assert found.message == (
        "1 of 1 file lack the minimum and maximum of c104, which c104 < 5 needs: c104 is column 104, and metrics are collected "
        "of the first 100 (write.metadata.metrics.max-inferred-column-defaults = 100)"
    )


LONG_TEXT = "mission-of-the-day-"


def texts(root: Path, low: str, high: str, **properties: str) -> Path:
    return table(root, [Entry("a", 1000, 10_000, metrics=bounds(2, low, high, "string"))], **properties)


@pytest.mark.parametrize("high", [LONG_TEXT[:16], LONG_TEXT[:15] + "e"], ids=["cut", "rounded up"])
def test_a_bound_that_ends_too_early_is_named_with_the_length_that_helps(tmp_path: Path, high: str) -> None:
    found = one(texts(tmp_path, LONG_TEXT[:16], high), f"s > '{LONG_TEXT}0900'", "METRICS_MISSING")
    assert found.numbers["cause"] == "truncation"
    assert found.numbers["length"] == 16
    assert "bounds of text have 16 characters (the default)" in found.message
    assert "'write.metadata.metrics.column.s' = 'truncate(64)'" in (found.rewrite or "")
    assert found_diagnoses(tmp_path / "db" / "t", f"s > '{LONG_TEXT}0900'", "TRUNCATED_STRING_BOUNDS") == []


@pytest.mark.parametrize("where", ["s > 'm'", "s > 'lisbon-of-the-days-0900'", "s IS NOT NULL", f"s > '{LONG_TEXT[:16]}'"])
def test_a_bound_that_is_long_enough_is_not_named(tmp_path: Path, where: str) -> None:
    assert found_diagnoses(texts(tmp_path, LONG_TEXT[:16], LONG_TEXT[:15] + "e"), where, "METRICS_MISSING") == []


def test_a_longer_setting_is_lengthened_to_whole_values(tmp_path: Path) -> None:
    value = "x" * 70
    found = one(
        texts(tmp_path, value[:64], value[:64], write__metadata__metrics__column__s="truncate(64)"),
        f"s > '{value}'",
        "METRICS_MISSING",
    )
    assert "= 'full'" in (found.rewrite or "")


def test_small_files_are_counted_within_hidden_partitions(tmp_path: Path) -> None:
    metrics = bounds(1, 0, 9, "long")
    spread = [Entry(f"{n}", 10, 1000, tuple={1000: n}, metrics=metrics) for n in range(20)]
    crowded = [Entry(f"c{n}", 10, 1000, tuple={1000: 5}, metrics=metrics) for n in range(20)]
    assert found_diagnoses(table(tmp_path / "a", spread, BY_DAY), "id < 5", "SMALL_FILES") == []
    found = one(table(tmp_path / "b", crowded, BY_DAY), "id < 5", "SMALL_FILES")
    assert found.numbers["files_after"] == 1
    assert found.rewrite == "CALL catalog.system.rewrite_data_files(table => 'db.t', options => map('min-input-files', '2'))"


def test_modes_are_read_as_icebergs_writers_read_them(tmp_path: Path) -> None:
    facts = lakeprune.explain(table(tmp_path, [Entry("a")], write__metadata__metrics__default=" Truncate(7)")).facts
    mode = mode_of(facts, Column.at((facts.schema.fields[1],)))
    assert (mode.length, mode.has_bounds, mode.setting) == (7, True, f"{DEFAULT} =  Truncate(7)")
    assert INFERRED.startswith("write.metadata.metrics.")


def test_the_name_is_that_of_the_last_two_folders(tmp_path: Path) -> None:
    metadata = write_table(tmp_path / "sales.db" / "odd name", [column(1, "id", "long")], [Entry("a")])
    assert IcebergRemedies(lakeprune.explain(str(metadata)).facts).table == "catalog.sales.`odd name`"


def committed(root: Path, commits: int, days: int, *, in_order: bool = False) -> Path:
    """Each commit has a manifest of its own, with a file of every day; in order, a manifest has one day."""
    pairs = [(commit, day) for commit in range(commits) for day in range(days)]
    pairs = sorted(pairs, key=lambda pair: pair[1]) if in_order else pairs
    files = [Entry(f"{commit}-{day}", 10, 1000, tuple={1000: day}) for commit, day in pairs]
    own = [column(1, "id", "long"), column(2, "s", "string"), column(3, "ts", "timestamp")]
    write_table(root / "db" / "t", own, files, BY_DAY, Layout(per_manifest=commits if in_order else days))
    return root / "db" / "t"


def test_manifests_that_all_span_the_partition_asked_for_are_named(tmp_path: Path) -> None:
    found = one(committed(tmp_path, 20, 20), "ts = '1970-01-06 12:00:00'", "MANIFESTS_OVERLAP")
    assert found.column == "ts"
    assert found.numbers == {
        "manifests": 20,
        "kept_manifests": 20,
        "partition_files": 20,
        "overlap_depth": 20,
        "deepest": 20,
        "manifests_after": 2,
    }
    assert found.message == (
        "20 of 20 manifests are read for 20 files of the partitions asked for: one value of ts is in the range of 20 "
        "manifests on average"
    )
    assert found.rewrite == "CALL catalog.system.rewrite_manifests(table => 'db.t')"


@pytest.mark.parametrize(
    ("commits", "days", "in_order", "where"),
    [
        (20, 20, True, "ts = '1970-01-06 12:00:00'"),  # they are in order
        (20, 20, False, "ts >= '1970-01-01'"),  # everything is asked for
        (20, 20, False, "id < 5"),  # partitions are not asked for
        (5, 20, False, "ts = '1970-01-06 12:00:00'"),  # few manifests
    ],
)
def test_manifests_that_have_to_be_read_are_not_named(
    tmp_path: Path, commits: int, days: int, in_order: bool, where: str
) -> None:
    assert found_diagnoses(committed(tmp_path, commits, days, in_order=in_order), where, "MANIFESTS_OVERLAP") == []
