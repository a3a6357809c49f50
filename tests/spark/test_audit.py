"""Recorded statistics against the values: false ones are named with file, column and writer, true ones raise no alarm."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from lakeprune.apps.verify.verify import audit, verify
from lakeprune.cli.main import main
from lakeprune.errors import TableError
from lakeprune.programs.audit import Fault
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE, only_whole
from tests.soundness.test_golden import TABLES
from tools.generate_schema import target

pytestmark = pytest.mark.spark
HAND_MADE = "parsed-stats"  # its log counts no NULL in a column that its files do not have
LONG = "𝒳" * 20
EARLY, LATE = datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(2024, 1, 1, 0, 0, 0, 999, UTC)


def with_false_statistics(table: Path, version: int, *changes: tuple[str, str]) -> str:
    """The statistics of one file that this version added are made to say something else; its path."""
    log = table / "_delta_log" / f"{version:020}.json"
    lines = log.read_text(encoding="utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines) if all(before in line for before, _ in changes))
    for before, after in changes:
        lines[number] = lines[number].replace(before, after)
    log.write_text("\n".join(lines), encoding="utf-8")
    for checksum in (table / "_delta_log").glob(".*.crc"):
        checksum.unlink()
    return str(json.loads(lines[number])["add"]["path"])


def test_false_statistics_are_named_with_file_column_and_writer(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lies"
    columns = ("id", "if(id % 10 = 0, NULL, id) AS n", "named_struct('d', date_from_unix_date(cast(id AS int))) AS s")
    spark.range(0, 400, 1, 4).selectExpr(*columns).write.format("delta").save(str(path))
    assert audit(path, spark=spark).passed
    bound = with_false_statistics(path, 0, (r"\"maxValues\":{\"id\":199", r"\"maxValues\":{\"id\":120"))
    nested = with_false_statistics(path, 0, (r"\"d\":\"1970-07-20\"", r"\"d\":\"1970-08-20\""), (r"\"n\":10", r"\"n\":0"))
    last = r"\"maxValues\":{\"id\":399"
    rows = with_false_statistics(path, 0, (r"\"numRecords\":100", r"\"numRecords\":99"), (last, last))

    found = audit(path, spark=spark)
    reported = {(each.path, each.column, each.fault, each.recorded, each.found) for each in found.faults}
    assert reported == {
        (bound, "id", Fault.MAXIMUM, 120, 199),
        (nested, "s.d", Fault.MINIMUM, "1970-08-20", "1970-07-20"),
        (nested, "n", Fault.NULLS, 0, 10),
        (rows, None, Fault.ROWS, 99, 100),
    }
    assert (found.files, found.checked_files, found.wrong_files, found.fault_count) == (4, 4, 3, 4)
    assert all(re.fullmatch(r"Apache-Spark/4\S* Delta-Lake/4\S*", each.writer) for each in found.faults)
    assert f"{bound}: id: the log says no value is above 120, the file holds 199 (written by Apache-Spark/4" in found.to_text()
    jsonschema.validate(json.loads(found.to_json()), json.loads(target("audit").read_text(encoding="utf-8")))

    both = verify(path, "id = 150", spark=spark, audit_stats=True)
    assert [violation.path for violation in both.violations] == [bound]
    assert both.audit is not None
    assert both.audit.faults == found.faults
    jsonschema.validate(json.loads(both.to_json()), json.loads(target("verify").read_text(encoding="utf-8")))

    assert main(["verify", str(path), "--audit-stats"]) == 1
    said = capfd.readouterr()
    assert "VERIFICATION FAILED: recorded statistics are wrong in 3 files" in said.err
    assert f"{nested}: n: the log counts 0 NULLs, the file has 10" in said.out


def test_delta_spark_tables_of_all_types_raise_no_alarm(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "spark"
    fields = (
        "b BOOLEAN, y TINYINT, i INT, l BIGINT, f FLOAT, d DOUBLE, c DECIMAL(38,18), s STRING, x BINARY, day DATE, ts TIMESTAMP, "
        "tn TIMESTAMP_NTZ, st STRUCT<a: INT, t: STRUCT<z: STRING>>, ar ARRAY<INT>, m MAP<STRING, INT>, wide INT, p INT"
    )
    properties = (
        "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true'"
    )
    spark.sql(f"CREATE TABLE delta.`{path}` ({fields}) USING delta PARTITIONED BY (p) TBLPROPERTIES ({properties})")
    nothing = ", ".join(["NULL"] * 15)
    spark.sql(
        f"INSERT INTO delta.`{path}` VALUES "
        f"(true, -128, 1, 9007199254740993, float('NaN'), double('-0.0'), 12345678901234567890.123456789012345678, '{LONG}', "
        "X'00', DATE'0001-01-01', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1960-01-01 00:00:00.000001', "
        "struct(NULL, struct('z')), array(1), map('k', 1), 1, 1), "
        "(false, 127, NULL, -5, 1.1, double('Infinity'), -0.000000000000000001, 'a', X'FF', DATE'9999-12-31', "
        "TIMESTAMP'2024-01-01 12:00:00.000999', TIMESTAMP_NTZ'2024-01-01 12:00:00.000999', NULL, NULL, NULL, 2, 1), "
        f"(NULL, 5, 3, 7, 3.3, 4.4, 5.5, '{'e' * 31}é', NULL, NULL, NULL, NULL, struct(7, NULL), NULL, NULL, 3, 1), "
        f"({nothing}, 4, 2)"
    )
    spark.sql(f"DELETE FROM delta.`{path}` WHERE l = -5")
    spark.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN wide TYPE BIGINT")
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN i TO renamed")
    found = audit(path, spark=spark)
    assert found.passed, found.to_text()
    assert {"renamed", "st.a", "st.t.z", "ts", "tn", "c", "f", "s", "wide"} <= set(found.columns)
    assert "p" not in found.columns


@only_whole
def test_deltalake_tables_of_all_types_raise_no_alarm(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rust"
    table = pa.table(
        {
            "b": [True, None], "i": pa.array([1, None], pa.int32()), "l": [2**53 + 1, -(2**63)],
            "f": pa.array([1.1, float("nan")], pa.float32()),
            "d": [float("nan"), -0.0], "c": pa.array([Decimal("99999999999999999999.99"), None], pa.decimal128(38, 2)),
            "s": [LONG * 3, "a"], "x": [b"\x00", None], "day": [date(1, 1, 1), date(9999, 12, 31)],
            "ts": pa.array([EARLY, LATE], pa.timestamp("us", "UTC")),
            "st": pa.array([None, {"a": 1, "z": "y"}], pa.struct({"a": pa.int64(), "z": pa.string()})),
            "ar": pa.array([[1], None], pa.list_(pa.int64())), "p": ["one two", None],
        }
    )  # fmt: skip
    write_deltalake(path, table, partition_by=["p"])
    write_deltalake(path, table.slice(0, 0), mode="append")
    found = audit(path, spark=spark)
    assert found.passed, found.to_text()
    assert {"b", "l", "s", "ts", "st.a"} <= set(found.columns)
    with_false_statistics(path, 0, (r"\"l\":9007199254740993", r"\"l\":9007199254740992"))
    faults = audit(path, spark=spark).faults
    assert {(fault.column, fault.found) for fault in faults} == {("l", 2**53 + 1)}
    assert {fault.writer.split(":")[0].split(".")[0] for fault in faults} == {"delta-rs"}


def test_decimals_saturated_by_deltalake_are_named_with_their_writer(spark: SparkSession, tmp_path: Path) -> None:  # T93
    path, top = tmp_path / "saturated", "9" * 38
    for values in ([top, "0"], ["-" + top], ["5163575153583593754"]):
        columns = {"d": pa.array(map(Decimal, values), pa.decimal128(38, 0)), "x": [1.0, float("nan")][: len(values)]}
        write_deltalake(path, pa.table(columns), mode="append")
    found = audit(path, spark=spark)
    assert "x" in found.columns, "NaN that is not recorded is no fault of this writer"
    assert {(fault.fault, fault.found) for fault in found.faults} == {(Fault.MAXIMUM, top), (Fault.MINIMUM, f"-{top}")}
    assert {fault.writer.split(":")[0].split(".")[0] for fault in found.faults} == {"delta-rs"}
    assert re.search(
        rf"the log says no value is above 92233720368547\d+, the file holds {top} \(written by delta-rs", found.to_text()
    )
    where = f"d = {top} OR d = -{top} OR d = 5163575153583593754"
    assert verify(path, where, spark=spark).passed


def test_nan_is_a_fault_only_where_writers_are_trusted_to_record_it(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "nan"
    write_deltalake(path, pa.table({"d": [1.0, float("nan"), 2.0]}))
    assert not IS_WHOLE or audit(path, spark=spark).passed  # beside saturated decimals, above
    trusted = audit(path, spark=spark, nan_policy="spark-writers")
    assert [(fault.column, fault.fault, fault.found) for fault in trusted.faults] == [("d", Fault.NAN, 1)]


@only_whole
@pytest.mark.golden
@pytest.mark.parametrize("root", TABLES if IS_WHOLE else TABLES[:1], ids=lambda root: root.name)
def test_golden_tables_raise_no_alarm(root: Path, spark: SparkSession) -> None:
    try:
        found = audit(root, spark=spark)
    except TableError as refused:
        pytest.skip(f"refused: {refused.what}")
    assert found.passed is (root.name != HAND_MADE), found.to_text()


@only_whole
@pytest.mark.golden
@pytest.mark.skipif(not TABLES, reason="the golden tables are not beside this project")
def test_a_golden_table_with_statistics_made_by_hand_is_found(spark: SparkSession) -> None:
    found = audit(GOLDEN / "delta-kernel" / HAND_MADE, spark=spark)
    assert {(fault.column, fault.fault, fault.recorded, fault.found) for fault in found.faults} == {
        ("ts_col", Fault.NULLS, 0, 100)
    }
    assert found.wrong_files == 6
