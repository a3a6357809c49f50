"""The change data feed of a Delta table as a snapshot: one row per file with changed rows, of the commits of a span of versions.

In: the table at the last version, the first version. Out: a `DeltaSnapshot` whose columns are the table's, `_change_type`, and
the partition columns `_commit_version` and `_commit_timestamp`. What each commit contributes, as Delta reads it:

    with cdc actions    these files alone; they hold `_change_type` themselves and record no statistics
    without             every add that changes data is inserted rows, every such remove deleted rows, by their own statistics
    add and remove of one path, by deletion vectors: the rows in which the two differ; statistics of live rows say nothing of them

Nothing is replayed: a file that was added and removed is there twice. Refuses a span in which the feed was off (LP356). What
happened to the rows of a file without `_change_type` stands in `vector`, as change_rows.py reads it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.errors import TableError
from lakeprune.formats.delta.actions import state_of_commits
from lakeprune.formats.delta.checkpoint import JsonPart
from lakeprune.formats.delta.generated_columns import evidence_of
from lakeprune.formats.delta.log_files import CommitFile, LogFiles, Segment, list_log
from lakeprune.formats.delta.replay import Action, Replay, Wanted, add_shape, key_of, named
from lakeprune.formats.delta.schema import DeltaSchema
from lakeprune.formats.delta.snapshot import DeltaSnapshot
from lakeprune.formats.delta.time_travel import own_time, version_at
from lakeprune.formats.snapshot import Declared, Expected, ParquetFiles
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.storage.storage import Storage
from lakeprune.values.types import LONG, STRING, TIMESTAMP

FORMAT = "delta-changes"
CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP = "_change_type", "_commit_version", "_commit_timestamp"
_FEED = "delta.enableChangeDataFeed"
_FIELDS = (
    Field(CHANGE_TYPE, CHANGE_TYPE, STRING),
    Field(COMMIT_VERSION, COMMIT_VERSION, LONG, Role.PARTITION),
    Field(COMMIT_TIMESTAMP, COMMIT_TIMESTAMP, TIMESTAMP, Role.PARTITION),
)
_DECLARED = {CHANGE_TYPE: "string", COMMIT_VERSION: "long", COMMIT_TIMESTAMP: "timestamp"}


class ChangesSnapshot(DeltaSnapshot):
    """The files of a span of commits. `first` is its first version, the facts' own the last."""

    first: int

    def parquet_files(self) -> ParquetFiles | None:  # type: ignore[override]  # files of a feed are no files of a table
        return None

    def change_files(self) -> ParquetFiles:
        """The files of the feed: its own and those of the table, whose columns are found in the same way."""
        return super().parquet_files()


def open_changes(last: DeltaSnapshot, engine: Engine, first: int) -> ChangesSnapshot:
    """The changes from version `first` to the snapshot's own, both included."""
    storage, facts = last.storage, last.facts
    assert facts.version is not None, "every Delta table has versions"
    log = list_log(storage, from_hint=False)
    commits = _span(storage, log, first, facts.version)
    _check_feed(storage, log, commits, facts.configuration)
    times = ", ".join(f"({version}, {engine.dialect.text(moment)})" for version, moment in _times(storage, log, commits))
    paths = storage.engine_paths([commit.path for commit in commits])
    sizes = [commit.entry.size for commit in commits]
    part = JsonPart(paths, max(sizes), sum(sizes))
    schema = Schema((*facts.schema.fields, *_FIELDS))
    changed = replace(
        facts,
        format=FORMAT,
        title="change data feed of the Delta table",
        evidence=evidence_of(()),
        schema=schema,
        partition_columns=(*facts.partition_columns, COMMIT_VERSION, COMMIT_TIMESTAMP),
        expected=Expected(),
        computed_columns={},
        declared={**facts.declared, **{name: Declared(kind) for name, kind in _DECLARED.items()}},
        has_tight_bounds=False,
    )
    columns = DeltaSchema(schema, last.once_float, {}, {}, last.field_ids)
    replay = ChangesReplay(engine, storage.root, part, (), times=times)
    found = ChangesSnapshot(changed, last.declared, replay, storage, Segment(facts.version, None, commits), columns, ())
    found.first = first
    return found


def version_since(table: DeltaSnapshot, moment: int) -> int:
    """The oldest version committed at or after this time, in microseconds; LP357 when there is none yet."""
    storage = table.storage
    log = list_log(storage, from_hint=False)
    try:
        found = version_at(storage, log, moment - 1) + 1
    except TableError as error:
        if error.code != "LP313":
            raise
        return min(log.commits)
    if table.facts.version is not None and found > table.facts.version:
        fix = "give an earlier time"
        raise TableError("LP357", "the table has no commit since that time", where=storage.location, fix=fix)
    return found


