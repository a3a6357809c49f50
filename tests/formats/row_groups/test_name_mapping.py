"""Data files without field ids: their columns are found by the table's name mapping, and without one they prove nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table

import lakeprune
from lakeprune.formats.iceberg.name_mapping import PROPERTY
from tests.formats.row_groups.by_pyiceberg import PER_GROUP, changed, check, left, place

ROWS = 100
EVERY = list(range(ROWS // PER_GROUP))
SCHEMA = Schema(
    t.NestedField(1, "id", t.IntegerType(), required=False),
    t.NestedField(2, "name", t.StringType(), required=False),
    t.NestedField(3, "s", t.StructType(t.NestedField(4, "x", t.LongType(), required=False)), required=False),
    t.NestedField(5, "tags", t.ListType(6, t.StringType(), element_required=False), required=False),
)
STRUCT = pa.struct([("x", pa.int64())])
COLUMNS = {
    "id": pa.array(range(ROWS), pa.int32()),
    "name": pa.array([f"n{ROWS - 1 - number:02}" for number in range(ROWS)]),
    "s": pa.array([None if number % 7 == 0 else {"x": number * 2} for number in range(ROWS)], STRUCT),
    "tags": pa.array([[f"t{number}"] for number in range(ROWS)], pa.list_(pa.string())),
}


def imported(catalog: SqlCatalog, columns: dict[str, Any] | None = None, schema: pa.Schema | None = None) -> Table:
    """A table around a file that was there before: PyIceberg's `add_files` makes the name mapping from the schema."""
    table = catalog.create_table("db.t", SCHEMA, properties={"write.metadata.metrics.default": "none"})
    file = place(table) / "data" / "old.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(COLUMNS), file, row_group_size=PER_GROUP)
    table.add_files([f"file://{file}"])
    if columns is not None:  # what PyIceberg would not import
        pq.write_table(pa.table(columns, schema=schema), file, row_group_size=PER_GROUP)
    return table


def mapped(table: Table, mapping: list[dict[str, Any]] | str | None) -> Table:
    text = mapping if isinstance(mapping, str) else json.dumps(mapping)

    def change(metadata: dict[str, Any]) -> None:
        metadata["properties"].pop(PROPERTY)
        metadata["properties"] |= {} if mapping is None else {PROPERTY: text}

    return changed(table, change)


def test_imported_files_are_judged_through_the_mapping(catalog: SqlCatalog) -> None:
    table = imported(catalog)
    assert check(table, "id = 42") == ([4], [])
    assert check(table, "name = 'n42'") == ([5], [])
    assert check(table, "id >= 90 OR name >= 'n95'") == ([0, 9], [9])
    assert check(table, "s.x = 84")[0] == [4]
    assert check(table, "s.x IS NULL")[0] == EVERY  # each of them has a NULL struct


def test_without_a_mapping_nothing_is_known(catalog: SqlCatalog) -> None:
    """By position, as old readers do, would be a guess: other readers refuse such files."""
    table = mapped(imported(catalog), None)
    assert left(table, "id = 42")[0] == left(table, "s.x = 84")[0] == EVERY


@pytest.mark.parametrize("text", ["no JSON", "{}", '[{"names": 1}]', '[{"field-id": "one", "names": ["id"]}]', "[" * 5000])
def test_a_mapping_that_is_not_one_proves_nothing_and_is_noted(catalog: SqlCatalog, text: str) -> None:
    table = mapped_text(imported(catalog), text)
    report = lakeprune.explain(table, "id = 42", row_groups=True)
    assert report.row_groups is not None
    assert (report.row_groups.kept.row_groups, report.facts.notes[0].code) == (len(EVERY), "name_mapping_not_understood")


def mapped_text(table: Table, text: str) -> Path:
    """PyIceberg would not read it."""
    newest = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(newest.read_text())
    metadata["properties"][PROPERTY] = text
    newest.write_text(json.dumps(metadata))
    return newest


