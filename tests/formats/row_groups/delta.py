"""Delta tables around real Parquet files whose log says nothing about values: only footers prove anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakeprune
from demo.delta_log import Action, add, metadata, protocol, write_log
from lakeprune.report.model import FileReport

TYPES = {
    pa.int8(): "byte", pa.int16(): "short", pa.int32(): "integer", pa.int64(): "long", pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string", pa.binary(): "binary", pa.bool_(): "boolean", pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz", pa.timestamp("ms"): "timestamp_ntz", pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("ms", "UTC"): "timestamp",
}  # fmt: skip


def type_name(kind: pa.DataType) -> str:
    return f"decimal({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else TYPES[kind]


def delta_of(
    root: Path, columns: Mapping[str, Any], actions: Sequence[Action], *, head: Action | None = None, **more: Any
) -> Path:
    """A table of these columns and files."""
    return write_log(root, [[head or protocol(), metadata(columns, **more), *actions]])


def one_column(root: Path, values: Sequence[Any], kind: pa.DataType, declared: str | None = None, **options: Any) -> Path:
    """A table of one file, whose column `x` has these values; the log has no statistics."""
    root.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"x": pa.array(values, kind)}), root / "f.parquet", **options)
    return delta_of(root, {"x": declared or type_name(kind)}, [add("f.parquet")])


def files(table: Path, where: str, **options: Any) -> dict[str, FileReport]:
    report = lakeprune.explain(table, where, row_groups=True, **{"nan_policy": "strict", **options})
    return {file.path: file for file in report.files}


def groups(table: Path, where: str, path: str = "f.parquet", **options: Any) -> str:
    """The verdicts of a file's row groups: `D` dropped, `K` kept, `F` fully matched."""
    found = files(table, where, **options)[path].row_groups
    assert isinstance(found, list)
    return "".join(group.verdict.name[0] for group in found)
