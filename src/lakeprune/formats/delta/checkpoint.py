"""What a checkpoint holds: where its file actions lie, and the table state it recorded.

In: a checkpoint by name. Out: `Checkpoint`, or `CheckpointUnusable` when a file is damaged or a sidecar is missing; an older
checkpoint or the commits alone can then serve. Whether a checkpoint is V2 is decided by its content, never by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import TableState, action_lines, parsed_line, state_of_action, state_of_lines
from lakeprune.formats.delta.log_files import SIDECARS, CheckpointFile
from lakeprune.formats.delta.statistics import StatisticsSql
from lakeprune.storage.storage import Column, ColumnUse, Storage

_PARSED = ("add", "stats_parsed")


class CheckpointUnusable(Exception):
    """Why this checkpoint cannot be read."""


class ParquetPart(Struct, frozen=True):
    """Parquet files with file actions, and the fields they have."""

    paths: tuple[str, ...]
    fields: dict[str, Any]
    bytes: int


class JsonPart(Struct, frozen=True):
    paths: tuple[str, ...]
    largest: int
    bytes: int


class Checkpoint(Struct, frozen=True):
    version: int
    parts: tuple[ParquetPart | JsonPart, ...]
    state: TableState


def read_checkpoint(engine: Engine, storage: Storage, file: CheckpointFile) -> Checkpoint:
    """Opens it: footers and the few rows that are not about files."""
    try:
        return _read_json(engine, storage, file) if file.is_json else _read_parquet(engine, storage, file)
    except EngineError as error:
        raise CheckpointUnusable(storage.with_places(str(error))) from error
    except TableError as error:
        raise CheckpointUnusable(f"{error.what}: {error.why or error.where}") from error


def _read_json(engine: Engine, storage: Storage, file: CheckpointFile) -> Checkpoint:
    (path,) = file.paths
    place = storage.place(path)
    lines = list(action_lines(storage, path))
    sidecars = [sidecar for number, line in lines if isinstance(sidecar := parsed_line(line, number, place).get("sidecar"), dict)]
    parts: list[ParquetPart | JsonPart] = [JsonPart(storage.engine_paths(file.paths), file.bytes, file.bytes)]
    parts += _sidecar_part(engine, storage, [str(sidecar.get("path")) for sidecar in sidecars])
    return Checkpoint(file.version, tuple(parts), state_of_lines(lines, place))


def _read_parquet(engine: Engine, storage: Storage, file: CheckpointFile) -> Checkpoint:
    paths = storage.parquet_paths(file.paths, engine.parquet_chunks, column_use)
    fields = engine.parquet_fields(paths)
    source = engine.parquet_source(paths)
    state, sidecars = _small_rows(engine, source, fields, storage.place(file.paths[0]))
    parts: list[ParquetPart | JsonPart] = list(_sidecar_part(engine, storage, sidecars))
    if isinstance(fields.get("add"), dict) and "path" in fields["add"]:
        # The protocol says: with sidecars, nothing inline. Looking costs little, and a file lost here would be lost silently.
        add = engine.dialect.field(engine.dialect.identifier("add"), ["path"])
        if not sidecars or engine.query(f"SELECT 1 FROM {source} WHERE {add} IS NOT NULL LIMIT 1"):
            parts.append(ParquetPart(paths, fields, file.bytes))
    return Checkpoint(file.version, tuple(parts), state)


def _sidecar_part(engine: Engine, storage: Storage, names: list[str]) -> list[ParquetPart]:
    if not names:
        return []
    paths, sizes = [], []
    for name in names:
        path = f"{SIDECARS}/{unquote(name).rsplit('/', 1)[-1]}"
        size = storage.size(path)
        if not size:
            raise CheckpointUnusable(f"its sidecar {name} is missing")
        paths.append(path)
        sizes.append(size)
    places = storage.parquet_paths(paths, engine.parquet_chunks, column_use)
    return [ParquetPart(places, engine.parquet_fields(places), sum(sizes))]


_WANTED = {
    "protocol": ("minReaderVersion", "minWriterVersion", "readerFeatures", "writerFeatures"),
    "metaData": ("id", "schemaString", "partitionColumns", "configuration", "name", "description", "createdTime"),
    "domainMetadata": ("domain", "configuration", "removed"),
    "sidecar": ("path",),
}


def _small_rows(engine: Engine, source: str, fields: dict[str, Any], place: str) -> tuple[TableState, list[str]]:
    """The table state and the sidecar names, from the columns that hold them and no others."""
    dialect = engine.dialect
    wanted = [
        (action, name)
        for action, names in _WANTED.items()
        if isinstance(fields.get(action), dict)
        for name in names
        if name in fields[action]
    ]
    if not wanted:
        return TableState(), []
    items = [dialect.field(dialect.identifier(action), [name]) for action, name in wanted]
    keys = [f"{item} IS NOT NULL" for item, (action, name) in zip(items, wanted, strict=True) if name == _WANTED[action][0]]
    state, sidecars = TableState(), []
    for row in engine.query(f"SELECT {', '.join(items)} FROM {source} WHERE {' OR '.join(keys)}"):
        action: dict[str, dict[str, Any]] = {}
        for (kind, name), value in zip(wanted, row, strict=True):
            if value is not None:
                action.setdefault(kind, {})[name] = value
        state = state_of_action(action, place).or_older(state)
        if "sidecar" in action:
            sidecars.append(str(action["sidecar"]["path"]))
    return state, sidecars


def column_use(column: Column) -> ColumnUse:
    """Whether a column of a Parquet checkpoint is always read, never, or only for some predicates; what is not listed is fetched.

    >>> column_use(("add", "path")), column_use(("remove", "path")), column_use(("add", "stats_parsed", "minValues", "x"))
    (<ColumnUse.ALWAYS: 'always'>, <ColumnUse.NEVER: 'never'>, <ColumnUse.PERHAPS: 'perhaps'>)
    """
    if column[0] in ("remove", "txn") or column[:2] == ("add", "tags"):
        return ColumnUse.NEVER  # tombstones and the like, which a snapshot has no use for
    return ColumnUse.PERHAPS if column[:2] == _PARSED else ColumnUse.ALWAYS


def needed_for(statistics: StatisticsSql) -> Callable[[Column], bool]:
    """Whether a typed statistic takes part in answering about these columns."""
    names = {_joined((*_PARSED, "numRecords"))}
    for column in statistics.columns:
        names |= {_joined((*_PARSED, part, *column.physical)) for part in ("minValues", "maxValues", "nullCount")}

    def is_needed(column: Column) -> bool:
        name = _joined(column)
        return len(column) == len(_PARSED) or name in names or any(name.startswith(f"{other}, ") for other in names)

    return lambda column: column[:2] == _PARSED and is_needed(column)


def _joined(column: Column) -> str:
    """As footers are described: joined by what a name may hold too; without case, which an engine may not look at."""
    return ", ".join(column).lower()
