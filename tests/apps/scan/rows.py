"""Rows of every hand-off in one comparable form, and random tables whose deletion vectors are real."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import pyarrow as pa
import pytest

from demo.delta_log import Action
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.apps.scan.options import ScanOptions
from tests.formats.delta.test_deletion_vectors import base85, bitmap
from tests.soundness import delta_log
from tests.soundness.tables import FileSpec, Table

Rows = Counter[str]


def arrow(plan: ScanPlan, options: ScanOptions | None = None) -> pa.Table:
    return plan.to_arrow(options).read_all()


def arrow_dataset(plan: ScanPlan, options: ScanOptions | None = None) -> pa.Table:
    return plan.to_arrow_dataset(options).to_table()


def duckdb_relation(plan: ScanPlan, options: ScanOptions | None = None) -> pa.Table:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return plan.to_duckdb(connection, options).to_arrow_table()


def polars_frame(plan: ScanPlan, options: ScanOptions | None = None) -> pa.Table:
    return plan.to_polars(options).collect().to_arrow()


def datafusion_table(plan: ScanPlan, options: ScanOptions | None = None) -> pa.Table:
    frame = plan.register_datafusion(datafusion.SessionContext(), "planned", options)
    batches = frame.collect()
    return pa.Table.from_batches(batches, schema=batches[0].schema if batches else frame.schema())


WAYS: tuple[Callable[..., pa.Table], ...] = (arrow, arrow_dataset, duckdb_relation, polars_frame, datafusion_table)


def rows_of(table: pa.Table, schema: pa.Schema | None = None) -> Rows:
    """How often each row comes; in the types of a schema, because engines have their own for text and zones."""
    if schema is not None:
        assert table.column_names == schema.names
        table = table.cast(schema)
    return Counter(repr(_plain(row)) for row in table.to_pylist())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


@contextmanager
def real_vectors() -> Iterator[None]:
    """Inside, tables of the generator carry deletion vectors that delete the rows they say."""
    fake = delta_log.add_action

    def real(table: Table, file: FileSpec) -> Action:
        action = fake(table, file)
        if file.deleted:
            data = bitmap(set(file.deleted))
            about = {"storageType": "i", "pathOrInlineDv": base85(data), "sizeInBytes": len(data)}
            action["add"]["deletionVector"] = {**about, "cardinality": len(file.deleted)}
        return action

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delta_log, "add_action", real)
        yield


@contextmanager
def hidden_others(plan: ScanPlan, root: Path) -> Iterator[int]:
    """Inside, every data file that is not planned is away: whoever opens one fails. Gives how many there are."""
    planned = set(plan.files.column("uri").to_pylist())
    others = [path for path in root.rglob("*.parquet") if "_delta_log" not in path.parts and str(path) not in planned]
    for path in others:
        path.rename(path.with_name(path.name + ".hidden"))
    try:
        yield len(others)
    finally:
        for path in others:
            path.with_name(path.name + ".hidden").rename(path)
