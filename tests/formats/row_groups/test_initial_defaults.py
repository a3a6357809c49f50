"""Columns that a data file lacks: their initial default in every row, else NULL. Rows are read by PyIceberg, without a filter."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform

from lakeprune.formats.iceberg.initial_defaults import InitialDefaults
from lakeprune.formats.iceberg.schema import iceberg_schema
from lakeprune.formats.snapshot import Absent
from lakeprune.predicate.schema import leaf_paths
from lakeprune.predicate.tree import Column
from tests.formats.iceberg.tables import column
from tests.formats.row_groups.by_pyiceberg import PER_GROUP, changed, check, left

EVERY = [0, 1, 2, 3]
SCHEMA = Schema(
    t.NestedField(1, "id", t.IntegerType(), required=False),
    t.NestedField(2, "s", t.StructType(t.NestedField(3, "x", t.IntegerType(), required=False)), required=False),
    t.NestedField(4, "k", t.StringType(), required=False),
)
ROWS = pa.table(
    {
        "id": pa.array(range(40), pa.int32()),
        "s": pa.array([None if number % 4 == 0 else {"x": number} for number in range(40)], pa.struct([("x", pa.int32())])),
        "k": pa.array(["one"] * 40),
    }
)
ADDED = [
    column(6, "c", "string", **{"initial-default": "US"}),
    column(7, "d", "decimal(9, 2)", **{"initial-default": "7.50"}),
    column(8, "ts", "timestamp", **{"initial-default": "2024-01-05T10:00:00.500000"}),
    column(9, "day", "date", **{"initial-default": "1969-12-31"}),
    column(10, "f", "float", **{"initial-default": 1.5}),
    column(11, "b", "boolean", **{"initial-default": False}),
    column(12, "n", "long"),
]


def grown(
    catalog: SqlCatalog, added: list[dict[str, Any]], spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC, version: int = 3
) -> Table:
    """A table of one file and four row groups, to which these columns came later."""
    properties = {"write.parquet.row-group-limit": str(PER_GROUP)}
    table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=properties)
    table.append(ROWS)

    def change(metadata: dict[str, Any]) -> None:
        metadata |= {"format-version": version, "last-column-id": 20, **({"next-row-id": 40} if version == 3 else {})}
        for schema in metadata["schemas"]:
            schema["fields"] += added
            schema["fields"][1]["type"]["fields"].append(column(5, "y", "int", **{"initial-default": 7}))
        for snapshot in metadata["snapshots"]:
            snapshot.update({"first-row-id": 0, "added-rows": 40} if version == 3 else {})

    return changed(table, change)


def test_a_column_that_the_file_lacks_is_its_default_in_every_row(catalog: SqlCatalog) -> None:
    table = grown(catalog, ADDED)
    for where in ("c = 'US'", "c IS NOT NULL", "c <> 'CA'", "d = 7.5", "ts = '2024-01-05 10:00:00.5'", "day < '1970-01-01'",
                  "f > 1", "NOT b", "n IS NULL", "c LIKE 'U%'"):  # fmt: skip
        assert check(table, where) == (EVERY, EVERY), where
    for where in ("c = 'CA'", "c IS NULL", "c > 'US'", "d > 7.5", "ts < '2024-01-05'", "day >= '1970-01-01'", "f <> 1.5", "b",
                  "n = 1", "n IS NOT NULL", "c NOT LIKE 'U%'"):  # fmt: skip
        assert check(table, where) == ([], []), where
    assert check(table, "c = 'US' AND id = 12") == ([1], [])
    assert check(table, "c = 'CA' OR id = 12") == ([1], [])


def test_a_nested_default_is_null_where_the_struct_is(catalog: SqlCatalog) -> None:
    table = grown(catalog, ADDED)
    assert check(table, "s.y = 7") == (EVERY, [])
    assert check(table, "s.y IS NULL") == (EVERY, [])
    assert check(table, "s.y = 8") == check(table, "s.y <> 7") == ([], [])


def test_a_file_that_has_the_column_has_its_own_values(catalog: SqlCatalog) -> None:
    """The default of a column that is there says nothing about its NULLs."""
    table = grown(catalog, ADDED)
    assert check(table, "s.x = 22") == ([2], [])
    assert check(table, "s.x IS NULL") == (EVERY, [])


def test_a_partition_value_comes_before_the_default(catalog: SqlCatalog) -> None:
    """A migrated file lacks its partition column; where only some specs have it, what the file has is not known here (T58)."""
    declared = {"fields": [column(1, "k", "string", **{"initial-default": "US"})]}
    (k,) = columns_of(declared)
    assert InitialDefaults(3, declared, frozenset({1})).absent(k) is None
    assert InitialDefaults(3, declared, frozenset()).absent(k) == Absent("US", "US")
    table = grown(catalog, ADDED, PartitionSpec(PartitionField(4, 1000, IdentityTransform(), "k")))
    assert check(table, "k = 'one' AND c = 'US'") == (EVERY, EVERY)


def test_defaults_below_version_three_prove_nothing(catalog: SqlCatalog) -> None:
    table = grown(catalog, [column(6, "c", "string", **{"initial-default": "US"}), column(12, "n", "long")], version=2)
    assert left(table, "c = 'CA'") == left(table, "c IS NULL") == (EVERY, [])
    assert check(table, "n IS NULL") == (EVERY, EVERY)


def columns_of(declared: dict[str, Any]) -> list[Column]:
    fields = iceberg_schema(declared, frozenset(), "", has_lineage=False).fields
    return [Column.at(path) for path in leaf_paths(fields)]


@pytest.mark.parametrize(
    ("type_", "default", "ends"),
    [
        ("int", 7, (7, 7)),
        ("int", 2**31, None),
        ("int", True, None),
        ("int", "7", None),
        ("long", -(2**63), (-(2**63), -(2**63))),
        ("double", 0.1, (0.1, 0.10000000149011612)),  # it may have been a float when the default was set
        ("double", 1e300, None),  # which no float has
        ("double", -0.0, (0.0, 0.0)),
        ("double", "NaN", None),
        ("float", 0.1, (0.10000000149011612, 0.10000000149011612)),
        ("decimal(9, 2)", "7.50", (Decimal("7.50"), Decimal("7.50"))),
        ("decimal(9, 2)", "7.5", None),
        ("decimal(3, 2)", "17.50", None),
        ("decimal(9, 2)", "NaN", None),
        ("date", "2024-01-05", (19727, 19727)),
        ("date", "2024-02-30", None),
        ("date", 19727, None),
        ("timestamp", "1969-12-31T23:59:59.999999", (-1, -1)),
        ("timestamp", "1969-12-31T23:59:59.999999+00:00", None),
        ("timestamptz", "1970-01-01T00:00:01+00:00", (1_000_000, 1_000_000)),
        ("timestamptz", "1970-01-01T00:00:01", None),
        ("timestamptz", "1970-01-01T00:00:01+02:00", None),
        ("string", "", ("", "")),
        ("binary", "00ff", (b"\x00\xff", b"\x00\xff")),
        ("binary", "0", None),
        ("boolean", "true", None),
    ],
)
def test_defaults_are_read_as_the_specification_writes_them(type_: str, default: Any, ends: tuple[Any, Any] | None) -> None:
    declared = {"fields": [column(1, "c", type_, **{"initial-default": default})]}
    (c,) = columns_of(declared)
    expected = None if ends is None else Absent(*ends)
    assert InitialDefaults(3, declared, frozenset()).absent(c) == expected


def test_what_is_required_or_in_a_struct_with_a_default_is_not_known() -> None:
    inner = {"type": "struct", "fields": [column(3, "y", "int")]}
    declared = {"fields": [{**column(1, "c", "int"), "required": True}, column(2, "s", inner, **{"initial-default": {}})]}
    assert [InitialDefaults(3, declared, frozenset()).absent(each) for each in columns_of(declared)] == [None, None]
    del declared["fields"][1]["initial-default"]
    assert [InitialDefaults(3, declared, frozenset()).absent(each) for each in columns_of(declared)] == [None, Absent()]
