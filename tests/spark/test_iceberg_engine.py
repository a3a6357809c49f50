"""Spark answers what the embedded engine answers about Iceberg tables: through Iceberg's own table of manifest entries."""

from __future__ import annotations

import datetime as dt
import random
import struct
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Engine
from lakeprune.engines.spark.engine import SparkEngine
from lakeprune.formats.iceberg.bounds import decoded
from lakeprune.formats.iceberg.snapshot import IcebergSnapshot
from lakeprune.formats.iceberg.spark_bounds import decoded_sql
from lakeprune.formats.registry import open_table
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.values.types import DataType, Kind
from tests.builders.untimed import untimed
from tests.formats.iceberg import test_tables as embedded
from tests.formats.iceberg.random_tables import random_iceberg_table, write
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, decimal_bytes, write_table
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE, only_whole
from tests.soundness.pruning import Pruner
from tests.soundness.tight import profile_of
from tests.spark.documents import both
from tests.spark.iceberg_tables import completed, settled

pytestmark = pytest.mark.spark
_COLUMNS = [column(1, "id", "long"), column(2, "name", "string"), column(3, "p", "int")]
_BY_P = {0: (SpecField(3, "identity", "p", 1000, "int"),)}
SEEDS = range(60 if IS_WHOLE else 1)
PREDICATES = 24 if IS_WHOLE else 8

_TYPES = [
    DataType(Kind.INT),
    DataType(Kind.LONG),
    DataType(Kind.DATE),
    DataType(Kind.TIMESTAMP),
    DataType(Kind.FLOAT),
    DataType(Kind.DOUBLE),
    DataType(Kind.BOOLEAN),
    DataType(Kind.STRING),
    DataType(Kind.BINARY),
    DataType(Kind.DECIMAL, 9, 2),
    DataType(Kind.DECIMAL, 38, 0),
    DataType(Kind.DECIMAL, 38, 38),
]


def _bytes(rng: random.Random) -> Sequence[bytes | None]:
    """Bounds of every length, among them the edges of floating-point numbers, whole numbers and decimals."""
    reals = (0.0, -0.0, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 0.1)
    singles = (1e-45, 1.1754944e-38, 3.4028235e38, -1.5, float("inf"), float("nan"))
    found: list[bytes | None] = [None, b"", b"\0", b"\1", "é🌼".encode(), b"\xc3", b"\xed\xa0\x80"]
    found += [struct.pack("<d", value) for value in reals] + [struct.pack("<f", value) for value in singles]
    found += [struct.pack("<q", value) for value in (-(2**63), 2**63 - 1, -1)] + [struct.pack("<i", -(2**31))]
    found += [(10**38 - 1).to_bytes(16, "big"), (10**38).to_bytes(16, "big"), (1 - 10**38).to_bytes(17, "big", signed=True)]
    return [*found, *(rng.randbytes(size) for size in (1, 2, 4, 4, 7, 8, 8, 8, 9, 15, 16, 17, 18) for _ in range(8))]


def test_bounds_are_decoded_as_in_this_process(spark: SparkSession) -> None:
    values = _bytes(random.Random(7))
    engine = SparkEngine(spark)
    table = engine.lookup(["place", "bound"], ["INT", "BINARY"], list(enumerate(values)))
    items = ", ".join(f"{decoded_sql('bound', type_)} AS c{number}" for number, type_ in enumerate(_TYPES))
    rows = engine.query(f"SELECT place, {items} FROM {table} ORDER BY place")
    for type_, shown in zip(_TYPES, [*zip(*rows, strict=True)][1:], strict=True):
        ours = decoded(values, type_)
        if type_.scale == 38:  # only what has no digit before the point is a value of it
            ours = [None if value is None or not -1 < value < 1 else value for value in ours]
        found = [bytes(value) if isinstance(value, bytearray) else value for value in shown]
        assert list(map(_exactly, found)) == list(map(_exactly, ours)), type_
        assert sum(value is not None for value in found) > 2, type_


def _exactly(value: Any) -> str:
    """The value as text: of a NaN, of -0.0 and of every digit."""
    return f"{value:.38f}" if isinstance(value, Decimal) else repr(value)


@pytest.fixture
def files_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said about files is compared: Iceberg's entries do not say in which manifest they stand, so Spark drops none."""
    monkeypatch.setattr(IcebergSnapshot, "groups", lambda _: None)
    monkeypatch.setattr(IcebergSnapshot, "reads", lambda _: {})


