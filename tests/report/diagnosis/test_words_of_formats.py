"""What is said about an Iceberg table or plain Parquet files never speaks of Delta: neither its statements nor its writers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table
from tests.report.diagnosis.asking import explained

WHERES = (
    "x > 5 AND n > 3", "n IS NULL", "s > 'aaaaaaaaaaaaaaaaaaaaaaaa'", "n <> 5", "upper(s) = 'A'", "n = 99999", "n + 1 > 5",
    "p = 1 OR n > 3", "n > 5 AND n < 3", "n >= 0", "missing > 3", "x <> 2",
)  # fmt: skip
ITS_OWN = ("delta", "optimize ", "zorder", "analyze table", "reorg", "databricks")


def iceberg(root: Path) -> Path:
    columns = [
        column(n, name, type_) for n, (name, type_) in enumerate(zip("pnxs", ("int", "long", "double", "string"), strict=True), 1)
    ]
    columns.append(column(5, "missing", "int"))
    entries = []
    for number in range(20):
        metrics: dict[str, dict[int, Any]] = {
            "value_counts": {2: 10, 3: 10, 4: 10},
            "null_value_counts": {2: 0, 3: 0, 4: 0},
            "lower_bounds": {2: encoded(0, "long"), 3: encoded(0.0, "double"), 4: encoded("a" * 16, "string")},
            "upper_bounds": {2: encoded(100 + number, "long"), 3: encoded(4.0, "double"), 4: encoded("a" * 15 + "b", "string")},
        }
        entries.append(Entry(f"{number}", 10, 2000, tuple={1000: number % 2}, metrics=metrics))
    entries.append(Entry("deletes", 1, 10, content=1, sequence=2, tuple={1000: 0}))
    spec = {0: [SpecField(1, "identity", "p", 1000, "int")]}
    how = Layout(changes={"properties": {"write.target-file-size-bytes": "1000"}})
    write_table(root / "t", columns, entries, spec, how)
    return root / "t"


def parquet(root: Path) -> Path:
    for number in range(4):
        folder = root / f"p={number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = {"n": [number, 50], "x": [float("nan"), 1.0], "s": ["a" * 40, "b" * 40], "missing": pa.nulls(2, pa.int32())}
        pq.write_table(pa.table(rows), folder / f"{number}.parquet", write_statistics=["n", "s"] if number % 2 else True)
    return root


@pytest.mark.parametrize("policy", ["assume", "strict"])
@pytest.mark.parametrize("build", [iceberg, parquet])
def test_no_diagnosis_speaks_of_another_format(build: object, policy: str, tmp_path: Path) -> None:
    assert callable(build)
    place = build(tmp_path)
    found = [each for where in WHERES for each in explained(place, where, nan_policy=policy).diagnoses or ()]
    said = [f"{each.code}: {each.message} {each.suggestion} {each.rewrite or ''}".replace(str(place), "") for each in found]
    assert len({text.partition(":")[0] for text in said}) > 4, said
    assert [text for text in said if any(word in text.lower() for word in ITS_OWN)] == []
