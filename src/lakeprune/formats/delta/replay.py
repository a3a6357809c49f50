"""Log replay: the live files of one version, as SQL.

In: commits and the parts of a checkpoint. Out: a SELECT with one row per live file, before any pruning (T70). A file is known by
its path and the id of its deletion vector; the newest action on it wins, an add beats a remove inside one commit, and the newest
add of a path replaces older ones (T71). Removes of a checkpoint are tombstones and are never read. Fields that nothing asks for
are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect, Shape
from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.checkpoint import JsonPart, ParquetPart
from lakeprune.formats.delta.statistics import StatisticsSql

_VECTOR: Shape = {"storageType": "STRING", "pathOrInlineDv": "STRING", "offset": "BIGINT", "cardinality": "BIGINT"}
_WHOLE_VECTOR: Shape = {**_VECTOR, "sizeInBytes": "BIGINT"}
_REMOVE: Shape = {"path": "STRING", "deletionVector": _VECTOR}
_UNRECORDED = 2**62  # stands for the cardinality of a deletion vector that does not record it
_HIDDEN = f"CASE WHEN has_dv THEN coalesce(cardinality, {_UNRECORDED}) ELSE 0 END"


class Wanted(Struct, frozen=True):
    """What to read of every file beyond its size and row counts."""

    statistics: StatisticsSql
    partitions: bool
    paths: bool
    times: bool = False
    keys: bool = False
    records: bool = False  # statistics and deletion vector as recorded

    def names(self) -> list[str]:
        """The columns of the replayed log."""
        names = ["size", "stats", "has_dv", "cardinality"]
        names += ["partition_values"] * self.partitions + ["path"] * self.paths + ["modified"] * self.times
        return names + ["file"] * self.keys + ["vector"] * self.records

    def typed(self, fields: Any = None, struct: str = "") -> dict[str, str]:
        """The typed statistics of a source, NULL where it has none; {} when no source has any."""
        return self.statistics.typed_items(fields or {}, struct) if self.statistics.typed else {}


class Replay(Struct, frozen=True):
    """The log of one version: what commits hold, and the parts of the checkpoint before them."""

    engine: Engine
    root: str  # the table's own location, which absolute paths inside it may repeat
    commits: JsonPart | None
    parts: tuple[ParquetPart | JsonPart, ...]
    kept: Mapping[tuple[str, ...], str] | None = None  # tables of the engine with what files of the log hold
    live: str | None = None  # a table of the engine with every live file, when nothing is left to replay

    @property
    def bytes(self) -> int:
        """What is read of the log."""
        return sum(part.bytes for part in (*self.parts, self.commits) if part is not None)

    def in_memory(self) -> Replay:
        """The same, with everything that any question can need read now and kept by the engine."""
        dialect = self.engine.dialect
        kept: dict[tuple[str, ...], str] = {}
        for part in self.parts:
            add = dialect.identifier("add")
            source = _source(self.engine, part, {"add": _whole_add(dialect)}, None)
            kept[part.paths] = self.engine.kept(f"SELECT {add} FROM {source} WHERE {dialect.field(add, ['path'])} IS NOT NULL")
        if self.commits is not None:
            shape = {"add": _whole_add(dialect), "remove": _REMOVE}
            kept[self.commits.paths] = self.engine.kept(f"SELECT * FROM {_source(self.engine, self.commits, shape, None)}")
        return replace(self, kept=kept)

    def replayed(self) -> Replay:
        """The same, replayed now and kept by the engine, a row per live file; without typed statistics."""
        every = Wanted(StatisticsSql(self.engine.dialect, (), typed=False, nan_aware="FALSE"), True, True, True, True, True)
        return Replay(self.engine, self.root, None, (), live=self.engine.kept(self.sql(every)))

    def sql(self, wanted: Wanted) -> str:
        """Columns size, stats, has_dv, cardinality; and where wanted partition_values, path, modified, typed statistics, file."""
        picked = ", ".join([*wanted.names(), *wanted.typed()])
        if self.live is not None:
            return f"SELECT {picked} FROM {self.live}"
        readers = [_AddReader(self.engine, self.root, part, wanted, self.kept) for part in self.parts]
        if self.commits is None:
            return " UNION ALL ".join(f"SELECT {picked} FROM ({reader.sql()})" for reader in readers)
        branches = [f"SELECT {picked} FROM live"]
        branches += [f"SELECT {picked} FROM ({reader.sql()}) AS older {reader.untouched()}" for reader in readers]
        return f"WITH {self._replayed(self.commits, wanted, readers)} " + " UNION ALL ".join(branches)

    def _replayed(self, commits: JsonPart, wanted: Wanted, readers: list[_AddReader]) -> str:
        """`actions`: every file action of the commits; `live`: the files they leave alive."""
        ranked = (
            f"SELECT *, {_HIDDEN} AS hidden, row_number() OVER (PARTITION BY file, dv ORDER BY version DESC, is_add DESC) AS age "
            f"FROM ({_actions_sql(self, commits, wanted)})"
        )
        kept = (
            "SELECT *, row_number() OVER (PARTITION BY file ORDER BY age = 1 AND is_add DESC, version DESC) AS place, "
            "max(hidden) OVER (PARTITION BY file) AS most_hidden FROM actions"
        )
        newest = f"SELECT * FROM ({kept}) WHERE place = 1 AND age = 1 AND is_add"
        # Rows that a smaller deletion vector brought back may lie outside the bounds (T65).
        shrunk, join = "most_hidden > hidden", ""
        vectors = [reader.vectors_sql() for reader in readers if reader.has_vectors()]
        if vectors:
            touched = f"SELECT * FROM ({' UNION ALL '.join(vectors)}) WHERE file IN (SELECT file FROM newest)"
            seen = f"SELECT file, max({_HIDDEN}) AS before FROM ({touched}) GROUP BY file"
            shrunk += " OR coalesce(before > hidden, FALSE)"
            join = f"LEFT JOIN ({seen}) AS earlier ON earlier.file = newest.file"
        columns = {name: name for name in (*wanted.names(), "path")} | {
            "file": "newest.file",
            "stats": f"CASE WHEN {shrunk} THEN NULL ELSE stats END",
        }
        live = f"SELECT {named(columns | wanted.typed())} FROM newest {join}"
        steps = {"actions": ranked, "newest": newest, "live": live}
        if vectors:
            steps["touched"] = "SELECT DISTINCT file, dv FROM actions"
            steps["replaced"] = "SELECT DISTINCT file FROM live"
        if len(vectors) < len(readers):
            steps["touched_plain"] = "SELECT file FROM actions WHERE dv = '' UNION SELECT file FROM live"
        return ", ".join(f"{name} {self.engine.dialect.computed_once} ({step})" for name, step in steps.items())


class _AddReader(Struct, frozen=True):
    """The adds of one part of a checkpoint, with the key (file, dv) by which commits name them."""

    engine: Engine
    root: str
    part: ParquetPart | JsonPart
    wanted: Wanted
    kept: Mapping[tuple[str, ...], str] | None = None

    def sql(self) -> str:
        typed = self._add.fields.get("stats_parsed")
        columns = self._add.columns(self.wanted) | {"file": self._key(), "dv": self._add.vector_id()}
        columns |= self.wanted.typed(typed, self._add.get("stats_parsed")) if isinstance(typed, dict) else self.wanted.typed()
        return f"SELECT {named(columns)} FROM {self._source()} WHERE {self._add.get('path')} IS NOT NULL"

    def has_vectors(self) -> bool:
        return "deletionVector" in self._add.fields

    def vectors_sql(self) -> str:
        """The deletion vectors of these files, by path: read only to notice that one has shrunk since."""
        columns = {"file": self._key(), "has_dv": self._add.has_vector(), "cardinality": self._add.cardinality()}
        return f"SELECT {named(columns)} FROM {self._source()} WHERE {self._add.has_vector()}"

    def untouched(self) -> str:
        """The joins that leave only those files which no commit has touched.

        Anti joins against small relations that are computed first: an engine that sees NOT EXISTS may build its hash table on the
        checkpoint instead, which costs three times the memory (measured: 285 MB against 88 MB for a million files).
        """
        if not self.has_vectors():
            return "ANTI JOIN touched_plain USING (file)"
        return "ANTI JOIN touched USING (file, dv) ANTI JOIN replaced USING (file)"

    @property
    def _add(self) -> Action:
        fields = self.part.fields["add"] if isinstance(self.part, ParquetPart) else add_shape(self.wanted)
        return Action(self.engine.dialect, "add", fields)

    def _key(self) -> str:
        return key_of(self.engine.dialect, self._add.get("path"), self.root)

    def _source(self) -> str:
        return _source(self.engine, self.part, {"add": self._add.fields}, self.kept)


def _source(engine: Engine, part: ParquetPart | JsonPart, shape: Shape, kept: Mapping[tuple[str, ...], str] | None) -> str:
    if kept is not None:
        return kept[part.paths]
    if isinstance(part, ParquetPart):
        return engine.parquet_source(part.paths)
    return engine.json_source(part.paths, shape, largest_file=part.largest)


def _actions_sql(replay: Replay, commits: JsonPart, wanted: Wanted) -> str:
    """Every file action of the commits: version, is_add, the key, and what an add says."""
    dialect = replay.engine.dialect
    shape: dict[str, Any] = {"add": add_shape(wanted), "remove": _REMOVE}
    add, remove = (Action(dialect, name, fields) for name, fields in shape.items())
    version = dialect.regexp_replace("filename", r"(?s)^.*?(\d{20})(\.compacted)?\.json$", r"\1")
    is_add = f"{add.get('path')} IS NOT NULL"
    columns = add.columns(wanted) | {
        "version": f"CAST({version} AS BIGINT)",
        "is_add": is_add,
        "path": f"coalesce({add.get('path')}, {remove.get('path')})",
        "dv": f"CASE WHEN {is_add} THEN {add.vector_id()} ELSE {remove.vector_id()} END",
        "has_dv": f"CASE WHEN {is_add} THEN {add.has_vector()} ELSE {remove.has_vector()} END",
        "cardinality": f"CASE WHEN {is_add} THEN {add.cardinality()} ELSE {remove.cardinality()} END",
    }
    source = _source(replay.engine, commits, shape, replay.kept)
    nameless = dialect.fail("an add or remove of the log has no path")
    has_path = f"{is_add} OR {remove.get('path')} IS NOT NULL"
    is_there = " OR ".join(f"{dialect.identifier(name)} IS NOT NULL" for name in shape)
    is_action = f"CASE WHEN {has_path} THEN TRUE WHEN {is_there} THEN {nameless} ELSE FALSE END"
    rows = f"SELECT {named(columns)} FROM {source} WHERE {is_action}"
    return f"SELECT *, {key_of(dialect, 'path', replay.root)} AS file FROM ({rows})"


def key_of(dialect: Dialect, recorded: str, root: str) -> str:
    """A path as it is compared: decoded once, relative to the table where it lies inside."""
    decoded = f"coalesce({dialect.percent_decode(recorded)}, {recorded})"
    local = dialect.regexp_replace(decoded, "^file:/+", "/")
    inside = dialect.text(root.rstrip("/") + "/")
    relative = f"CASE WHEN {dialect.starts_with(local, inside)} THEN substr({local}, length({inside}) + 1) ELSE {local} END"
    # Most paths are relative and plain: looking for three characters costs far less than decoding.
    marks = [f"contains({recorded}, '%')", f"contains({recorded}, ':')", dialect.starts_with(recorded, "'/'")]
    return f"CASE WHEN {' OR '.join(marks)} THEN {relative} ELSE {recorded} END"


class Action(Struct, frozen=True):
    """The struct of an add or a remove, whose fields may be missing in a file."""

    dialect: Dialect
    name: str
    fields: Mapping[str, Any]

    def columns(self, wanted: Wanted) -> dict[str, str]:
        """What an add says about its file."""
        stats = self.get("stats")
        if self.fields.get("stats_parsed") == "STRING":  # in JSON a typed statistics object reads as its text
            stats = f"coalesce({stats}, {self.get('stats_parsed')})"
        columns = {"path": self.get("path"), "size": self.get("size"), "stats": stats}
        columns |= {"has_dv": self.has_vector(), "cardinality": self.cardinality()}
        if wanted.partitions:
            columns["partition_values"] = self.get("partitionValues", kind=self.dialect.text_map)
        if wanted.times:
            # As text first: a time that is not a number must not make the table unreadable.
            columns["modified"] = self.dialect.try_cast(f"CAST({self.get('modificationTime')} AS STRING)", "BIGINT")
        if wanted.records:
            kinds = {name: str(kind) for name, kind in _WHOLE_VECTOR.items()}
            descriptor = self.dialect.json_object([(name, self.get("deletionVector", name, kind=kinds[name])) for name in kinds])
            columns["vector"] = f"CASE WHEN {self.has_vector()} THEN {descriptor} END"
        return columns

    def get(self, *path: str, kind: str = "STRING") -> str:
        fields: Any = self.fields
        for name in path:
            fields = fields.get(name) if isinstance(fields, Mapping) else None
        return f"CAST(NULL AS {kind})" if fields is None else self.dialect.field(self.dialect.identifier(self.name), path)

    def has_vector(self) -> str:
        return f"({self.get('deletionVector', 'pathOrInlineDv')} IS NOT NULL)"

    def cardinality(self) -> str:
        return self.get("deletionVector", "cardinality", kind="BIGINT")

    def vector_id(self) -> str:
        """The id of its deletion vector, '' without one; a missing offset is not offset 0."""
        kind, place = self.get("deletionVector", "storageType"), self.get("deletionVector", "pathOrInlineDv")
        offset = self.get("deletionVector", "offset", kind="BIGINT")
        return f"coalesce({kind} || {place} || coalesce('@' || CAST({offset} AS STRING), ''), '')"


def add_shape(wanted: Wanted) -> dict[str, Any]:
    shape = _whole_add(wanted.statistics.dialect)
    if not wanted.records:
        shape["deletionVector"] = dict(_VECTOR)
    if not wanted.partitions:
        del shape["partitionValues"]
    if not wanted.times:
        del shape["modificationTime"]
    return shape


def _whole_add(dialect: Dialect) -> dict[str, Any]:
    """Everything that is ever read of an add in JSON."""
    shape: dict[str, Any] = {"path": "STRING", "size": "BIGINT", "stats": "STRING", "stats_parsed": "STRING"}
    return {**shape, "deletionVector": _WHOLE_VECTOR, "partitionValues": dialect.text_map, "modificationTime": "STRING"}


def named(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
