"""A generated table written down: real Parquet files and a real Delta log around them.

Commits are JSON; a checkpoint carries `stats`, `stats_parsed` or both. Older commits hold a stale Add of one file and a file
that is removed again, so that reconciliation matters (trap T70). Each writer commits its own files, and Delta Spark deletes rows
of all of them: what it adds again then has the statistics of whoever wrote the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from demo.delta_log import Action, add, commit_info, deletion_vector, featured, field, mapping, metadata, remove, write_commit
from tests.builders.checkpoint import write_checkpoint
from tests.generator.columns import ARROW, ColumnSpec
from tests.generator.texts import date_text
from tests.generator.values import TIMESTAMPS
from tests.soundness.tables import FileSpec, Layout, Table
from tests.soundness.writers import Writer

SPARKS = (Writer.SPARK, Writer.OLD_SPARK)
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
    first = adds[0]["add"]
    stale, ghost = add(first["path"], STALE_STATS, size=first["size"]), add("ghost.parquet", size=first["size"])
    for old in (stale, ghost):
        old["add"]["partitionValues"] = first["partitionValues"]
    write_commit(log, 0, [protocol_action(table), metadata_action(table), stale, ghost])
    written = [
        (file.statistics.writer in SPARKS, _without_vector(action)) for file, action in zip(table.files, adds, strict=True)
    ]
    others = commit_info(engine="another-engine/1.0", numOutputRows=1)
    write_commit(log, 1, [others, remove("ghost.parquet"), *(action for by_spark, action in written if not by_spark)])
    write_commit(log, 2, [commit_info(numOutputRows=1), *(action for by_spark, action in written if by_spark)])
    vectors = [action for action in adds if "deletionVector" in action["add"]]
    deleted = [step for action in vectors for step in (remove(action["add"]["path"]), action)]
    write_commit(log, 3, [commit_info("DELETE", numDeletedRows=1), *deleted])
    if table.layout != Layout.COMMITS:
        _checkpoint(table, log, 3)
        write_commit(log, 4, [{"commitInfo": {"timestamp": 1}}])


def add_action(table: Table, file: FileSpec) -> Action:
    partition = {c.physical[0]: recorded.text for c, recorded in file.partition.items()}
    dv = deletion_vector(len(file.deleted), 1 + 36 * (file.size.bit_length() - 1)) if file.deleted else None
    assert table.files
    return add(file.name, file.statistics.text(), size=file.size, partition=partition, dv=dv)


def _without_vector(action: Action) -> Action:
    """The same file before rows were deleted from it."""
    about = {key: value for key, value in action["add"].items() if key != "deletionVector"}
    if about.get("stats") is not None:
        about["stats"] = about["stats"].replace('"tightBounds":false', '"tightBounds":true')
    return {"add": about}


def protocol_action(table: Table) -> Action:
    return featured("timestampNtz", "deletionVectors", *(["columnMapping"] if table.mapped else []))


def metadata_action(table: Table) -> Action:
    configuration = {"delta.enableDeletionVectors": "true", **table.configuration}
    if table.mapped:
        configuration |= {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "100"}
    return metadata(columns_of(table), [c.path[0] for c in table.partition_columns], configuration)


def columns_of(table: Table) -> dict[str, Action]:
    """The top-level columns as fields of the schema; leaves of one struct share its field."""
    root: Action = {"fields": []}
    for column in table.columns:
        at = root
        for depth, (name, physical) in enumerate(zip(column.path, column.physical, strict=True)):
            known = next((f for f in at["fields"] if f["name"] == name), None)
            if known is None:
                is_last = depth == len(column.path) - 1
                kind = column.type if is_last else {"type": "struct", "fields": []}
                known = field(name, kind, mapping(hash_id(column.path[: depth + 1]), physical) if table.mapped else None)
                at["fields"].append(known)
            at = known["type"] if isinstance(known["type"], dict) else at
    return {known["name"]: known for known in root["fields"]}


def hash_id(path: Sequence[str]) -> int:
    return sum(ord(c) * (i + 7) for i, c in enumerate("/".join(path))) % 1_000_003


def write_data(table: Table, file: FileSpec, root: Path) -> None:
    pq.write_table(arrow_rows(table, file), root / file.name)


def arrow_rows(table: Table, file: FileSpec) -> pa.Table:
    """The rows under physical names; a row whose struct leaves are all NULL has a NULL struct half of the time."""
    schema = pa.schema([_arrow_field(name, leaves) for name, leaves in _tops(table.data_columns)])
    columns = []
    for position, (_, leaves) in enumerate(_tops(table.data_columns)):
        made = [_nested(row, leaves, 0, odd=bool(i % 2)) for i, row in enumerate(file.rows)]
        columns.append(pa.array(made, type=schema.field(position).type))
    return pa.Table.from_arrays(columns, schema=schema)


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


def _checkpoint(table: Table, log: Path, version: int) -> None:
    """A classic checkpoint with the reconciled actions."""
    has_json, has_struct = table.layout != Layout.CHECKPOINT_STRUCT, table.layout != Layout.CHECKPOINT_JSON
    adds = [add_action(table, file) for file in table.files]
    for file, action in zip(table.files, adds, strict=True):
        if has_struct and not file.statistics.broken:
            action["add"]["stats_parsed"] = _parsed(table, file)
    actions = [protocol_action(table), metadata_action(table), *adds]
    path = log / f"{version:020d}.checkpoint.parquet"
    write_checkpoint(path, actions, parsed=_parsed_type(table) if has_struct else None, json_stats=has_json)
    (log / "_last_checkpoint").write_text(json.dumps({"version": version, "size": len(actions)}))


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
