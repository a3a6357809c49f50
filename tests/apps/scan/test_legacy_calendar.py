"""Files with the marks of Spark 2 and of Spark's legacy mode: read, or refused where a day lies before the calendars agree."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import lakeprune
from lakeprune.errors import TableError

MARK = {"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}
OLD = {"org.apache.spark.version": "2.4.8"}
EARLY, LATE = date(1500, 1, 1), date(2024, 1, 1)
MOMENT = datetime(1899, 12, 31, 23, tzinfo=UTC)


def written(folder: Path, values: list[Any], marks: dict[str, str], **options: Any) -> Path:
    """A Delta table of one file, which is written once more with these marks."""
    table = pa.table({"id": range(len(values)), "d": values})
    write_deltalake(folder, table)
    (file,) = folder.glob("*.parquet")
    log = folder / f"_delta_log/{0:020}.json"
    text, size = log.read_text(), file.stat().st_size
    pq.write_table(table.replace_schema_metadata(marks), file, **options)
    assert f'"size":{size}' in text
    log.write_text(text.replace(f'"size":{size}', f'"size":{file.stat().st_size}'))
    return folder


def rows(folder: Path, columns: list[str] | None = None) -> int:
    return int(lakeprune.plan(folder, columns=columns).to_arrow().read_all().num_rows)


@pytest.mark.parametrize("marks", [MARK, OLD])
@pytest.mark.parametrize("options", [{}, {"write_statistics": False}], ids=["by statistics", "by values"])
@pytest.mark.parametrize(
    "early", [EARLY, MOMENT, {"x": EARLY}, [LATE, EARLY]], ids=["a date", "a time", "in a struct", "in a list"]
)
def test_early_days_of_a_marked_file_are_refused(tmp_path: Path, early: Any, options: Any, marks: Any) -> None:
    folder = written(tmp_path / "t", [early], marks, **options)
    with pytest.raises(TableError, match="LP374"):
        rows(folder)
    assert rows(folder, ["id"]) == 1


@pytest.mark.parametrize("marks", [MARK, OLD])
@pytest.mark.parametrize("options", [{}, {"write_statistics": False}, {"use_deprecated_int96_timestamps": True}])
def test_other_days_of_a_marked_file_are_read(tmp_path: Path, options: Any, marks: Any) -> None:
    assert rows(written(tmp_path / "dates", [LATE, None], marks, **options)) == 2
    assert rows(written(tmp_path / "times", [datetime(2024, 1, 1, tzinfo=UTC), None], marks, **options)) == 2


def test_early_days_of_a_file_without_a_mark_are_read(tmp_path: Path) -> None:
    assert rows(written(tmp_path / "t", [EARLY], {"org.apache.spark.version": "3.5.0"})) == 1


def test_milliseconds_are_early_by_their_own_unit(tmp_path: Path) -> None:
    folder = written(tmp_path / "t", [MOMENT], MARK, coerce_timestamps="ms", allow_truncated_timestamps=True)
    with pytest.raises(TableError, match="LP374"):
        rows(folder)


@pytest.mark.parametrize("version", ["3.0.0", "3.0.3"])
def test_int96_of_spark_before_3_1_is_julian_and_other_times_are_not(tmp_path: Path, version: str) -> None:
    """Spark 3.0 wrote INT96 by the old calendar always, and marked nothing."""
    marks = {"org.apache.spark.version": version}
    with pytest.raises(TableError, match="LP374"):
        rows(written(tmp_path / "int96", [MOMENT], marks, use_deprecated_int96_timestamps=True))
    assert rows(written(tmp_path / "late", [datetime(2024, 1, 1, tzinfo=UTC)], marks, use_deprecated_int96_timestamps=True)) == 1
    assert rows(written(tmp_path / "int64", [MOMENT], marks)) == 1
    newer = {"org.apache.spark.version": "3.1.0"}
    assert rows(written(tmp_path / "newer", [MOMENT], newer, use_deprecated_int96_timestamps=True)) == 1


def test_a_row_group_without_statistics_hides_no_early_day_of_another(tmp_path: Path) -> None:
    """The second row group is not read for this day, and its bounds are days of the other calendar."""
    folder = written(tmp_path / "t", [None, EARLY, LATE], MARK, row_group_size=1)
    with pytest.raises(TableError, match="LP374"):
        lakeprune.plan(folder, "d = DATE'1700-01-01'").to_arrow().read_all()
