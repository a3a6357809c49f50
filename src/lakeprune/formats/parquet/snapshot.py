"""Plain Parquet files: their facts, and the SQL of their files relation.

In: the files as listed, the fields of their schemas. Out: the relation of formats/relation.py. The footers of a column are read
when a relation first needs it, and only once: data pages never.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import carrier
from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.parquet.bounds import files_sql, is_denied
from lakeprune.formats.parquet.hive import Texts, value_of, value_sql
from lakeprune.formats.parquet.legacy_calendar import is_movable
from lakeprune.formats.relation import Needs, Relation, flags_of, relation_of
from lakeprune.formats.row_source import RowSource
from lakeprune.formats.snapshot import ParquetFiles, Snapshot, SnapshotFacts, in_short
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.storage.storage import Entry, Storage
from lakeprune.values.types import Family, Scalar

_CHUNK = {
    "rows": "BIGINT",
    "num_values": "BIGINT",
    "min_text": "STRING",
    "max_text": "STRING",
    "is_max_exact": "BOOLEAN",
    "nulls": "BIGINT",
    "nans": "BIGINT",
    "has_type_order": "BOOLEAN",
    "is_julian": "BOOLEAN",
}


class ParquetFile(Struct, frozen=True):
    entry: Entry
    place: str  # where the engine finds it
    rows: int
    texts: Texts


class ParquetSnapshot(Snapshot):
    def __init__(self, facts: SnapshotFacts, storage: Storage, files: Sequence[ParquetFile]) -> None:
        self.facts = facts
        self._storage = storage
        self._files = files
        self._chunks: dict[str, list[tuple[Any, ...]]] = {}  # of a leaf, once they are read

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002  # footers count NaN or do not
        names, dialect = relation_of(needs), engine.dialect
        data = [seen for seen in needs.domains if seen.column.role is Role.DATA and seen.column.statistics_unusable is None]
        self._read(engine, [seen.column for seen in data])
        partitions = self.facts.partition_columns
        items = ["size", "files.rows AS rows", "0 AS deleted", "TRUE AS has_stats", "FALSE AS has_dv"]
        if needs.paths:
            values = dialect.json_object([(name, f"t{k}") for k, name in enumerate(partitions)]) if partitions else "'{}'"
            items += ["path", f"{values} AS partition"]
        if needs.times:
            items.append("modified")
        if needs.records:
            items += [f"CAST(NULL AS STRING) AS {name}" for name in ("stats_text", "vector")]
        source = f"{self._listed(engine)} AS files"
        for k, seen in enumerate(needs.domains):
            if seen.column.role is Role.PARTITION:
                text = f"t{partitions.index(seen.column.physical[0])}"
                items += _partition(seen, names, value_sql(dialect, text, seen.type), text)
            elif seen in data:
                footers = files_sql(dialect, seen, names, self._lookup(engine, seen.column))
                # Row groups that do not add up to the file are not all of it.
                source += f" LEFT JOIN {footers} AS f{k} ON f{k}.file = files.number AND f{k}.rows = files.rows"
                items += _known(seen, names, needs, f"f{k}.")
            else:
                items += _unknown(seen, names, needs)
        for column in needs.partition_texts:
            text = f"t{partitions.index(column.physical[0])}"
            items += [f"{text} AS {names.text(column)}", f"{text}_missing AS {names.is_missing(column)}"]
        return replace(names, source=f"(SELECT {', '.join(items)} FROM {source})")

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:  # noqa: ARG002
        return (value_of(text, column.type),)

    def uri(self, engine: Engine, path: str) -> str:
        return f"{engine.dialect.text(self._storage.root.rstrip('/') + '/')} || {path}"

    def parquet_files(self) -> ParquetFiles:
        return ParquetFiles(self._storage)

    def file_of(self, url: str) -> str:
        from urllib.parse import unquote

        place = unquote(url).removeprefix("file:")
        return self._names.get("/" + place.lstrip("/"), url)

    def row_source(self, paths: Collection[str] | None) -> RowSource:
        places = tuple(file.place for file in self._files if paths is None or file.entry.name in paths)
        # Files may differ in their columns, and folders name columns below the root.
        options = {"mergeSchema": "true", "basePath": self._storage.root, "__globPaths__": "false"}
        return RowSource("Spark", "parquet", places, ("_metadata", "file_path"), options)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {file.place: file.entry.name for file in self._files}

    def check_whole(self) -> None:
        gone = self._storage.missing([file.place for file in self._files])
        if gone is not None:
            raise TableError(
                "LP306", "a Parquet file is gone since the folder was listed", where=gone, fix="explain the files again"
            )

    def failure(self, error: EngineError) -> TableError:
        self.check_whole()
        return unreadable(error, self.facts.location, [file.place for file in self._files])

    def close(self) -> None:
        self._storage.close()

    def _read(self, engine: Engine, columns: Sequence[Column]) -> None:
        new = {leaf: column for column in columns if (leaf := _leaf(column)) not in self._chunks}
        if not new:
            return
        numbers = {file.place: number for number, file in enumerate(self._files)}
        wanted = ", ".join(engine.dialect.text(leaf) for leaf in new)
        footers = engine.footers(list(numbers))
        trusted = f"(has_type_order AND NOT {is_denied(engine.dialect, 'created_by')})"
        is_julian = "j.file IS NOT NULL" if (is_dated := any(is_movable(column.type) for column in new.values())) else "FALSE"
        judged = {"has_type_order": trusted, "is_julian": is_julian}
        items = ", ".join(judged.get(name, name) for name in _CHUNK)
        source = f"{footers.chunks} AS c" + (f" LEFT JOIN {footers.julian} AS j ON j.file = c.file" if is_dated else "")
        read: dict[str, list[tuple[Any, ...]]] = {leaf: [] for leaf in new}
        for leaf, place, *chunk in engine.query(
            f"SELECT column_path, c.file, {items} FROM {source} WHERE column_path IN ({wanted})"
        ):
            read[leaf].append((numbers[place], *chunk))
        self._chunks.update(read)

    def _lookup(self, engine: Engine, column: Column) -> str:
        return engine.lookup(["file", *_CHUNK], ["BIGINT", *_CHUNK.values()], self._chunks[_leaf(column)])

    def _listed(self, engine: Engine) -> str:
        names, types = ["number", "path", "size", "rows", "modified"], ["BIGINT", "STRING", "BIGINT", "BIGINT", "BIGINT"]
        for k in range(len(self.facts.partition_columns)):
            names += [f"t{k}", f"t{k}_missing"]
            types += ["STRING", "BOOLEAN"]
        rows = []
        for number, file in enumerate(self._files):
            row: list[Any] = [number, file.entry.name, file.entry.size, file.rows, file.entry.modified // 1000]
            for name in self.facts.partition_columns:
                row += [file.texts.get(name), name not in file.texts]
            rows.append(tuple(row))
        return engine.lookup(names, types, rows)


def unreadable(error: EngineError, location: str, places: Sequence[str]) -> TableError:
    """The error to show when the engine could not read a footer; its message names the file."""
    message = str(error)
    where = next((place for place in sorted(places, key=len, reverse=True) if place in message), location)
    return TableError("LP306", "the footer of a Parquet file cannot be read", where=where, why=in_short(message))


def _leaf(column: Column) -> str:
    return ", ".join(column.physical)


def _partition(column: Seen, names: Relation, value: str, text: str) -> list[str]:
    items = [
        f"{value} AS {names.lo(column)}",
        f"{value} AS {names.hi(column)}",
        f"{text} IS NOT NULL AS {names.no_null(column)}",
        f"{text} IS NULL AND NOT {text}_missing AS {names.all_null(column)}",
        f"NOT {text}_missing AS {names.is_counted(column)}",
    ]
    return [*items, f"FALSE AS {names.is_truncated(column)}"] if column.type.family is Family.TEXT else items


def _known(column: Seen, names: Relation, needs: Needs, prefix: str) -> list[str]:
    flags = flags_of(names, column)
    items = [prefix + names.lo(column), prefix + names.hi(column)]
    items += [f"coalesce({prefix}{flag}, FALSE) AS {flag}" for flag in flags]
    if needs.recorded:
        items += [f"{prefix}{names.lo(column)} AS {names.first(column)}", f"{prefix}{names.hi(column)} AS {names.last(column)}"]
        items.append(prefix + names.nulls(column))
    return items


def _unknown(column: Seen, names: Relation, needs: Needs) -> list[str]:
    bounds = [names.lo(column), names.hi(column)] + ([names.first(column), names.last(column)] if needs.recorded else [])
    flags = flags_of(names, column)
    items = [f"CAST(NULL AS {carrier(column.type)}) AS {name}" for name in bounds] + [f"FALSE AS {flag}" for flag in flags]
    return [*items, f"CAST(NULL AS BIGINT) AS {names.nulls(column)}"] if needs.recorded else items
