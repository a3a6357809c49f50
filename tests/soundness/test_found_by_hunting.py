"""What long hunts against Spark have found, kept as small tables: each verdict is the only one that both ANSI modes allow."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import lakeprune

MANY = ", ".join(f"{number}.5D" for number in range(20))  # more than ten: Spark looks them up in a set
# type | values of the one file | predicate | verdict
FOUND: list[tuple[pa.DataType, list[Any], str, str]] = [
    # T98: text beyond the column's integers is NULL without ANSI mode, and a number with it.
    (pa.int8(), [5], "x != '-129'", "KEEP"),
    (pa.int8(), [5], "NOT (x = '-129')", "KEEP"),
    (pa.int8(), [5], "x > '-129'", "KEEP"),
    (pa.int8(), [5], "(x = '300') IS NULL", "KEEP"),
    (pa.int8(), [5], "x = '-129'", "DROP"),
    (pa.int8(), [5], "x NOT IN ('-129', '4')", "FULL"),
    (pa.int8(), [5], "NOT (x <=> '-129')", "FULL"),
    (pa.int32(), [5], "x < '3000000000'", "KEEP"),
    (pa.int32(), [5], "x != '4'", "FULL"),
    # A float that is too small for the text is compared with infinity.
    (pa.float32(), [float("inf")], "x = '1e300'", "KEEP"),
    (pa.float32(), [1.0], "x = '1e300'", "DROP"),
    # T99: dateadd with a unit gives a timestamp, also of a date.
    (pa.date32(), [date(2024, 2, 5)], "dateadd(DAY, 2, x) = '2024-02-07 00:00:00.001'", "DROP"),
    (pa.date32(), [date(2024, 2, 5)], "dateadd(DAY, 2, x) = '2024-02-07'", "FULL"),
    (pa.date32(), [date(2024, 2, 5)], "x + INTERVAL 2 DAYS = '2024-02-07'", "FULL"),
    (pa.date32(), [date(2024, 2, 5)], "dateadd(HOUR, 5, x) > '2024-02-05'", "FULL"),
    # T100: NaN is not in a long list, although the list has a NULL.
    (pa.float64(), [1.0, float("nan")], f"x NOT IN ({MANY}, NULL)", "KEEP"),
    (pa.float64(), [1.0, float("nan")], f"(x IN ({MANY}, NULL)) IS NULL", "KEEP"),
    (pa.float64(), [1.0, float("nan")], f"x IN ({MANY}, NULL)", "DROP"),
    (pa.int64(), [1], f"x NOT IN ({MANY}, NULL)", "DROP"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values", "where", "verdict"), FOUND, ids=[f"{case[0]} {case[2][:40]}" for case in FOUND])
def test_verdict(tmp_path: Path, kind: pa.DataType, values: list[Any], where: str, verdict: str) -> None:
    write_deltalake(tmp_path / "t", pa.table({"x": pa.array(values, kind)}))
    (file,) = lakeprune.explain(tmp_path / "t", where, nan_policy="strict", timezone="UTC").files
    assert file.verdict.value == verdict


def test_nan_as_a_partition_value_is_not_in_a_long_list(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"p": pa.array([float("nan")], pa.float64()), "x": [1]}), partition_by=["p"])
    report = lakeprune.explain(tmp_path / "t", f"p NOT IN ({MANY}, NULL)", nan_policy="strict")
    assert report.kept_files == 1
