"""Plans of Iceberg tables, and their rows."""

from __future__ import annotations

import datetime as dt
import json
import struct
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform

import lakeprune
from lakeprune.apps.scan.handoff.iceberg_deletes import deleted_rows
from lakeprune.apps.scan.handoff.opening import DataFiles
from lakeprune.apps.scan.handoff.planned_file import PlannedFile
from lakeprune.apps.scan.model import Pushdown
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.iceberg.applying import NAMED, DeleteFiles
from lakeprune.formats.iceberg.entries import Item
from lakeprune.storage.storage import open_storage
from tests.apps.scan.rows import WAYS, rows_of
from tests.builders.iceberg import flights
from tests.formats.delta.test_deletion_vectors import bitmap


def test_an_iceberg_plan_has_typed_values_and_uris_in_the_folder_that_was_given(tmp_path: Path) -> None:
    flights(tmp_path / "flights")
    (tmp_path / "flights").rename(tmp_path / "copied")
    plan = lakeprune.plan(tmp_path / "copied", "mission_id = 'apollo-7'", groups=2)
    files = plan.files.to_pylist()
    assert plan.clauses[0].pushdown is Pushdown.EXACT
    assert plan.totals.files_scanned + plan.totals.files_pruned == plan.totals.files_total
    assert len(files) == plan.totals.files_scanned > 0
    assert {file["partition"]["mission_id"] for file in files} == {"apollo-7"}
    assert all(file["uri"] == f"{tmp_path}/copied/{file['path']}" for file in files)
    assert lakeprune.ScanPlan.from_json(plan.to_json(), table=tmp_path / "copied").files.equals(plan.files)


def test_delete_files_apply_by_sequence_and_a_vector_replaces_position_deletes() -> None:
    rows: list[dict[Item, Any]] = [
        {"content": 1, "file_path": "dv.puffin", "file_format": "PUFFIN", "record_count": 3, "referenced_data_file": "a",
         "content_offset": 4, "content_size_in_bytes": 40},
        {"content": 1, "file_path": "pos.parquet", "file_format": "PARQUET", "record_count": 2},
        {"content": 2, "file_path": "eq.parquet", "file_format": "PARQUET", "record_count": 1, "equality_ids": [1]},
    ]  # fmt: skip
    every = {"sequence_number": 5, "spec_id": 1}
    entries = {name: [row.get(name, every.get(str(name))) for row in rows] for name in (*NAMED, "spec_id")}
    found = DeleteFiles(entries, [(1, "x")] * 3, frozenset(), lambda path: f"/t/{path}")
    kinds = {
        (path, sequence): [
            word for word in ("vector", "position", "equality") if word in (found.applying(path, sequence, (1, "x")) or "")
        ]
        for path in ("a", "b")
        for sequence in (4, 5, 6)
    }
    assert kinds == {
        ("a", 4): ["vector", "equality"], ("a", 5): ["vector"], ("a", 6): [],
        ("b", 4): ["position", "equality"], ("b", 5): ["position"], ("b", 6): [],
    }  # fmt: skip
    assert found.applying("b", 4, (1, "y")) is None


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder = tmp_path_factory.mktemp("catalog")
    catalog = SqlCatalog("plans", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("db")
    yield catalog
    catalog.close()


@pytest.fixture(scope="module")
def evolved(catalog: SqlCatalog) -> Table:
    """By identity and by bucket; then a column is renamed, one widened, one added, one gone, and fields inside are renamed."""
    inside = t.StructType(t.NestedField(10, "x", t.IntegerType()), t.NestedField(11, "y", t.StringType()))
    items = t.ListType(12, t.StructType(t.NestedField(13, "z", t.IntegerType())), element_required=False)
    schema = Schema(
        t.NestedField(1, "id", t.IntegerType()), t.NestedField(2, "word", t.StringType()), t.NestedField(3, "s", inside),
        t.NestedField(4, "day", t.DateType()), t.NestedField(5, "gone", t.LongType()), t.NestedField(6, "l", items),
    )  # fmt: skip
    spec = PartitionSpec(
        PartitionField(4, 1000, parse_transform("identity"), "day"), PartitionField(1, 1001, parse_transform("bucket[2]"), "b")
    )
    table = catalog.create_table("db.evolved", schema, partition_spec=spec)
    days = [None, dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 1)]
    rows = pa.table(
        {
            "id": pa.array([1, 2, None, 4], pa.int32()),
            "word": ["a", None, "c", "d"],
            "s": pa.array([{"x": 1, "y": "p"}, None, {"x": None, "y": "q"}, {"x": 4, "y": None}], arrow_struct()),
            "day": days,
            "gone": pa.array([1, 2, 3, 4], pa.int64()),
            "l": pa.array([[{"z": 1}], [], None, [None]], pa.list_(pa.struct([("z", pa.int32())]))),
        }
    )
    table.append(rows)
    with table.update_schema() as update:
        update.rename_column("word", "text").delete_column("gone").add_column("more", t.DoubleType())
        update.update_column("id", t.LongType()).rename_column("s.x", "first").rename_column("l.element.z", "w")
    more = pa.array([[{"w": 3}, {"w": None}]], pa.list_(pa.struct([("w", pa.int32())])))
    table.append(pa.table({"id": [7], "text": ["new"], "more": [0.5], "day": [dt.date(2024, 1, 2)], "l": more}))
    return table