def test_a_column_has_several_names(catalog: SqlCatalog) -> None:
    """Each file has one of them; both in one file are two columns of one id, and prove nothing."""
    renamed = {"number": COLUMNS["id"], "name": COLUMNS["name"]}
    table = imported(catalog, renamed)
    mapping = [{"field-id": 1, "names": ["id", "number"]}, {"field-id": 2, "names": ["name"]}]
    assert check(mapped(table, mapping), "id = 42") == ([4], [])
    both = {**renamed, "id": pa.array([7] * ROWS, pa.int32())}
    pq.write_table(pa.table(both), place(table) / "data" / "old.parquet", row_group_size=PER_GROUP)
    assert left(table, "id = 42")[0] == left(table, "id = 7")[0] == left(table, "id IS NULL")[0] == EVERY
    assert left(table, "name = 'n42'")[0] == [5]


def test_a_name_without_an_id_is_no_column(catalog: SqlCatalog) -> None:
    """`id` was dropped from the table, and another column added under that name: the mapping says which one files have.

    PyIceberg refuses files with names that are not mapped; Iceberg's own readers pass over such columns.
    """
    table = mapped(imported(catalog), [{"names": ["id"]}, {"field-id": 2, "names": ["name"]}])
    assert left(table, "id = 42") == ([], [])  # the file lacks it: it is NULL there
    assert left(table, "id IS NULL") == (EVERY, EVERY)
    assert left(table, "name = 'n42'") == ([5], [])


def test_a_column_that_is_added_later_is_found_in_older_files_by_its_name(catalog: SqlCatalog) -> None:
    """Why metadata alone never proves that a file lacks a column: the snapshot of this file has a schema without `volts`."""
    table = imported(catalog, {**COLUMNS, "volts": pa.array(range(1000, 1000 + ROWS), pa.int32())})
    with table.update_schema() as change:
        change.add_column("volts", t.IntegerType())
    assert "volts" in table.properties[PROPERTY]
    assert table.metadata.snapshots[0].schema_id != table.metadata.current_schema_id
    assert check(table, "volts = 1042") == ([4], [])
    assert len(list(lakeprune.explain(place(table), "volts = 1042").files)) == 1
    assert lakeprune.explain(place(table), "volts = 1042").numbers.kept.files == 1


def test_a_renamed_nested_field_is_found_by_its_old_name(catalog: SqlCatalog) -> None:
    table = imported(catalog)
    with table.update_schema() as change:
        change.rename_column("s.x", "y")
        change.rename_column("s", "r")
    assert check(table, "r.y = 84")[0] == [4]


def test_a_dot_in_a_name_is_no_step(catalog: SqlCatalog) -> None:
    """Readers that join names by dots find another column: where the two differ, nothing is known of the file."""
    columns = {"s.x": COLUMNS["id"], "name": COLUMNS["name"]}
    table = mapped(imported(catalog, columns), [{"field-id": 1, "names": ["s.x"]}, {"field-id": 2, "names": ["name"]}])
    assert left(table, "id = 42")[0] == [4]
    pq.write_table(pa.table(COLUMNS), place(table) / "data" / "old.parquet", row_group_size=PER_GROUP)
    assert left(table, "id = 42")[0] == left(table, "id IS NOT NULL")[0] == left(table, "name = 'n42'")[0] == EVERY


def test_names_count_only_where_no_column_has_an_id(catalog: SqlCatalog) -> None:
    """Iceberg's reader takes a file with one id for a file with ids, the specification maps each column that lacks one."""
    schema = pa.schema([pa.field("id", pa.int32(), metadata={"PARQUET:field_id": "1"}), pa.field("name", pa.string())])
    table = imported(catalog, {name: COLUMNS[name] for name in ("id", "name")}, schema)
    assert left(table, "id = 42")[0] == [4]
    assert left(table, "name = 'n42'")[0] == left(table, "name IS NULL")[0] == left(table, "name IS NOT NULL")[0] == EVERY


def test_names_are_compared_with_their_case(catalog: SqlCatalog) -> None:
    table = imported(catalog, {"ID": COLUMNS["id"], "name": COLUMNS["name"]})
    assert left(table, "id = 42") == ([], [])
    assert left(table, "id IS NULL") == (EVERY, EVERY)