class ChangesReplay(Replay, frozen=True):
    """Every file of the commits, without reconciling them."""

    times: str = ""  # rows of SQL: version, moment

    def in_memory(self) -> Replay:
        return self

    def sql(self, wanted: Wanted) -> str:
        dialect = self.engine.dialect
        assert self.commits is not None, "a span has a commit"
        shape: dict[str, Any] = {name: {**add_shape(wanted), "dataChange": "STRING"} for name in ("add", "remove", "cdc")}
        actions = {name: Action(dialect, name, fields) for name, fields in shape.items()}
        version = dialect.regexp_replace("filename", r"(?s)^.*?(\d{20})\.json$", r"\1")
        source = self.engine.json_source(self.commits.paths, shape, largest_file=self.commits.largest)
        branches = []
        for name, action in actions.items():
            columns = action.columns(wanted) | {"kind": dialect.text(name), "version": f"CAST({version} AS BIGINT)"}
            is_there = f"{action.get('path')} IS NOT NULL"
            if name != "cdc":
                is_there += f" AND coalesce({action.get('dataChange')}, 'true') <> 'false'"
            branches.append(f"SELECT {named(columns)} FROM {source} WHERE {is_there}")
        every = " UNION ALL ".join(branches)
        marks = [
            f"max(CASE WHEN kind = '{kind}' THEN 1 ELSE 0 END) OVER (PARTITION BY {by}) AS {name}" for kind, by, name in _MARKS
        ]
        if wanted.records:
            marks.append("max(CASE WHEN kind = 'remove' THEN vector END) OVER (PARTITION BY version, path) AS before")
        marked = f"SELECT *, {', '.join(marks)} FROM ({every})"
        # Of a pair the add stands for both.
        kept = "(kind = 'cdc' AND has_cdc = 1) OR (has_cdc = 0 AND (kind = 'add' OR (kind = 'remove' AND is_added = 0)))"
        is_pair = "kind = 'add' AND is_removed = 1"
        columns = {name: name for name in wanted.names()} | wanted.typed()
        columns["stats"] = f"CASE WHEN kind = 'cdc' OR ({is_pair}) THEN NULL ELSE stats END"
        if wanted.records:
            change = f"CASE WHEN {is_pair} THEN 'pair' WHEN kind = 'add' THEN 'insert' ELSE 'delete' END"
            parts = {
                "change": f"'\"' || {change} || '\"'",
                "vector": "coalesce(vector, 'null')",
                "before": "coalesce(before, 'null')",
            }
            text = " || ',' || ".join(f"'\"{name}\":' || {part}" for name, part in parts.items())
            columns["vector"] = f"CASE WHEN kind <> 'cdc' THEN '{{' || {text} || '}}' END"
        if wanted.partitions:
            more = [(COMMIT_VERSION, "CAST(files.version AS STRING)"), (COMMIT_TIMESTAMP, "moment")]
            columns["partition_values"] = dialect.map_with("partition_values", more)
        if wanted.keys:
            columns["file"] = key_of(dialect, "path", self.root)
        times = f"(VALUES {self.times}) AS times(version, moment)"
        joined = f"(SELECT * FROM ({marked}) WHERE {kept}) AS files JOIN {times} ON files.version = times.version"
        return f"SELECT {named(columns)} FROM {joined}"


_MARKS = (("cdc", "version", "has_cdc"), ("add", "version, path", "is_added"), ("remove", "version, path", "is_removed"))


def _span(storage: Storage, log: LogFiles, first: int, last: int) -> tuple[CommitFile, ...]:
    if not 0 <= first <= last:
        what = f"the changes from version {first} to {last} were asked for"
        raise TableError("LP357", what, where=storage.location, fix=f"the first version is at most {last}, and not below 0")
    found = [log.commits.get(version) for version in range(first, last + 1)]
    gone = [first + index for index, commit in enumerate(found) if commit is None]
    if gone:
        newest = max((version for version in gone), default=first)
        fix = f"ask for the changes from version {newest + 1} on"
        what = f"the commit of version {gone[0]} is not in the log any more"
        raise TableError("LP312", what, where=storage.location, fix=fix)
    return tuple(commit for commit in found if commit is not None)


def _check_feed(storage: Storage, log: LogFiles, commits: tuple[CommitFile, ...], now: Any) -> None:
    """LP356 when the feed was off at some version of the span."""
    # What a commit does not say, the newest before it did: from the last version backwards, each setting holds since its commit.
    setting, off = dict(now), None
    for commit in reversed(commits):
        if setting.get(_FEED, "").lower() != "true":
            off = commit.first
            break
        if state_of_commits(storage, [commit]).metadata is not None and commit.first > 0:
            earlier = [log.commits[version] for version in sorted(log.commits, reverse=True) if version < commit.first]
            before = state_of_commits(storage, earlier).metadata
            setting = dict(before.configuration) if before is not None else setting
    if off is None:
        return
    raise TableError(
        "LP356",
        f"the change data feed was off at version {off}",
        where=storage.location,
        why="what a commit changed is recorded only while it is on",
        fix=f"ask for later versions, or turn it on for new commits: ALTER TABLE ... SET TBLPROPERTIES ('{_FEED}' = 'true')",
    )


def _times(storage: Storage, log: LogFiles, commits: tuple[CommitFile, ...]) -> list[tuple[int, str]]:
    """When each commit was made: as it records it, else when its file was written, strictly increasing as Spark has it."""
    found, clock = [], None
    first = commits[0].first
    for version in sorted(each for each in log.commits if each <= commits[-1].first):
        commit = log.commits[version]
        written = commit.entry.modified // 1000
        clock = written if clock is None else max(written, clock + 1)
        if version >= first:
            own = own_time(storage, commit)
            found.append((version, _text(clock if own is None else own)))
    return found


def _text(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis % 1000 * 1000:06d}Z"