def arrow_struct() -> pa.DataType:
    return pa.struct([("x", pa.int32()), ("y", pa.string())])


@pytest.mark.parametrize(
    ("where", "way"),
    list(zip((None, "id >= 4", "text = 'new' OR s.first = 1", "day = DATE'2024-01-01'", "more IS NULL"), WAYS, strict=True)),
)
def test_rows_of_an_evolved_iceberg_table_are_those_of_pyiceberg(where: str | None, way: Any, evolved: Table) -> None:
    expected = evolved.scan().to_arrow()
    made = lakeprune.plan(evolved, where)
    schema = made.to_arrow().schema
    with duckdb.connect() as connection:
        connection.register("rows", expected)
        expected = connection.sql(f"SELECT * FROM rows WHERE {where or 'TRUE'}").to_arrow_table()
    assert expected.num_rows
    assert rows_of(way(made), schema) == rows_of(expected, schema)


def test_an_iceberg_plan_gives_its_limit_its_files_and_an_older_snapshot(evolved: Table) -> None:
    assert lakeprune.plan(evolved, limit=2).to_arrow().read_all().num_rows == 2
    made = lakeprune.plan(evolved, "id >= 4", columns=["text"])
    rows = made.to_arrow(lakeprune.ScanOptions(file_column="file")).read_all()
    assert set(rows.column("file").to_pylist()) <= set(made.files.column("uri").to_pylist())
    first = evolved.history()[0].snapshot_id
    older = lakeprune.plan(evolved.location().removeprefix("file://"), version=first).to_arrow().read_all()
    assert older.column_names == ["id", "word", "s", "day", "gone", "l"]
    assert older.num_rows == 4


def test_a_plan_before_the_next_snapshot_has_the_newest_columns(catalog: SqlCatalog) -> None:
    """The snapshot is that of the older columns, and the plan is not."""
    table = catalog.create_table("db.renamed", Schema(t.NestedField(1, "id", t.LongType())))
    table.append(pa.table({"id": [1, 2]}))
    with table.update_schema() as update:
        update.rename_column("id", "number")
    place = table.location().removeprefix("file://")
    received = lakeprune.ScanPlan.from_json(lakeprune.plan(place, "number > 1").to_json())
    assert received.to_arrow().read_all().to_pylist() == [{"number": 2}]


def test_a_column_that_only_partitions_have_is_refused(catalog: SqlCatalog) -> None:
    """Files of engines that leave partition columns out; the column is one of a later spec only, so that others have it."""
    table = catalog.create_table(
        "db.left_out", Schema(t.NestedField(1, "id", t.LongType()), t.NestedField(2, "k", t.StringType()))
    )
    table.append(pa.table({"id": [1], "k": ["a"]}))
    with table.update_spec() as update:
        update.add_identity("k")
    table.append(pa.table({"id": [2], "k": ["b"]}))
    assert lakeprune.plan(table).to_arrow().read_all().num_rows == 2
    (newer,) = (Path(uri) for uri in lakeprune.plan(table, "id = 2").uris)
    kept = pq.read_table(newer, columns=["id"], partitioning=None)
    pq.write_table(kept, newer)
    assert lakeprune.plan(table, columns=["id"]).to_arrow().read_all().num_rows == 2
    with pytest.raises(TableError, match="lacks column `k`"):
        lakeprune.plan(table).to_arrow().read_all()


DEFAULTS: list[tuple[t.IcebergType, Any, Any]] = [
    (t.LongType(), 7, 7), (t.StringType(), "none yet", "none yet"), (t.BooleanType(), True, True),
    (t.DoubleType(), 0.5, 0.5), (t.DateType(), "2024-01-05", dt.date(2024, 1, 5)), (t.DecimalType(9, 2), "7.50", Decimal("7.50")),
    (t.TimestampType(), "2024-01-05T10:00:00.000001", dt.datetime(2024, 1, 5, 10, 0, 0, 1)), (t.BinaryType(), "00ff", b"\0\xff"),
]  # fmt: skip


