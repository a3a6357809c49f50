"""Random rows as Iceberg tables: metrics as many writers leave them, and partition specs that the rows happen to fit.

A file may have any field whose transform gives one value for all its rows; files with the same fields share a spec, so that
most tables have several. Tuple values are computed by PyIceberg's own transforms.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
from pyiceberg.transforms import parse_transform
from pyiceberg.types import IcebergType
from pyiceberg.types import NestedField as PyField

from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, decimal_bytes, encoded, write_table
from tests.formats.iceberg.widening import wider
from tests.generator.columns import ColumnSpec
from tests.soundness.delta_log import arrow_rows
from tests.soundness.tables import FileSpec, Table, random_table

_TYPES = {
    "integer": "int",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
    **{same: same for same in ("boolean", "long", "float", "double", "string", "binary", "date")},
}
_TRANSFORMS = {
    "int": ("identity", "bucket[3]", "truncate[10]"),
    "long": ("identity", "bucket[3]", "truncate[10]"),
    "string": ("identity", "bucket[4]", "truncate[2]", "truncate[1]"),
    "binary": ("identity", "bucket[4]", "truncate[2]"),
    "date": ("identity", "bucket[4]", "year", "month", "day"),
    "timestamp": ("identity", "bucket[4]", "year", "month", "day", "hour"),
    "timestamptz": ("identity", "bucket[4]", "year", "month", "day", "hour"),
    "decimal": ("identity", "bucket[3]", "truncate[50]"),
}
_UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000}


def iceberg_type(type_: str) -> str:
    return _TYPES.get(type_, type_)


def random_iceberg_table(rng: Random) -> Table:
    """A random table without what Iceberg does not have: partition columns of their own, bytes and shorts, physical names."""
    table = random_table(rng)
    smaller = {"byte": "integer", "short": "integer"}
    columns = tuple(replace(c, physical=c.path, type=smaller.get(c.type, c.type)) for c in table.data_columns)
    files = tuple(replace(file, name=f"data/{file.name}", partition={}) for file in table.files)
    return replace(table, columns=columns, files=files, mapped=False, nan_aware=False)


def write(
    table: Table,
    root: Path,
    rng: Random,
    forget: Random | None = None,
    widen: Random | None = None,
    recorded: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> None:
    """Data files by pyarrow, metadata by hand, one to three files or all of a spec in a manifest.

    `forget` takes some of the metrics out again, `widen` makes some bounds wider, `recorded` changes entries of the manifest
    list; nothing else is changed by them.
    """
    for file in table.files:
        place = root / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(arrow_rows(table, file), place)
    fields, ids = _schema(table.columns)
    possible = _possible_fields(table.columns, ids)
    specs: dict[int, Sequence[SpecField]] = {0: ()}
    entries = []
    for file in table.files:
        own = {each: value for each, leaf in possible.items() if (value := _tuple_value(each, leaf, file, rng)) is not _NONE}
        chosen = rng.sample(list(own), min(len(own), rng.choice([0, 1, 1, 2, 3])))
        spec = next((number for number, known in specs.items() if list(known) == chosen), len(specs))
        specs[spec] = chosen
        tuple_ = {each.field_id: own[each] for each in chosen}
        metrics = _recorded(file, table.columns, ids, rng)
        if forget is not None:
            metrics = {
                kind: {key: value for key, value in recorded.items() if forget.random() < 0.6}
                for kind, recorded in metrics.items()
                if forget.random() < 0.8
            }
        if widen is not None:
            types = {ids[column.path]: iceberg_type(column.type) for column in table.columns}
            metrics = {
                kind: {key: _wider(kind, value, types[key], widen) for key, value in recorded.items()}
                for kind, recorded in metrics.items()
            }
        entries.append(Entry(str(root / file.name), len(file.rows), file.size, spec, tuple_, metrics))
        if file.deleted:
            path = str(root / file.name)
            vector = Entry(
                f"{root}/dv.puffin", len(file.deleted), 1, spec, entries[-1].tuple, content=1, format="PUFFIN", referenced=path
            )
            entries.append(replace(vector, size=100))
    layout = Layout(3, rng.choice(["deflate", "null"]), summaries=rng.random() < 0.8)
    per_manifest = rng.choice([1, 2, 3, len(entries) + 1])
    write_table(root, fields, entries, specs, replace(layout, per_manifest=per_manifest, recorded=recorded))


def _wider(kind: str, value: Any, type_: str, rng: Random) -> Any:
    if not kind.endswith("bounds") or value is None or rng.random() < 0.3:
        return value
    if type_.startswith("timestamp"):  # a microsecond more may be less: a whole millisecond stands for 999 of them
        (micros,) = struct.unpack("<q", value)
        return struct.pack("<q", micros + (86_400_000_000 if kind == "upper_bounds" else -86_400_000_000))
    return wider(value, type_, rng, is_upper=kind == "upper_bounds")


def _schema(columns: Sequence[ColumnSpec]) -> tuple[list[dict[str, Any]], dict[tuple[str, ...], int]]:
    ids: dict[tuple[str, ...], int] = {}

    def fields(leaves: Sequence[ColumnSpec], depth: int) -> list[dict[str, Any]]:
        found = []
        for name in dict.fromkeys(leaf.path[depth] for leaf in leaves):
            own = [leaf for leaf in leaves if leaf.path[depth] == name]
            path = own[0].path[: depth + 1]
            ids[path] = len(ids) + 1
            if len(own[0].path) == depth + 1:
                found.append(column(ids[path], name, iceberg_type(own[0].type)))
            else:
                found.append(column(ids[path], name, {"type": "struct", "fields": fields(own, depth + 1)}))
        return found

    return fields(columns, 0), ids


def _possible_fields(columns: Sequence[ColumnSpec], ids: dict[tuple[str, ...], int]) -> dict[SpecField, ColumnSpec]:
    found: dict[SpecField, ColumnSpec] = {}
    for leaf in columns:
        type_ = iceberg_type(leaf.type)
        names = _TRANSFORMS.get("decimal" if type_.startswith("decimal") else type_, ("identity",))
        for transform in (*names, "void"):
            number = 1000 + len(found)
            result = type_ if transform.startswith(("identity", "truncate")) else "int"
            found[SpecField(ids[leaf.path], transform, f"f{number}", number, result)] = leaf
    return found


_NONE = object()


def _tuple_value(each: SpecField, leaf: ColumnSpec, file: FileSpec, rng: Random) -> Any:
    """The one value that the transform gives all rows of the file, _NONE when there are several or no rows."""
    if each.transform == "void":
        return None
    apply = parse_transform(each.transform).transform(_pyiceberg(iceberg_type(leaf.type)))
    values = [None if row[leaf.path] is None else apply(row[leaf.path]) for row in file.rows]
    if not values or len({repr(value) for value in values}) > 1:
        return _NONE
    (value,) = {repr(value): value for value in values}.values()
    if each.transform.startswith("truncate") and isinstance(value, int):
        most = 2**31 if each.type == "int" else 2**63
        return (value + most) % (2 * most) - most  # Java's integers wrap around
    unit = _UNITS.get(each.transform)
    if unit and value is not None and value < 0 and leaf.type != "date" and rng.random() < 0.3:
        raw = {math.trunc(row[leaf.path] / unit) for row in file.rows}  # as old writers did: toward zero (T11)
        return raw.pop() if len(raw) == 1 else value
    return value


def _pyiceberg(type_: str) -> IcebergType:
    return PyField.model_validate({"id": 1, "name": "x", "type": type_, "required": False}).field_type


def _recorded(
    file: FileSpec, columns: Sequence[ColumnSpec], ids: dict[tuple[str, ...], int], rng: Random
) -> dict[str, dict[int, Any]]:
    """The maps of metrics that a writer leaves behind; some are missing, some lack a column."""
    metrics: dict[str, dict[int, Any]] = {
        kind: {} for kind in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    }
    for leaf in columns:
        for kind, value in _metrics(leaf, [row[leaf.path] for row in file.rows], rng).items():
            if rng.random() > 0.08:
                metrics[kind][ids[leaf.path]] = value
    return {kind: recorded for kind, recorded in metrics.items() if rng.random() > 0.05}


def _metrics(leaf: ColumnSpec, values: Sequence[Any], rng: Random) -> dict[str, Any]:
    present = [value for value in values if value is not None]
    numbers = [value for value in present if value == value]
    skips_nulls = len(leaf.path) > 1 and rng.random() < 0.3  # T34: rows under a NULL struct are not counted
    found: dict[str, Any] = {
        "value_counts": len(present) if skips_nulls else len(values),
        "null_value_counts": 0 if skips_nulls else len(values) - len(present),
    }
    if leaf.type in ("float", "double"):
        found["nan_value_counts"] = len(present) - len(numbers)
        if len(numbers) < len(present) and rng.random() < 0.1:
            numbers = [math.nan]  # T2
    if not numbers:
        return found
    low, high = min(numbers), max(numbers)
    if leaf.type in ("timestamp", "timestamp_ntz") and rng.random() < 0.2:  # T5: toward zero, as UniForm does
        low, high = (math.trunc(Decimal(bound) / 1000) * 1000 for bound in (low, high))
    return {**found, "lower_bounds": _bound(low, leaf.type, rng), "upper_bounds": _upper(high, leaf.type, rng)}


def _upper(value: Any, type_: str, rng: Random) -> bytes:
    if type_ == "string" and len(value) > 16:
        return str(value[:16]).encode() if rng.random() < 0.3 else (value[:15] + "\U0010ffff").encode()
    return _bound(value, type_, rng)


def _bound(value: Any, type_: str, rng: Random) -> bytes:
    if type_ == "string":
        return str(value[:16]).encode()
    if type_ == "long" and -(2**31) <= value < 2**31 and rng.random() < 0.3:
        return encoded(value, "int")  # T57
    if type_ == "timestamp_ntz" and value % 86_400_000_000 == 0 and abs(value) < 10**15 and rng.random() < 0.3:
        return encoded(value // 86_400_000_000, "date")
    if isinstance(value, Decimal):
        return decimal_bytes(value)
    return encoded(value, iceberg_type(type_))
