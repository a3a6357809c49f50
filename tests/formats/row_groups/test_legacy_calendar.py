"""Days and moments of the Julian calendar (T95): Spark 2 and Spark's legacy mode record them, and Spark moves them on reading.

The stored values are those that Spark writes for 1500-01-01 and 1850-01-01 in Los Angeles; tests/spark/test_row_groups.py has
files of its own.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from demo.delta_log import add
from lakeprune.formats.parquet import bounds
from tests.formats.row_groups.delta import delta_of, groups, type_name

VERSION = "org.apache.spark.version"
MARKS = [
    {VERSION: "2.4.8"},
    {VERSION: "1.6.3"},
    {VERSION: "3.5.0", "org.apache.spark.legacyDateTime": ""},
    {VERSION: "3.5.0", "org.apache.spark.legacyINT96": ""},
    {"org.apache.spark.legacyDateTime": ""},
]
NO_MARKS: list[dict[str, str]] = [{}, {VERSION: "3.5.0"}, {VERSION: "4.1.4", "org.apache.spark.timeZone": "UTC"}]
UTC = dt.UTC
DATE, MOMENT, CLOCK = pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")
# stored | type | what Spark reads | a condition that is false whichever calendar counts
MOVED: list[tuple[Any, pa.DataType, str, str]] = [
    (dt.date(1500, 1, 10), DATE, "x = DATE'1500-01-01'", "x < DATE'1499-12-01'"),
    (dt.date(1500, 1, 10), DATE, "x < DATE'1500-01-10'", "x > DATE'1500-02-01'"),
    (dt.date(1, 1, 1), DATE, "x > DATE'0001-01-02'", "x > DATE'0001-02-01'"),
    (dt.date(1582, 10, 14), DATE, "x = DATE'1582-10-04'", "x >= DATE'1582-11-15'"),
    (dt.datetime(1500, 1, 10, 8, tzinfo=UTC), MOMENT,
     "x = TIMESTAMP'1500-01-01 07:52:58Z'", "x < TIMESTAMP'1499-12-01 00:00:00Z'"),
    (dt.datetime(1850, 1, 1, 8, tzinfo=UTC), MOMENT,
     "x = TIMESTAMP'1850-01-01 07:52:58Z'", "x > TIMESTAMP'1850-02-01 00:00:00Z'"),
    (dt.datetime(1899, 12, 31, 23, tzinfo=UTC), MOMENT,
     "x > TIMESTAMP'1900-01-01 05:00:00Z'", "x > TIMESTAMP'1900-02-01 00:00:00Z'"),
    (dt.datetime(1500, 1, 10), CLOCK, "x = TIMESTAMP_NTZ'1500-01-01 00:00:00'", "x > TIMESTAMP_NTZ'1500-02-01 00:00:00'"),
]  # fmt: skip


def written(root: Path, values: list[Any], kind: pa.DataType, marks: dict[str, str], **options: Any) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    table = pa.table({"x": pa.array(values, kind)}).replace_schema_metadata(marks)
    pq.write_table(table, root / "f.parquet", **options)
    return root


def judged(root: Path, kind: pa.DataType, *conditions: str) -> list[str]:
    """Of each condition: the file by its footer, its row group as plain Parquet, and that of a Delta table without statistics."""
    delta = root.parent / "delta"
    delta.mkdir()
    (delta / "f.parquet").write_bytes((root / "f.parquet").read_bytes())
    delta_of(delta, {"x": type_name(kind)}, [add("f.parquet")])
    found = [[_first(report) for report in lakeprune.explain_many(root, conditions, nan_policy="strict")]]
    for table in (root, delta):
        reports = lakeprune.explain_many(table, conditions, row_groups=True, nan_policy="strict")
        found.append([_first(report) for report in reports])
    return ["".join(each) for each in zip(*found, strict=True)]


def _first(report: Any) -> str:
    (file,) = report.files
    return str((file.row_groups[0] if file.row_groups else file).verdict.name[0])


CASES = [(*case, marks) for case in MOVED[:1] for marks in MARKS] + [(*case, MARKS[0]) for case in MOVED[1:]]
OTHERS = [(*case, marks) for case in MOVED[:1] for marks in NO_MARKS] + [(*MOVED[4], NO_MARKS[0])]


@pytest.mark.parametrize(("stored", "kind", "some", "never", "marks"), CASES, ids=lambda value: str(value)[:30])
def test_a_marked_file_may_hold_what_spark_reads(
    tmp_path: Path, stored: Any, kind: pa.DataType, some: str, never: str, marks: dict[str, str]
) -> None:
    """Nor is it certain that it does; and the calendars differ by days, not by years."""
    root = written(tmp_path / "t", [stored], kind, marks)
    assert judged(root, kind, some, f"NOT ({some})", never) == ["KKK", "KKK", "DDD"]


@pytest.mark.parametrize(("stored", "kind", "some", "never", "marks"), OTHERS, ids=lambda value: str(value)[:30])
def test_other_files_hold_what_they_record(
    tmp_path: Path, stored: Any, kind: pa.DataType, some: str, never: str, marks: dict[str, str]
) -> None:
    root = written(tmp_path / "t", [stored], kind, marks)
    assert judged(root, kind, some, never) == ["DDD", "DDD"]


@pytest.mark.parametrize(
    ("values", "kind", "never", "every"),
    [
        ([dt.date(1582, 11, 15), dt.date(2024, 1, 1)], DATE, "x < DATE'1582-11-15'", "x >= DATE'1582-11-15'"),
        ([dt.datetime(1900, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 1, tzinfo=UTC)], MOMENT,
         "x < TIMESTAMP'1900-01-01 00:00:00Z'", "x <= TIMESTAMP'2024-01-01 00:00:00Z'"),
    ],
)  # fmt: skip
def test_days_on_which_the_calendars_agree_are_as_recorded(
    tmp_path: Path, values: list[Any], kind: pa.DataType, never: str, every: str
) -> None:
    root = written(tmp_path / "t", values, kind, MARKS[0])
    assert judged(root, kind, never, every) == ["DDD", "FFF"]


def test_one_early_day_lowers_the_minimum_alone(tmp_path: Path) -> None:
    root = written(tmp_path / "t", [dt.date(1500, 1, 10), dt.date(2024, 1, 1)], DATE, MARKS[0])
    assert judged(root, DATE, "x = DATE'1500-01-01'", "x > DATE'2024-01-01'") == ["KKK", "DDD"]


def test_numbers_and_text_of_a_marked_file_are_as_recorded(tmp_path: Path) -> None:
    numbers = written(tmp_path / "numbers/t", [-200_000], pa.int32(), MARKS[0])
    texts = written(tmp_path / "texts/t", ["1500"], pa.string(), MARKS[0])
    assert judged(numbers, pa.int32(), "x < -200000") == judged(texts, pa.string(), "x < '1500'") == ["DDD"]


def test_bloom_filters_hash_days_of_the_old_calendar(tmp_path: Path) -> None:
    """The filter of a marked file is about other days than Spark reads."""
    days = [dt.date(1400, 1, 1), dt.date(1500, 1, 10), dt.date(1600, 1, 1)]
    for marks, expected in ((MARKS[0], "K"), (NO_MARKS[0], "D")):
        root = written(tmp_path / "t", days, DATE, marks, bloom_filter_options={"x": True})
        assert groups(root, "x = DATE'1500-01-01'", bloom=True) == expected


def test_without_the_guard_a_matching_row_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    stored, kind, some, _ = MOVED[0]
    root = written(tmp_path / "t", [stored], kind, MARKS[0])
    monkeypatch.setattr(bounds, "moved", lambda value, data_type, *, is_upper: value)  # noqa: ARG005
    assert judged(root, kind, some) == ["DDD"]
