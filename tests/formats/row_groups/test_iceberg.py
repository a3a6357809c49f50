"""Row groups of Iceberg tables: columns are found by field id, whatever they are called, and hidden partitioning takes part."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform

import lakeprune
from tests.formats.parquet.thrift import MAX, MIN, OLD_MAX, OLD_MIN, patch_statistics, without
from tests.formats.row_groups.delta import files

SCHEMA = Schema(t.NestedField(1, "id", t.IntegerType(), required=False), t.NestedField(2, "name", t.StringType(), required=False))
ROWS = pa.table({"id": pa.array(range(100), pa.int32()), "name": [f"n{99 - number:02}" for number in range(100)]})


def created(catalog: SqlCatalog, spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC) -> Table:
    """A table of ten row groups per hundred rows."""
    properties = {"write.parquet.row-group-limit": "10", "write.metadata.metrics.default": "none"}
    table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=properties)
    table.append(ROWS)
    return table


def place(table: Table) -> Path:
    return Path(table.location().removeprefix("file://"))


def left(table: Path, where: str) -> list[list[int]]:
    """The row groups that are left of each file, None for a file that is dropped before."""
    found = files(table, where).values()
    return [[group.id for group in file.row_groups if group.kept] if isinstance(file.row_groups, list) else [] for file in found]


def test_row_groups_are_pruned_where_metrics_are_missing(catalog: SqlCatalog) -> None:
    table = place(created(catalog))
    assert left(table, "id = 42") == [[4]]
    assert left(table, "name = 'n42'") == [[5]]
    report = lakeprune.explain(table, "id = 42 AND name = 'n42'", row_groups=True)
    assert (report.numbers.kept.files, report.numbers.credits["row_group"].files) == (0, 1)
    assert (report.summary.row_groups_total, report.summary.row_groups_kept) == (10, 0)


def test_renamed_promoted_and_replaced_columns_are_found_by_their_ids(catalog: SqlCatalog) -> None:
    table = created(catalog)
    with table.update_schema() as change:
        change.update_column("id", t.LongType())
        change.delete_column("name")
    with table.update_schema() as change:
        change.rename_column("id", "number")
    with table.update_schema() as change:
        change.add_column("id", t.IntegerType())
        change.add_column("name", t.StringType())
    path = place(table)
    assert left(path, "number = 42") == [[4]]
    # New columns of old names are in no file, and have no defaults: they are NULL there.
    assert left(path, "id = 42") == left(path, "id IS NOT NULL") == left(path, "name = 'n42'") == [[]]
    assert left(path, "id IS NULL AND name IS NULL") == [list(range(10))]


def test_a_partition_leg_and_a_row_group_leg_of_an_or_prune_together(catalog: SqlCatalog) -> None:
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform("truncate[50]"), "id_50"))
    table = place(created(catalog, spec))
    for data in (table / "data").rglob("*.parquet"):
        patch_statistics(data, without(OLD_MIN, OLD_MAX, MIN, MAX), "id")
    found = files(table, "id = 10 OR name = 'n02'")
    assert sorted(left(table, "id = 10 OR name = 'n02'")) == [[0, 1, 2, 3, 4], [4]]
    by = {group.credit for file in found.values() for group in file.row_groups if not group.kept}  # type: ignore[union-attr]
    assert by == {"joint"}


def test_a_copy_and_a_metadata_file_lead_to_the_same_footers(catalog: SqlCatalog, tmp_path: Path) -> None:
    original = place(created(catalog))
    copy = tmp_path / "copy"
    shutil.copytree(original, copy)
    shutil.rmtree(original / "data")
    newest = max((copy / "metadata").glob("*.metadata.json"))
    assert left(copy, "id = 42") == left(newest, "id = 42") == [[4]]


def test_files_without_field_ids_prove_nothing(catalog: SqlCatalog) -> None:
    table = place(created(catalog))
    (data,) = (table / "data").rglob("*.parquet")
    rows = pq.read_table(data)
    bare = pa.Table.from_arrays(rows.columns, schema=pa.schema([pa.field(f.name, f.type) for f in rows.schema]))
    pq.write_table(bare, data, row_group_size=10)
    assert left(table, "id = 42") == [list(range(10))]


def test_data_files_of_another_format_are_kept(catalog: SqlCatalog) -> None:
    table = place(created(catalog))
    (data,) = (table / "data").rglob("*.parquet")
    data.write_bytes(b"Obj\x01 this is Avro")
    report = lakeprune.explain(table, "id = 42", row_groups=True)
    assert (report.numbers.kept.files, [note.code for note in report.facts.notes]) == (1, ["footers_not_read"])


def test_manifests_files_and_row_groups_add_up(catalog: SqlCatalog) -> None:
    """A manifest that is dropped is not read, a file of a kept one loses all of its row groups: each is credited once."""
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform("truncate[50]"), "id_50"))
    table = created(catalog, spec)
    table.append(pa.table({"id": pa.array(range(1000, 1100), pa.int32()), "name": ROWS["name"]}))
    for where, kept, lost in (
        ("id = 42 AND name = 'n42'", 0, 1),
        ("id = 42", 1, 0),
        ("name = 'n42'", 2, 2),
        ("name = 'nope'", 0, 4),
    ):
        report = lakeprune.explain(place(table), where, row_groups=True)
        numbers = report.numbers
        assert sum(amount.files for amount in numbers.credits.values()) + numbers.kept.files == numbers.total.files == 4
        assert (numbers.credits["row_group"].files, numbers.kept.files) == (lost, kept), where
        assert report.row_groups is not None
        credited = sum(amount.row_groups for amount in report.row_groups.credits.values())
        assert credited + report.row_groups.kept.row_groups == report.row_groups.total.row_groups
