"""Actions of a Delta log as dictionaries, and the commits that hold them: the one writer of logs for demo, tests and benchmarks.

In: what a table should look like. Out: action dictionaries and `_delta_log` files. Nothing is checked, so that tests can write
what no real writer would.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Action = dict[str, Any]
DELTA_SPARK = "Apache-Spark/4.1.4 Delta-Lake/4.4.0"  # how it names itself
TIME = 1704067200000  # 2024-01-01, of everything that happens in these logs


def protocol(reader: int = 1, writer: int = 2, **features: Sequence[str]) -> Action:
    """`protocol(3, 7, readerFeatures=[...], writerFeatures=[...])` for tables with features."""
    return {"protocol": {"minReaderVersion": reader, "minWriterVersion": writer, **features}}


def featured(*features: str) -> Action:
    """The protocol of a table whose readers and writers must know these features."""
    return protocol(3, 7, readerFeatures=list(features), writerFeatures=list(features))


def metadata(
    columns: Mapping[str, Any], partition_by: Sequence[str] = (), configuration: Mapping[str, str] | None = None
) -> Action:
    """`metadata({"age": "integer"})`: every column nullable; a type, or a whole field as a dictionary with its name."""
    fields = [
        kind if isinstance(kind, dict) and "name" in kind else field(name, kind)  # a type may be a dictionary, too
        for name, kind in columns.items()
    ]
    return {
        "metaData": {
            "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": list(partition_by),
            "configuration": dict(configuration or {}),
            "createdTime": TIME,
        }
    }


def field(name: str, kind: Any, about: Mapping[str, Any] | None = None) -> Action:
    """A nullable column of a schema; `about` is its metadata."""
    return {"name": name, "type": kind, "nullable": True, "metadata": dict(about or {})}


def mapping(number: int, physical: str) -> Action:
    """The metadata of a column whose name in the files is another one."""
    return {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}


def add(
    path: str,
    stats: Any = None,
    *,
    size: Any = 1000,
    partition: Mapping[str, str | None] | None = None,
    dv: Action | None = None,
    modified: int = TIME,
) -> Action:
    """A live file; `stats` is the statistics object, a ready-made text, or None for a file without statistics."""
    action: Action = {
        "path": path,
        "partitionValues": dict(partition or {}),
        "size": size,
        "modificationTime": modified,
        "dataChange": True,
    }
    if stats is not None:
        action["stats"] = stats if isinstance(stats, str) else json.dumps(stats, separators=(",", ":"))
    if dv is not None:
        action["deletionVector"] = dv
    return {"add": action}


def commit_info(operation: str = "WRITE", engine: str = DELTA_SPARK, **metrics: Any) -> Action:
    """What a commit says of itself; `commit_info(numOutputRows=3)` as Delta Spark does after a write."""
    reported = {name: str(number) for name, number in metrics.items()}
    return {"commitInfo": {"timestamp": TIME, "operation": operation, "operationMetrics": reported, "engineInfo": engine}}


def remove(path: str, *, dv: Action | None = None, **fields: Any) -> Action:
    """A file that is not live any more."""
    vector = {} if dv is None else {"deletionVector": dv}
    return {"remove": {"path": path, "deletionTimestamp": TIME, "dataChange": True, **vector, **fields}}


def deletion_vector(cardinality: int, offset: int | None = 1, *, name: str = "ab^-aqEH.-t@S}K{vb[*k^") -> Action:
    """The descriptor of a deletion vector in a file of its own."""
    place = {} if offset is None else {"offset": offset}
    return {"storageType": "u", "pathOrInlineDv": name, **place, "sizeInBytes": 36, "cardinality": cardinality}


def statistics(rows: Any, **columns: tuple[Any, Any, Any]) -> Action:
    """`statistics(10, age=(18, 65, 0))`: rows, and per column minimum, maximum, null count; None leaves one out."""
    return {
        "numRecords": rows,
        "minValues": {name: lo for name, (lo, _, _) in columns.items() if lo is not None},
        "maxValues": {name: hi for name, (_, hi, _) in columns.items() if hi is not None},
        "nullCount": {name: nulls for name, (_, _, nulls) in columns.items() if nulls is not None},
    }


def write_log(path: Path, commits: Sequence[Iterable[Mapping[str, Any]]]) -> Path:
    """A table of nothing but a log: one list of actions per version."""
    log = path / "_delta_log"
    log.mkdir(parents=True)
    for version, actions in enumerate(commits):
        write_commit(log, version, actions)
    return path


def write_commit(log: Path, version: int, actions: Iterable[Mapping[str, Any]]) -> None:
    write_lines(log / f"{version:020d}.json", actions)


def write_lines(path: Path, actions: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object per line, as in a commit."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(action, separators=(",", ":"), ensure_ascii=False) + "\n" for action in actions)
