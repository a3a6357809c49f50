"""Tables that PyIceberg writes, against their rows: read from the data files, never through a pushed-down filter."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions.parser import parse
from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator, expression_evaluator
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform
from pyiceberg.typedef import Record

import lakeprune
from tests.formats.iceberg.tables import Entry, column, write_table
from tests.scope import IS_WHOLE

Values = list[Any]
_DAY = dt.timedelta(days=1)
_TIMES = [
    dt.datetime(1969, 12, 30, 23, 59),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    dt.datetime(1970, 1, 1),
    dt.datetime(2024, 2, 29, 12),
]
_NUMBERS = ("identity", "bucket[4]", "truncate[10]")
_TEXTS = ("identity", "bucket[4]", "truncate[3]", "truncate[1]")
_VALUES: dict[str, tuple[t.IcebergType, pa.DataType, Values, tuple[str, ...]]] = {
    "int": (t.IntegerType(), pa.int32(), [-11, -10, -1, 0, 9, 10, 2**31 - 1], _NUMBERS),
    "long": (t.LongType(), pa.int64(), [-(2**63), -11, 0, 10, 2**63 - 1], _NUMBERS),
    "decimal": (t.DecimalType(9, 2), pa.decimal128(9, 2), [Decimal(v) for v in ("-10.65", "0", "10.65")], _NUMBERS),
    "string": (t.StringType(), pa.string(), ["", "ice", "iceberg", "icy", "z" * 40, "é🌼"], _TEXTS),
    "binary": (t.BinaryType(), pa.binary(), [b"", b"\x00\x01", b"\xff" * 20], _TEXTS),
    "date": (t.DateType(), pa.date32(), [each.date() for each in _TIMES], ("identity", "bucket[4]", "year", "month", "day")),
    "timestamp": (t.TimestampType(), pa.timestamp("us"), _TIMES, ("identity", "bucket[4]", "year", "month", "day", "hour")),
    "boolean": (t.BooleanType(), pa.bool_(), [True, False], ("identity",)),
    "double": (t.DoubleType(), pa.float64(), [-0.0, 1.0, float("inf")], ("identity",)),
}  # fmt: skip
_CASES = [(kind, transform) for kind, (*_, transforms) in _VALUES.items() for transform in transforms]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder = tmp_path_factory.mktemp("catalog")
    catalog = SqlCatalog("tests", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("db")
    yield catalog
    catalog.close()


def location(table: Table) -> str:
    return table.location().removeprefix("file://")


class Rows:
    """All rows of a table with their file; filters are applied to what was read, for scans lose NaN themselves (T82)."""

    def __init__(self, table: Table) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'; PRAGMA disable_optimizer")
        files = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
        selects = [
            f"SELECT '{self._name(table, file)}' AS file, * FROM read_parquet('{file}', hive_partitioning=false)"
            for file in files
        ]
        self._connection.execute(f"CREATE TABLE rows AS {' UNION ALL '.join(selects)}")

    def matching(self, where: str) -> set[str]:
        return {file for (file,) in self._connection.execute(f"SELECT DISTINCT file FROM rows WHERE {where}").fetchall()}

    @staticmethod
    def _name(table: Table, file: str) -> str:
        return file.removeprefix(location(table) + "/")


def kept(table: Table, where: str | None, **options: Any) -> set[str]:
    return {
        file.path for file in lakeprune.explain(location(table), where, **{"nan_policy": "strict", **options}).files if file.kept
    }


def planned(table: Table, where: str) -> set[str]:
    """The files that PyIceberg itself would read."""
    where = where.replace("TIMESTAMP '", "'").replace("DATE '", "'")
    where = re.sub(r"(\d{4}-\d\d-\d\d) (\d\d:)", r"\1T\2", where)
    return {task.file.file_path.removeprefix(table.location() + "/") for task in table.scan(where).plan_files()}


def literal(value: Any) -> str:
    match value:
        case bool() | int() | Decimal():
            return str(value)
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case bytes():
            return f"X'{value.hex()}'"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return f"'{value}'"


_CHOSEN = _CASES if IS_WHOLE else _CASES[::5]


def duckdb_literal(value: Any) -> str:
    return f"from_hex('{value.hex()}')" if isinstance(value, bytes) else literal(value)


@pytest.mark.parametrize(("kind", "transform"), _CHOSEN, ids=[f"{transform}({kind})" for kind, transform in _CHOSEN])
def test_every_file_with_a_matching_row_is_kept(catalog: SqlCatalog, kind: str, transform: str) -> None:
    type_, arrow, values, _ = _VALUES[kind]
    schema = Schema(t.NestedField(1, "x", type_), t.NestedField(2, "n", t.IntegerType()))
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform(transform), "part"))
    table = catalog.create_table(f"db.{kind}_{transform.strip(']').replace('[', '_')}", schema, partition_spec=spec)
    rows = [*values, None]
    table.append(pa.table({"x": pa.array(rows, arrow), "n": pa.array(range(len(rows)), pa.int32())}))
    cases = [(f"x {operator} ", value) for value in values for operator in ("=", "<", "<=", ">", ">=", "<>")]
    wheres = [start + literal(value) for start, value in cases] + ["x IS NULL", "x IS NOT NULL"]
    truths = [start + duckdb_literal(value) for start, value in cases] + wheres[-2:]
    known, dropped = Rows(table), 0
    # Elsewhere PyIceberg keeps less for lack of a guard: T1, T5, T11, and longs that wrap around when they are truncated.
    is_comparable = kind in ("int", "decimal", "string", "date") and not transform.startswith("bucket")
    for where, truth, report in zip(
        wheres, truths, lakeprune.explain_many(location(table), wheres, nan_policy="strict"), strict=True
    ):
        found = {file.path for file in report.files if file.kept}
        assert known.matching(truth) <= found, where
        if is_comparable:
            assert found <= planned(table, where), where
        dropped += len(rows) - len(found)
    assert dropped


def test_pyiceberg_loses_rows_that_are_nan_and_we_do_not(catalog: SqlCatalog) -> None:
    """T1, T82: its own plan is not the truth for floats."""
    table = catalog.create_table("db.nan", Schema(t.NestedField(1, "x", t.DoubleType())))
    table.append(pa.table({"x": [1.0, float("nan")]}))
    assert list(table.scan("x > 100").plan_files()) == []
    assert Rows(table).matching("x > 100") == kept(table, "x > 100")


def test_pyiceberg_drops_a_file_with_a_null_for_not_starts_with_and_we_do_not(tmp_path: Path) -> None:
    """To it a NULL does not start with anything; a file whose NULLs are not counted it takes for one without any."""
    bounds: dict[str, Any] = {"lower_bounds": {1: b"abc"}, "upper_bounds": {1: b"abd"}}
    schema, asked = Schema(t.NestedField(1, "s", t.StringType())), parse("s NOT LIKE 'ab%'")
    file = DataFile.from_args(record_count=3, null_value_counts={}, value_counts={}, nan_value_counts={}, **bounds)
    assert expression_evaluator(schema, asked, case_sensitive=True)(Record(None))
    assert not _InclusiveMetricsEvaluator(schema, asked).eval(file)
    write_table(tmp_path, [column(1, "s", "string")], [Entry("f", 3, metrics=bounds)])
    for where in ("s NOT LIKE 'ab%' OR s IS NULL", "NOT coalesce(startswith(s, 'ab'), false)", "startswith(s, 'ab') IS NOT TRUE"):
        assert lakeprune.explain(tmp_path, where).numbers.kept.files == 1, where


def test_schema_and_spec_evolution(catalog: SqlCatalog) -> None:
    """Promoted, renamed, dropped and added again; a partition field in the middle; v1 becomes v2 becomes v3."""
    schema = Schema(
        t.NestedField(1, "a", t.IntegerType()), t.NestedField(2, "b", t.FloatType()), t.NestedField(3, "c", t.StringType())
    )
    table = catalog.create_table("db.evolving", schema, properties={"format-version": "1"})
    table.append(pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array([0.5, 1.5], pa.float32()), "c": ["x", "y"]}))
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.update_column("a", t.LongType())
        update.update_column("b", t.DoubleType())
        update.rename_column("c", "was_c")
    with table.update_schema() as update:
        update.add_column("c", t.LongType())
    with table.update_spec() as update:
        update.add_identity("a")
    new = {"a": pa.array([10, 10], pa.int64()), "b": [10.0, 20.0], "was_c": ["p", "q"], "c": pa.array([5, 6], pa.int64())}
    table.append(pa.table(new))
    old, later = (path for path, _ in sorted((task.file.file_path, 0) for task in table.scan().plan_files()) if path)
    names = {path.removeprefix(f"file://{location(table)}/"): path for path in (old, later)}
    by_partition = next(name for name in names if "a=10" in name)
    before = next(name for name in names if name != by_partition)
    for where, expected in {
        "a = 2": {before},
        "a = 10": {by_partition},
        "b BETWEEN 5 AND 30": {by_partition},
        "b < 1": {before},
        "was_c = 'x'": {before},
        "was_c >= 'p'": {before, by_partition},  # 'x' and 'y' of the old file lie above
        "c = 5": {before, by_partition},  # the new column has no metrics in the old file
        "c = 7": {before},
    }.items():
        assert kept(table, where) == expected, where


def test_files_without_field_ids_are_known_by_the_name_mapping(catalog: SqlCatalog, tmp_path: Path) -> None:
    """PyIceberg maps their names to ids when it adds them, so that their metrics are by id like all others."""
    import pyarrow.parquet as pq

    table = catalog.create_table("db.mapped", Schema(t.NestedField(7, "x", t.LongType()), t.NestedField(8, "s", t.StringType())))
    for name, values in (("low", [1, 2]), ("high", [10, 20])):
        pq.write_table(pa.table({"s": ["a", "b"], "x": values}), tmp_path / f"{name}.parquet")
    table.add_files([f"file://{tmp_path}/{name}.parquet" for name in ("low", "high")])
    assert "schema.name-mapping.default" in table.properties
    assert kept(table, "x >= 10") == {f"file://{tmp_path}/high.parquet"}
    with table.update_schema() as update:
        update.rename_column("x", "y")
    with table.update_schema() as update:
        update.add_column("x", t.LongType())
    assert kept(table, "y >= 10") == {f"file://{tmp_path}/high.parquet"}
    assert len(kept(table, "x >= 10")) == 2  # by the mapping a column of this name may be in the files


def test_snapshots_by_id_and_by_time_and_after_deletes(catalog: SqlCatalog) -> None:
    table = catalog.create_table("db.snapshots", Schema(t.NestedField(1, "x", t.LongType())))
    table.append(pa.table({"x": [1, 2]}))
    table.append(pa.table({"x": [10, 20]}))
    first, second = table.snapshots()
    table.delete("x = 10")
    assert len(kept(table, "x >= 1")) == 2
    assert kept(table, "x = 10") == set()  # the file was written anew without the row
    assert len(kept(table, "x >= 1", version=first.snapshot_id)) == 1
    assert len(kept(table, "x = 10", version=second.snapshot_id)) == 1
    moment = dt.datetime.fromtimestamp(second.timestamp_ms / 1000, dt.UTC)
    assert len(kept(table, "x = 10", timestamp=moment)) == 1


def test_the_report_of_a_partitioned_table_adds_up(catalog: SqlCatalog) -> None:
    schema = Schema(t.NestedField(1, "country", t.StringType()), t.NestedField(2, "age", t.IntegerType()))
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform("identity"), "country"))
    table = catalog.create_table("db.users", schema, partition_spec=spec)
    for ages in ([20, 30], [60, 70]):
        table.append(pa.table({"country": ["DE", "FR"], "age": pa.array(ages, pa.int32())}))
    report = lakeprune.explain(location(table), "country = 'DE' AND age > 50")
    text = report.to_text()
    assert "Iceberg table" in text
    assert "Total reduction: 4 -> 1 files" in text
    assert "files remaining: 2  (-2" in text
    assert "files remaining: 1  (-1" in text


def test_unpartitioned_tables_have_an_empty_partition_record(catalog: SqlCatalog) -> None:
    """T79."""
    table = catalog.create_table(
        "db.plain", Schema(t.NestedField(1, "x", t.LongType())), partition_spec=UNPARTITIONED_PARTITION_SPEC
    )
    table.append(pa.table({"x": [1, 2]}))
    assert kept(table, "x > 5") == set()
    assert len(kept(table, "x = 1")) == 1


def test_nothing_of_pyiceberg_is_imported_to_read_a_table(catalog: SqlCatalog, tmp_path: Path) -> None:
    import subprocess
    import sys

    table = catalog.create_table("db.alone", Schema(t.NestedField(1, "x", t.LongType())))
    table.append(pa.table({"x": [1, 2]}))
    code = (
        "import sys, lakeprune; list(lakeprune.explain(sys.argv[1], 'x > 5').files); "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'pyiceberg', 'fastavro', 'pyarrow', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code, location(table)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


def test_manifests_of_many_appends_are_pruned_and_ours_are_among_pyicebergs_files(catalog: SqlCatalog) -> None:
    schema = Schema(t.NestedField(1, "ts", t.TimestampType()), t.NestedField(2, "s", t.StringType()))
    fields = [PartitionField(1, 1000, parse_transform("day"), "d"), PartitionField(2, 1001, parse_transform("truncate[2]"), "p")]
    table = catalog.create_table("db.appended", schema, partition_spec=PartitionSpec(*fields))
    for day in range(8):
        times = [dt.datetime(2024, 3, 1 + day, hour) for hour in (0, 12)]
        texts = [None if day == 5 else f"{'abcdefgh'[day]}x{day}", f"{'abcdefgh'[day]}y{day}"]
        table.append(pa.table({"ts": pa.array(times, pa.timestamp("us")), "s": pa.array(texts, pa.string())}))
    wheres = [
        "ts >= TIMESTAMP '2024-03-02 00:00:00' AND ts < TIMESTAMP '2024-03-04 00:00:00'",
        "ts > TIMESTAMP '2024-03-07 13:00:00' AND s < 'h'",
        "s = 'cx2'",
        "s LIKE 'd%'",
        "s IS NULL",
        "ts < TIMESTAMP '2020-01-01 00:00:00'",
        "s = 'ax0' OR ts >= TIMESTAMP '2024-03-08 00:00:00'",
    ]
    known, reports = Rows(table), lakeprune.explain_many(location(table), wheres)
    for where, report in zip(wheres, reports, strict=True):
        found = {file.path for file in report.files if file.kept}
        assert known.matching(where) <= found <= planned(table, where), where
        assert len(found) == report.summary.files_kept
    assert [report.summary.manifests_kept for report in reports] == [2, 1, 1, 1, 1, 0, 2]
    assert {report.summary.manifests_total for report in reports} == {8}