def test_a_column_with_a_default_has_it_in_files_that_lack_it(catalog: SqlCatalog) -> None:
    """Written as metadata of version 3, because PyIceberg writes no defaults by itself."""
    table = catalog.create_table("db.defaults", Schema(t.NestedField(1, "id", t.LongType())))
    table.append(pa.table({"id": [1, 2]}))
    with table.update_schema() as update:
        for number, (kind, *_) in enumerate(DEFAULTS):
            update.add_column(f"c{number}", kind)
    table.append(pa.table({"id": [3], **{f"c{number}": [value] for number, (_, _, value) in enumerate(DEFAULTS)}}))
    place = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(place.read_text())
    metadata["format-version"] = 3
    metadata["next-row-id"] = 0
    for number, (_, recorded, _) in enumerate(DEFAULTS):
        metadata["schemas"][-1]["fields"][number + 1]["initial-default"] = recorded
    (place.parent / "v9.metadata.json").write_text(json.dumps(metadata))
    found = lakeprune.plan(place.parent / "v9.metadata.json").to_arrow().read_all()
    expected = {f"c{number}": value for number, (_, _, value) in enumerate(DEFAULTS)}
    assert sorted(found.column("id").to_pylist()) == [1, 2, 3]
    assert [{name: row[name] for name in expected} for row in found.to_pylist()] == [expected] * 3
    for where, rows in (("c0 = 7 AND id < 3", 2), ("c0 <> 7", 0), ("c1 LIKE 'none%'", 3), ("c4 IS NULL", 0)):
        for way in WAYS:
            assert way(lakeprune.plan(place.parent / "v9.metadata.json", where)).num_rows == rows, (where, way)


def test_a_default_inside_a_struct_is_refused(catalog: SqlCatalog) -> None:
    inside = t.StructType(t.NestedField(3, "x", t.LongType()))
    table = catalog.create_table("db.inside", Schema(t.NestedField(1, "id", t.LongType()), t.NestedField(2, "s", inside)))
    table.append(pa.table({"id": [1], "s": [{"x": 1}]}))
    place = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(place.read_text())
    metadata["schemas"][-1]["fields"][1]["type"]["fields"][0]["initial-default"] = 5
    (place.parent / "v9.metadata.json").write_text(json.dumps(metadata))
    assert lakeprune.plan(place.parent / "v9.metadata.json", columns=["id"]).to_arrow().read_all().num_rows == 1
    with pytest.raises(UsageError, match="inside column `s`") as error:
        lakeprune.plan(place.parent / "v9.metadata.json").to_arrow()
    assert error.value.code == "LP283"


def test_files_without_ids_are_refused(catalog: SqlCatalog, tmp_path: Path) -> None:
    """They are found by names that the table keeps beside them, which no reader here does."""
    table = catalog.create_table("db.imported", Schema(t.NestedField(1, "id", t.LongType())))
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    table.add_files([str(tmp_path / "a.parquet")])
    with pytest.raises(TableError, match="no ids"):
        lakeprune.plan(table).to_arrow().read_all()


def test_a_column_with_text_of_uuids_is_refused(catalog: SqlCatalog) -> None:
    table = catalog.create_table("db.uuids", Schema(t.NestedField(1, "id", t.UUIDType()), t.NestedField(2, "x", t.LongType())))
    ids = pa.array([b"0123456789abcdef"], pa.binary(16))
    table.append(pa.table({"id": pa.ExtensionArray.from_storage(pa.uuid(), ids), "x": [1]}))
    assert lakeprune.plan(table, columns=["x"]).to_arrow().read_all().num_rows == 1
    with pytest.raises(TableError, match="UUID"):
        lakeprune.plan(table).to_arrow().read_all()


def delete_file(kind: str, place: Path, rows: int, **more: Any) -> dict[str, Any]:
    form = "PUFFIN" if kind == "vector" else "PARQUET"
    return {
        "kind": kind,
        "path": place.name,
        "uri": str(place),
        "format": form,
        "rows": rows,
        "size": place.stat().st_size,
        **more,
    }


def deleted(tmp_path: Path, *deletes: dict[str, Any]) -> list[int]:
    file = PlannedFile("data/a.parquet", str(tmp_path / "a.parquet"), 1, (), {}, json.dumps(deletes))
    files = DataFiles(open_storage(str(tmp_path), {}), {})
    found = deleted_rows(file, files, lambda url: url.removeprefix("s3://lake/t/"))
    assert found is not None
    return list(found)


def position_deletes(place: Path) -> Path:
    paths = ["s3://lake/t/data/a.parquet", "s3://lake/t/data/b.parquet", "s3://lake/t/data/a.parquet"]
    pq.write_table(pa.table({"file_path": paths, "pos": pa.array([4, 5, 1], pa.int64())}), place)
    return place


def test_deletes_are_those_of_the_file_by_its_recorded_path(tmp_path: Path) -> None:
    place, data = tmp_path / "dv.puffin", bitmap({2, 7})
    framed = struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    place.write_bytes(b"PFA1" + framed + b"rest")
    positions = delete_file("position", position_deletes(tmp_path / "p.parquet"), 3)
    assert deleted(tmp_path, positions) == [1, 4]
    vector = delete_file("vector", place, 2, offset=4, length=len(framed))
    assert deleted(tmp_path, vector) == [2, 7]
    for damaged in ({**vector, "rows": 3}, {**vector, "offset": 5}, {**vector, "length": 4}):
        with pytest.raises(TableError, match="LP375"):
            deleted(tmp_path, damaged)
    with pytest.raises(UsageError, match="equality deletes apply"):
        deleted(tmp_path, positions, {**positions, "kind": "equality"})
    (tmp_path / "p.parquet").write_bytes(b"PAR1")
    with pytest.raises(TableError, match="LP375"):
        deleted(tmp_path, positions)
