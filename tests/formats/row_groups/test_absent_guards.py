"""Columns that a data file lacks, or seems to: with each guard switched off a row group is dropped that has a matching row.

The judge is PyIceberg, which reads all rows of the table; then the predicate is applied to them (T55, T56, T58).
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform

from lakeprune.formats.iceberg import specs
from lakeprune.formats.iceberg.initial_defaults import InitialDefaults
from lakeprune.formats.row_groups import footers
from lakeprune.formats.snapshot import Absent
from tests.formats.iceberg.tables import column
from tests.formats.row_groups.by_pyiceberg import check, place
from tests.formats.row_groups.delta import files
from tests.formats.row_groups.test_initial_defaults import grown
from tests.formats.row_groups.test_name_mapping import imported

Patch = pytest.MonkeyPatch
WRONG = "dropped"  # what the judge says


def test_a_column_with_a_default_is_not_null_where_it_is_lacking(catalog: SqlCatalog, monkeypatch: Patch) -> None:
    """T55."""
    table = grown(catalog, [column(6, "c", "string", **{"initial-default": "US"})])
    assert check(table, "c = 'US'")[0]
    monkeypatch.setattr(InitialDefaults, "absent", lambda _self, _column: Absent())
    with pytest.raises(AssertionError, match=WRONG):
        check(table, "c = 'US'")


def test_a_column_under_another_name_is_not_lacking(catalog: SqlCatalog, monkeypatch: Patch) -> None:
    """T56: the file has no field ids, and only the name mapping says which of its columns is `id`."""
    table = imported(catalog)
    assert check(table, "id = 42")[0] == [4]
    monkeypatch.setattr(footers, "identified", lambda elements, _ids_by_name: (elements, True))
    with pytest.raises(AssertionError, match=WRONG):
        check(table, "id = 42")


def test_a_migrated_file_has_its_partition_value_though_it_lacks_the_column(catalog: SqlCatalog, monkeypatch: Patch) -> None:
    """T58: only one of two specs has the value, so that the column is not known by value in the whole table."""
    schema = Schema(t.NestedField(1, "id", t.LongType(), required=False), t.NestedField(2, "k", t.StringType(), required=False))
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "k"))
    table = catalog.create_table("db.t", schema, partition_spec=spec, properties={"write.metadata.metrics.default": "none"})
    table.append(pa.table({"id": [1, 2], "k": ["one", "one"]}))
    ((migrated,),) = [list(place(table).glob("data/**/*.parquet"))]
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table({"id": [1, 2]}, schema=pa.schema([field])), migrated)
    with table.update_spec() as change:
        change.remove_field("k")
    table.append(pa.table({"id": [3], "k": ["two"]}))
    assert sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"]) == [
        {"id": 1, "k": "one"}, {"id": 2, "k": "one"}, {"id": 3, "k": "two"},
    ]  # fmt: skip

    def kept() -> list[str]:
        return [Path(path).name for path, file in files(place(table), "k = 'one'").items() if file.kept]

    assert kept() == [migrated.name]
    honest = InitialDefaults.absent
    with monkeypatch.context() as patch:
        patch.setattr(specs, "_TELLING", re.compile("never"))  # the tuple says nothing
        assert kept() == [migrated.name]
    monkeypatch.setattr(
        InitialDefaults, "absent", lambda self, column: honest(InitialDefaults(self.version, self.declared, frozenset()), column)
    )
    assert kept() == [migrated.name], "a NULL that the partition value contradicts proves nothing"
    monkeypatch.setattr(specs, "_TELLING", re.compile("never"))
    assert kept() == []
