"""A generated table written down: real Parquet files and a real Delta log around them.

Commits are JSON; a checkpoint carries `stats`, `stats_parsed` or both. Older commits hold a stale Add of one file and a file
that is removed again, so that reconciliation matters (trap T70).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.soundness.columns import ARROW, ColumnSpec
from tests.soundness.tables import FileSpec, Layout, Table
from tests.soundness.texts import date_text
from tests.soundness.values import TIMESTAMPS

STALE_STATS = '{"numRecords":1,"minValues":{},"maxValues":{},"nullCount":{}}'
_EPOCH = datetime(1970, 1, 1)


def write_table(table: Table, root: Path) -> None:
    """The table below `root`: data files, then the log."""
    log = root / "_delta_log"
    log.mkdir(parents=True)
    for file in table.files:
        write_data(table, file, root)
    write_log(table, log)


def write_log(table: Table, log: Path) -> None:
    adds = [add_action(table, file) for file in table.files]
    head = [protocol_action(table), metadata_action(table)]
    stale = [{**adds[0], "stats": STALE_STATS, "deletionVector": None}] if adds else []
    ghost = {**adds[0], "path": "ghost.parquet", "stats": None, "deletionVector": None}
    _commit(log, 0, [*({next(iter(a)): a[next(iter(a))]} for a in head), *({"add": a} for a in [*stale, ghost])])
    removed = {"path": "ghost.parquet", "deletionTimestamp": 1, "dataChange": True}
    old = adds[0]
    removes = [{"remove": removed}]
    if old.get("deletionVector"):
        removes.append({"remove": {"path": old["path"], "deletionTimestamp": 1, "dataChange": True}})
    if table.layout == Layout.COMMITS:
        half = len(adds) // 2
        _commit(log, 1, [*removes, *({"add": a} for a in adds[: half + 1])])
        _commit(log, 2, [{"commitInfo": {"timestamp": 1}}, *({"add": a} for a in adds[half + 1 :])])
        return
    _commit(log, 1, [*removes, *({"add": a} for a in adds)])
    keep_json = table.layout != Layout.CHECKPOINT_STRUCT
    parsed = table.layout != Layout.CHECKPOINT_JSON
    _checkpoint(table, log, 1, json_stats=keep_json, struct_stats=parsed)
    _commit(log, 2, [{"commitInfo": {"timestamp": 1}}])


def add_action(table: Table, file: FileSpec) -> dict[str, Any]:
    action: dict[str, Any] = {
        "path": file.name,
        "partitionValues": {c.physical[0]: recorded.text for c, recorded in file.partition.items()},
        "size": file.size,
        "modificationTime": 1700000000000,
        "dataChange": True,
        "stats": file.statistics.text(),
    }
    if action["stats"] is None:
        del action["stats"]
    if file.deleted:
        action["deletionVector"] = descriptor(file)
    assert table.files
    return action


def descriptor(file: FileSpec) -> dict[str, Any]:
    return {
        "storageType": "u",
        "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "offset": 1 + 36 * (file.size.bit_length() - 1),
        "sizeInBytes": 36,
        "cardinality": len(file.deleted),
    }


def protocol_action(table: Table) -> dict[str, Any]:
    features = ["timestampNtz", "deletionVectors"] + (["columnMapping"] if table.mapped else [])
    both = {"readerFeatures": features, "writerFeatures": features}
    return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **both}}


def metadata_action(table: Table) -> dict[str, Any]:
    configuration = {"delta.enableDeletionVectors": "true", **table.configuration}
    if table.mapped:
        configuration |= {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "100"}
    return {
        "metaData": {
            "id": "00000000-0000-0000-0000-000000000000",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema_json(table)),
            "partitionColumns": [c.path[0] for c in table.partition_columns],
            "configuration": configuration,
            "createdTime": 1700000000000,
        }
    }


def schema_json(table: Table) -> dict[str, Any]:
    root: dict[str, Any] = {"type": "struct", "fields": []}
    for column in table.columns:
        at = root
        for depth, (name, physical) in enumerate(zip(column.path, column.physical, strict=True)):
            known = next((f for f in at["fields"] if f["name"] == name), None)
            if known is None:
                last = depth == len(column.path) - 1
                type_: Any = column.type if last else {"type": "struct", "fields": []}
                mapping = {
                    "delta.columnMapping.id": hash_id(column.path[: depth + 1]),
                    "delta.columnMapping.physicalName": physical,
                }
                known = {"name": name, "type": type_, "nullable": True, "metadata": mapping if table.mapped else {}}
                at["fields"].append(known)
            at = known["type"] if isinstance(known["type"], dict) else at
    return root


def hash_id(path: Sequence[str]) -> int:
    return sum(ord(c) * (i + 7) for i, c in enumerate("/".join(path))) % 1_000_003


def write_data(table: Table, file: FileSpec, root: Path) -> None:
    """The rows as Parquet under physical names; a row whose struct leaves are all NULL has a NULL struct half of the time."""
    schema = pa.schema([_arrow_field(name, leaves) for name, leaves in _tops(table.data_columns)])
    columns = []
    for position, (_, leaves) in enumerate(_tops(table.data_columns)):
        made = [_nested(row, leaves, 0, odd=bool(i % 2)) for i, row in enumerate(file.rows)]
        columns.append(pa.array(made, type=schema.field(position).type))
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), root / file.name)


def _tops(columns: Iterable[ColumnSpec]) -> list[tuple[str, list[ColumnSpec]]]:
    tops: dict[str, list[ColumnSpec]] = {}
    for column in columns:
        tops.setdefault(column.physical[0], []).append(column)
    return list(tops.items())


def _arrow_field(name: str, leaves: Sequence[ColumnSpec], depth: int = 0) -> pa.Field:
    if len(leaves) == 1 and len(leaves[0].path) == depth + 1:
        return pa.field(name, ARROW[leaves[0].type])
    inner: dict[str, list[ColumnSpec]] = {}
    for leaf in leaves:
        inner.setdefault(leaf.physical[depth + 1], []).append(leaf)
    return pa.field(name, pa.struct([_arrow_field(n, ls, depth + 1) for n, ls in inner.items()]))


def _nested(row: dict[tuple[str, ...], Any], leaves: Sequence[ColumnSpec], depth: int, *, odd: bool) -> Any:
    if len(leaves) == 1 and len(leaves[0].path) == depth + 1:
        return to_arrow(row[leaves[0].path], leaves[0].type)
    if odd and all(row[leaf.path] is None for leaf in leaves):
        return None
    inner: dict[str, list[ColumnSpec]] = {}
    for leaf in leaves:
        inner.setdefault(leaf.physical[depth + 1], []).append(leaf)
    return {name: _nested(row, ls, depth + 1, odd=odd) for name, ls in inner.items()}


def to_arrow(value: Any, type_: str) -> Any:
    if value is None:
        return None
    if type_ == "date":
        return date.fromisoformat(date_text(value))
    return _EPOCH + timedelta(microseconds=value) if type_ in TIMESTAMPS else value


def _commit(log: Path, version: int, actions: Sequence[dict[str, Any]]) -> None:
    lines = [json.dumps(action, ensure_ascii=False) for action in actions]
    (log / f"{version:020d}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _checkpoint(table: Table, log: Path, version: int, *, json_stats: bool, struct_stats: bool) -> None:
    """A classic checkpoint with the reconciled actions."""
    adds = []
    for file in table.files:
        action = dict(add_action(table, file), tags=None)
        action["partitionValues"] = list(action["partitionValues"].items())
        action.setdefault("stats", None)
        action.setdefault("deletionVector", None)
        if not json_stats:
            del action["stats"]
        if struct_stats:
            action["stats_parsed"] = None if file.statistics.broken else _parsed(table, file)
        adds.append(action)
    metadata = dict(metadata_action(table)["metaData"])
    metadata["configuration"] = list(metadata["configuration"].items())
    metadata["format"] = {"provider": "parquet", "options": []}
    rows: list[dict[str, Any]] = [protocol_action(table), {"metaData": metadata}, *({"add": a} for a in adds)]
    schema = _checkpoint_schema(table, json_stats=json_stats, struct_stats=struct_stats)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), log / f"{version:020d}.checkpoint.parquet")
    (log / "_last_checkpoint").write_text(json.dumps({"version": version, "size": len(rows)}))


def _checkpoint_schema(table: Table, *, json_stats: bool, struct_stats: bool) -> pa.Schema:
    text, texts = pa.string(), pa.map_(pa.string(), pa.string())
    dv = [
        ("storageType", text),
        ("pathOrInlineDv", text),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
    add: list[Any] = [("path", text), ("partitionValues", texts), ("size", pa.int64()), ("modificationTime", pa.int64())]
    add += [("dataChange", pa.bool_()), ("tags", texts), ("deletionVector", pa.struct(dv))]
    if json_stats:
        add.append(("stats", text))
    if struct_stats:
        add.append(("stats_parsed", _parsed_type(table)))
    options = [("provider", text), ("options", texts)]
    metadata = [("id", text), ("format", pa.struct(options)), ("schemaString", text), ("partitionColumns", pa.list_(text))]
    metadata += [("configuration", texts), ("createdTime", pa.int64())]
    versions = [("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]
    versions += [("readerFeatures", pa.list_(text)), ("writerFeatures", pa.list_(text))]
    return pa.schema([("add", pa.struct(add)), ("metaData", pa.struct(metadata)), ("protocol", pa.struct(versions))])


def _parsed_type(table: Table) -> pa.DataType:
    ordered = [c for c in table.data_columns if c.type not in ("boolean", "binary")]
    bounds = [_arrow_field(name, leaves) for name, leaves in _tops(ordered)]
    counts = [_count_field(_arrow_field(name, leaves)) for name, leaves in _tops(table.data_columns)]
    fields = [pa.field("numRecords", pa.int64()), pa.field("nullCount", pa.struct(counts)), pa.field("tightBounds", pa.bool_())]
    if bounds:
        fields += [pa.field("minValues", pa.struct(bounds)), pa.field("maxValues", pa.struct(bounds))]
    return pa.struct(fields)


def _count_field(field: pa.Field) -> pa.Field:
    if pa.types.is_struct(field.type):
        return pa.field(field.name, pa.struct([_count_field(child) for child in field.type]))
    return pa.field(field.name, pa.int64())


def _parsed(table: Table, file: FileSpec) -> dict[str, Any]:
    statistics = file.statistics
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    for column in table.data_columns:
        if column.type not in ("boolean", "binary"):
            _place(lows, column, to_arrow(statistics.bounds[column].lo, column.type))
            _place(highs, column, to_arrow(statistics.bounds[column].hi, column.type))
        _place(counts, column, statistics.nulls[column])
    found = {"numRecords": statistics.rows, "nullCount": counts, "tightBounds": statistics.tight}
    return {**found, "minValues": lows, "maxValues": highs}


def _place(root: dict[str, Any], column: ColumnSpec, value: Any) -> None:
    for part in column.physical[:-1]:
        root = root.setdefault(part, {})
    root[column.physical[-1]] = value
