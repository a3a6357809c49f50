"""File actions as rows: adds of a checkpoint, adds and removes of commits.

In: Parquet or JSON files of the log. Out: SELECTs with the columns size, stats, has_dv, cardinality, and where wanted path,
partition_values, typed statistics, and the key (file, dv). Fields that nothing asks for are not read.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, Shape
from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.checkpoint import JsonPart, ParquetPart
from lakeprune.formats.delta.statistics import StatisticsSql

_VECTOR: Shape = {"storageType": "STRING", "pathOrInlineDv": "STRING", "offset": "BIGINT", "cardinality": "BIGINT"}


class Wanted(Struct, frozen=True):
    """What to read of every file beyond its size and row counts."""

    statistics: StatisticsSql
    partitions: bool
    paths: bool
    times: bool = False


class AddReader(Struct, frozen=True):
    """The adds of one part of a checkpoint."""

    engine: Engine
    root: str
    part: ParquetPart | JsonPart
    wanted: Wanted
    keyed: bool  # whether commits follow, so that keys are needed

    def sql(self) -> str:
        add, wanted = _Struct(self.engine.dialect, "add", self._add_fields()), self.wanted
        items = [f"{add.get('size')} AS size", f"{_stats(add)} AS stats", f"{add.has_vector()} AS has_dv"]
        items.append(f"{add.cardinality()} AS cardinality")
        if wanted.partitions:
            items.append(f"{add.get('partitionValues', self.engine.dialect.text_map)} AS partition_values")
        if wanted.paths:
            items.append(f"{add.get('path')} AS path")
        if wanted.times:
            items.append(f"{_modified(add)} AS modified")
        if wanted.statistics.typed:
            typed = self._add_fields().get("stats_parsed")
            struct = add.get("stats_parsed") if isinstance(typed, dict) else ""
            items += wanted.statistics.typed_items(typed if isinstance(typed, dict) else {}, struct)
        if self.keyed:
            items += [f"{key_of(self.engine.dialect, add.get('path'), self.root)} AS file", f"{add.vector_id()} AS dv"]
        return f"SELECT {', '.join(items)} FROM {self._source()} WHERE {add.get('path')} IS NOT NULL"

    def has_vectors(self) -> bool:
        return "deletionVector" in self._add_fields()

    def vectors_sql(self) -> str:
        """The deletion vectors of these files, by path: read only to notice that one has shrunk since."""
        add = _Struct(self.engine.dialect, "add", self._add_fields())
        items = [f"{key_of(self.engine.dialect, add.get('path'), self.root)} AS file", f"{add.has_vector()} AS has_dv"]
        items.append(f"{add.cardinality()} AS cardinality")
        return f"SELECT {', '.join(items)} FROM {self._source()} WHERE {add.has_vector()}"

    def _source(self) -> str:
        if isinstance(self.part, ParquetPart):
            return self.engine.parquet_source(self.part.paths)
        return self.engine.json_source(self.part.paths, {"add": self._add_fields()}, largest_file=self.part.largest)

    def _add_fields(self) -> dict[str, Any]:
        return self.part.fields["add"] if isinstance(self.part, ParquetPart) else dict(_add_shape(self.wanted))


def actions_sql(engine: Engine, root: str, commits: JsonPart, wanted: Wanted) -> str:
    """Every file action of the commits: version, is_add, the key, and what an add says."""
    dialect = engine.dialect
    shape: dict[str, Any] = {"add": _add_shape(wanted), "remove": {"path": "STRING", "deletionVector": _VECTOR}}
    add, remove = _Struct(dialect, "add", shape["add"]), _Struct(dialect, "remove", shape["remove"])
    version = dialect.regexp_replace("filename", r"(?s)^.*?(\d{20})(\.compacted)?\.json$", r"\1")
    is_add = f"{add.get('path')} IS NOT NULL"
    items = [
        f"CAST({version} AS BIGINT) AS version",
        f"{is_add} AS is_add",
        f"coalesce({add.get('path')}, {remove.get('path')}) AS path",
        f"CASE WHEN {is_add} THEN {add.vector_id()} ELSE {remove.vector_id()} END AS dv",
        f"CASE WHEN {is_add} THEN {add.has_vector()} ELSE {remove.has_vector()} END AS has_dv",
        f"CASE WHEN {is_add} THEN {add.cardinality()} ELSE {remove.cardinality()} END AS cardinality",
        f"{add.get('size')} AS size",
        f"{_stats(add)} AS stats",
    ]
    if wanted.partitions:
        items.append(f"{add.get('partitionValues')} AS partition_values")
    if wanted.times:
        items.append(f"{_modified(add)} AS modified")
    source = engine.json_source(commits.paths, shape, largest_file=commits.largest)
    nameless = dialect.fail("an add or remove of the log has no path")
    has_path = f"{is_add} OR {remove.get('path')} IS NOT NULL"
    is_action = f"CASE WHEN {has_path} THEN TRUE WHEN {add.is_there()} OR {remove.is_there()} THEN {nameless} ELSE FALSE END"
    rows = f"SELECT {', '.join(items)} FROM {source} WHERE {is_action}"
    return f"SELECT *, {key_of(dialect, 'path', root)} AS file FROM ({rows})"


def key_of(dialect: Dialect, recorded: str, root: str) -> str:
    """A path as it is compared: decoded once, relative to the table where it lies inside."""
    decoded = f"coalesce({dialect.percent_decode(recorded)}, {recorded})"
    local = dialect.regexp_replace(decoded, "^file:/+", "/")
    inside = dialect.text(root.rstrip("/") + "/")
    relative = f"CASE WHEN {dialect.starts_with(local, inside)} THEN substr({local}, length({inside}) + 1) ELSE {local} END"
    # Most paths are relative and plain: looking for three characters costs far less than decoding.
    marks = [f"contains({recorded}, '%')", f"contains({recorded}, ':')", dialect.starts_with(recorded, "'/'")]
    return f"CASE WHEN {' OR '.join(marks)} THEN {relative} ELSE {recorded} END"


def typed_names(statistics: StatisticsSql) -> list[str]:
    return [item.rsplit(" AS ", 1)[1] for item in typed_nulls(statistics)]


def typed_nulls(statistics: StatisticsSql) -> list[str]:
    """The typed statistics of a source that has none."""
    return statistics.typed_items({}, "") if statistics.typed else []


class _Struct(Struct, frozen=True):
    """An action's struct, whose fields may be missing in a file."""

    dialect: Dialect
    name: str
    fields: Any

    def get(self, name: str, kind: str = "STRING") -> str:
        if name not in self.fields:
            return f"CAST(NULL AS {kind})"
        return self.dialect.field(self.dialect.identifier(self.name), [name])

    def is_there(self) -> str:
        return f"{self.dialect.identifier(self.name)} IS NOT NULL"

    def _vector(self, name: str, kind: str) -> str:
        vector = self.fields.get("deletionVector")
        if not isinstance(vector, dict) or name not in vector:
            return f"CAST(NULL AS {kind})"
        return self.dialect.field(self.dialect.identifier(self.name), ["deletionVector", name])

    def has_vector(self) -> str:
        return f"({self._vector('pathOrInlineDv', 'STRING')} IS NOT NULL)"

    def cardinality(self) -> str:
        return self._vector("cardinality", "BIGINT")

    def vector_id(self) -> str:
        """The id of its deletion vector, '' without one; a missing offset is not offset 0."""
        offset = f"coalesce('@' || CAST({self._vector('offset', 'BIGINT')} AS STRING), '')"
        kind, place = self._vector("storageType", "STRING"), self._vector("pathOrInlineDv", "STRING")
        return f"coalesce({kind} || {place} || {offset}, '')"


def _stats(add: _Struct) -> str:
    # In JSON a typed statistics object reads as its text, so both forms are one.
    stats = add.get("stats")
    return f"coalesce({stats}, {add.get('stats_parsed')})" if add.fields.get("stats_parsed") == "STRING" else stats


def _modified(add: _Struct) -> str:
    """As text first: a time that is not a number must not make the table unreadable."""
    return add.dialect.try_cast(f"CAST({add.get('modificationTime')} AS STRING)", "BIGINT")


def _add_shape(wanted: Wanted) -> dict[str, Any]:
    shape: dict[str, Any] = {"path": "STRING", "size": "BIGINT", "stats": "STRING", "stats_parsed": "STRING"}
    shape["deletionVector"] = dict(_VECTOR)
    if wanted.partitions:
        shape["partitionValues"] = wanted.statistics.dialect.text_map
    if wanted.times:
        shape["modificationTime"] = "STRING"
    return shape