def test_spark_reads_every_manifest_and_keeps_the_same_files(spark: SparkSession, tmp_path: Path) -> None:
    entries = [Entry(f"f{number}", 10, 100, tuple={1000: number}) for number in range(6)]
    completed(write_table(tmp_path, _COLUMNS, entries, _BY_P, Layout(per_manifest=2)))
    for where in ("p = 3", "p > 1 AND p < 4", "p IS NULL"):
        ours, found = both(tmp_path, where, spark)
        assert [file["path"] for file in ours["files"] if file["kept"]] == [
            file["path"] for file in found["files"] if file["kept"]
        ]
        assert (ours["summary"]["manifests_total"], found["summary"]["manifests_total"]) == (3, None)
        assert found["clauses_counted_at"] == "file"


@pytest.mark.usefixtures("files_alone")
@pytest.mark.parametrize("seed", SEEDS)
def test_random_tables_have_the_same_patterns_on_both_engines(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    """Every transform, several specs, metrics with gaps, deletion vectors."""
    rng = random.Random(seed)
    table = random_iceberg_table(rng)
    write(table, tmp_path, rng)
    completed(tmp_path / "metadata" / "v1.metadata.json")
    profile = profile_of(table)
    pruner = Pruner(tmp_path, profile)
    said = [say(random_predicate(table.columns, table.zone, rng)).spark for _ in range(PREDICATES)]
    plans = [pruner.plan(text) for text in said]

    def patterns(engine: Engine) -> list[list[Pattern]]:
        evaluation = Evaluation(engine, open_table(str(tmp_path), engine), profile)
        with engine.awake():
            return [sorted(found, key=repr) for found in evaluation.patterns(plans)]

    for text, one, other in zip(said, patterns(DuckDBEngine()), patterns(SparkEngine(spark)), strict=True):
        assert one == other, text


def test_every_case_of_deletes_has_the_same_live_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Each case of the embedded engine's own test in a partition of its own; and a global equality delete."""
    (cases,) = (mark.args[1] for mark in embedded.TestDeletes.test_scope.pytestmark)  # type: ignore[attr-defined]  # pytest keeps it there
    entries, expected = [], {}
    for number, (delete, rows) in enumerate(cases):
        data = replace(embedded.TestDeletes.data, path=f"d{number}", tuple={1000: number})
        other = number if delete.tuple[1000] == 1 else -number - 1
        referenced = None if delete.referenced is None else f"d{number}" if delete.referenced == "d" else delete.referenced
        entries += [data, replace(delete, path=f"x{number}", tuple={1000: other}, referenced=referenced)]
        expected[f"d{number}"] = rows
    completed(write_table(tmp_path, _COLUMNS, entries, _BY_P, Layout(3, sequence=5)))
    assert {file.path: file.live_rows for file in lakeprune.explain(tmp_path, "id >= 0", spark=spark).files} == expected
    everywhere = replace(embedded.TestDeletes.equality, spec=1, tuple={})
    completed(write_table(tmp_path, _COLUMNS, [embedded.TestDeletes.data, everywhere], {**_BY_P, 1: ()}, Layout(3, sequence=5)))
    assert [file.live_rows for file in lakeprune.explain(tmp_path, "id >= 0", spark=spark).files] == [None]


def test_tuples_are_compared_bit_by_bit_when_deletes_are_looked_for(spark: SparkSession, tmp_path: Path) -> None:
    """T88: -0.0 and 0.0 are two partitions, to Spark's joins they are one value; every NaN is the same."""
    by_x = {0: (SpecField(2, "identity", "x", 1000, "double"),)}
    values = {"negative": -0.0, "positive": 0.0, "nan": float("nan"), "null": None}
    data = [Entry(name, 10, tuple={1000: value}, sequence=1) for name, value in values.items()]
    deletes = [Entry(f"x{value}", 3, tuple={1000: value}, content=1) for value in (-0.0, float("nan"))]
    columns = [column(1, "id", "long"), column(2, "x", "double")]
    completed(write_table(tmp_path, columns, [*data, *deletes], by_x, Layout(2, sequence=5)))
    reports = (lakeprune.explain(tmp_path), lakeprune.explain(tmp_path, spark=spark))
    ours, found = ({file.path: file.live_rows for file in report.files} for report in reports)
    assert ours == found == {"negative": None, "positive": 10, "nan": None, "null": 10}


def test_decimals_of_two_scales_are_compared_exactly(spark: SparkSession, tmp_path: Path) -> None:
    """By itself Spark would take 0.01 for 0 beside a column without decimal places, and drop the file."""
    columns = [column(1, "cents", "decimal(10,2)"), column(2, "whole", "decimal(18,0)")]
    bounds = {1: decimal_bytes(Decimal("0.01")), 2: decimal_bytes(Decimal(0))}
    counts: dict[str, dict[int, Any]] = {"value_counts": {1: 1, 2: 1}, "null_value_counts": {1: 0, 2: 0}}
    metrics = {**counts, "lower_bounds": bounds, "upper_bounds": bounds}
    completed(write_table(tmp_path, columns, [Entry("a", metrics=metrics)]))
    wheres = ("cents <> whole", "cents <= whole", "cents > whole")
    reports = lakeprune.explain_many(tmp_path, wheres, spark=spark)
    verdicts = {where: [file.verdict.value for file in found.files] for where, found in zip(wheres, reports, strict=True)}
    assert verdicts == {"cents <> whole": ["FULL"], "cents <= whole": ["DROP"], "cents > whole": ["FULL"]}


def test_partition_values_are_read_also_where_the_session_interprets_expressions(spark: SparkSession, tmp_path: Path) -> None:
    """The session of the tests does. Iceberg's rows then give NULL for timestamps without a zone: files would be dropped."""
    assert spark.conf.get("spark.sql.codegen.factoryMode") == "NO_CODEGEN"
    by_ts = {0: (SpecField(2, "identity", "ts", 1000, "timestamp"),)}
    entries = [Entry("a", tuple={1000: 1_000_000}), Entry("b", tuple={1000: None})]
    completed(write_table(tmp_path, [column(1, "id", "long"), column(2, "ts", "timestamp")], entries, by_ts))
    for where, verdicts in {"ts >= '1970-01-01'": ["FULL", "DROP"], "ts IS NULL": ["DROP", "FULL"]}.items():
        assert [file.verdict.value for file in lakeprune.explain(tmp_path, where, spark=spark).files] == verdicts


def test_snapshots_by_id_and_time(spark: SparkSession, tmp_path: Path) -> None:
    embedded.TestSnapshots().two(tmp_path)
    completed(tmp_path / "metadata" / "v1.metadata.json")
    for options in ({"version": 3}, {"timestamp": "1970-01-01T00:00:00.7Z"}, {}):
        where = "id < 5" if not options else "key < 5"
        ours, found = both(tmp_path, where, spark, **options)
        assert ours["files"] == found["files"]
        assert [file["path"] for file in found["files"]] == (["old"] if options else ["a", "b"])


@pytest.mark.usefixtures("files_alone")
def test_a_table_that_pyiceberg_wrote_gives_the_same_document(spark: SparkSession, tmp_path: Path) -> None:
    catalog = SqlCatalog("tests", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("db")
    fields = [t.LongType(), t.DoubleType(), t.StringType(), t.TimestampType(), t.DecimalType(9, 2), t.DateType()]
    names = ("id", "x", "s", "ts", "m", "d")
    schema = Schema(
        *(t.NestedField(number, name, type_) for number, (name, type_) in enumerate(zip(names, fields, strict=True), 1))
    )
    parts = {"month": 4, "bucket[3]": 1, "truncate[2]": 3, "identity": 6}
    spec = PartitionSpec(
        *(PartitionField(source, 1000 + n, parse_transform(name), f"p{n}") for n, (name, source) in enumerate(parts.items()))
    )
    table = catalog.create_table("db.all", schema, partition_spec=spec)
    moments = [dt.datetime(1969, 12, 31, 23), dt.datetime(2024, 2, 29, 12, 30), None]
    rows = [
        (n, [1.5, float("nan"), -0.0, None][n % 4], ["", "iceberg", "icy", None][n % 4], moments[n % 3], Decimal(n) / 4,
         None if n == 7 else dt.date(2024, 1, 1 + n % 2))
        for n in range(12)
    ]  # fmt: skip
    arrow = [pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"), pa.decimal128(9, 2), pa.date32()]
    columns = {name: pa.array(values, kind) for name, values, kind in zip(names, zip(*rows, strict=True), arrow, strict=True)}
    table.append(pa.table(columns))
    catalog.close()
    wheres = (None, "id = 5 AND x > 1", "ts < '2000-01-01' AND s LIKE 'ic%'", "m > 1.25 OR d IS NULL", "d = '2024-01-02'")
    for where in wheres if IS_WHOLE else wheres[2:3]:
        ours, found = both(table.metadata_location.removeprefix("file://"), where, spark)
        assert _same(ours) == _same(found), where


@pytest.mark.usefixtures("files_alone")
def test_a_table_that_spark_wrote_gives_the_same_document(lake: str, spark: SparkSession, tmp_path: Path) -> None:
    """Three specs, a renamed and a dropped column, position deletes, then a v3 table with deletion vectors."""
    spark.sql(
        f"CREATE TABLE {lake}.t (n INT, s STRING, d DATE, x DOUBLE) USING iceberg PARTITIONED BY (days(d)) "
        "TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')"
    )
    rows = "(1, 'a', DATE'1969-12-31', double('NaN')), (2, 'ab', DATE'2024-02-29', -0.0D), (3, NULL, NULL, NULL)"
    statements = [
        f"INSERT INTO {lake}.t VALUES {rows}",
        f"ALTER TABLE {lake}.t ADD PARTITION FIELD truncate(1, s)",
        f"INSERT INTO {lake}.t VALUES {rows}",
        f"ALTER TABLE {lake}.t DROP PARTITION FIELD days(d)",
        f"ALTER TABLE {lake}.t RENAME COLUMN s TO was_s",
        f"ALTER TABLE {lake}.t ALTER COLUMN n TYPE BIGINT",
        f"INSERT INTO {lake}.t VALUES {rows}, (4, 'zz', DATE'2030-01-01', 5)",
        f"DELETE FROM {lake}.t WHERE n = 2",
    ]
    for statement in statements:
        spark.sql(statement)
    wheres = (None, "d = '2024-02-29' AND n > 1", "was_s >= 'b' OR x = 0", "x > 3", "d IS NULL")
    for where in wheres if IS_WHOLE else wheres[1:2]:
        ours, found = both(tmp_path / "lake" / "db" / "t", where, spark)
        assert _same(ours) == _same(found), where


@pytest.mark.golden
@pytest.mark.usefixtures("files_alone")
@only_whole
@pytest.mark.skipif(not (GOLDEN / "iceberg").is_dir(), reason="the golden tables are not beside the project")
def test_golden_tables_give_the_same_document_or_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    """Copied to where they then say that they are, for Iceberg's runtime looks there. What it cannot read is refused by name."""
    refused, same = {}, 0
    for place in sorted({place.parent.parent for place in (GOLDEN / "iceberg").glob("**/metadata/*.metadata.json")}):
        name = str(place.relative_to(GOLDEN / "iceberg"))
        try:
            lakeprune.explain(place)
        except lakeprune.TableError:
            continue
        copy = settled(place, tmp_path / name)
        ours = lakeprune.explain(copy)
        try:
            found = lakeprune.explain(copy, spark=spark)
        except lakeprune.TableError as error:
            refused[name] = error.code
            continue
        assert _same(ours.to_dict(verbose=True)) == _same(found.to_dict(verbose=True)), name
        same += 1
    assert same > 15
    assert set(refused.values()) <= {"LP364"}, refused


def test_a_copied_table_is_refused_with_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    completed(write_table(tmp_path / "there", _COLUMNS, [Entry("a")]))
    (tmp_path / "there").rename(tmp_path / "here")
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(tmp_path / "here", spark=spark)
    assert caught.value.code == "LP364"
    assert "copied" in str(caught.value)


def test_a_column_that_the_runtime_does_not_know_is_refused_with_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    completed(write_table(tmp_path, [*_COLUMNS, column(4, "at", "time")], [Entry("a")]))
    with pytest.raises(lakeprune.TableError, match="time") as caught:
        lakeprune.explain(tmp_path, spark=spark)
    assert caught.value.code == "LP364"


def test_a_manifest_that_is_cut_off_between_two_blocks_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    """Avro does not record how many blocks there are, and Iceberg's runtime reads what is left; the manifest list counts."""
    place = completed(write_table(tmp_path, _COLUMNS, [Entry(f"f{number}") for number in range(120)]))
    manifest = place.parent / "0-0-m0.avro"
    data = manifest.read_bytes()
    marker = data[-16:]
    second = data.index(marker, data.index(marker) + 16) + 16  # behind the first block
    manifest.write_bytes(data[:second])
    for session in (None, spark):
        options: Any = {} if session is None else {"spark": session}
        with pytest.raises(lakeprune.TableError) as caught:
            lakeprune.explain(tmp_path, "id = 1", **options)
        assert caught.value.code == "LP365"
        assert "50 live entries" in str(caught.value)


def test_an_empty_table_has_no_files(spark: SparkSession, tmp_path: Path) -> None:
    completed(write_table(tmp_path, _COLUMNS, []))
    assert list(lakeprune.explain(tmp_path, "id = 1", spark=spark).files) == []


def _same(document: dict[str, Any]) -> dict[str, Any]:
    """What both engines say, whatever they take; only the embedded one looks at manifests before it reads them."""
    found: dict[str, Any] = {name: value for name, value in untimed(document).items() if name != "summary"}
    return {**found, "phases": [phase for phase in found["phases"] if phase["name"] != "Manifest pruning"]}
