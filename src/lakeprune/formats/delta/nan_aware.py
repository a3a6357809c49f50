"""Files whose recorded maximum shows NaN: those that Delta Spark wrote, with the statistics that it recorded for them.

In: commits of the log. Out: a FROM item with the key of each such file and the digest of its statistics. Delta Spark aggregates
what it writes, NaN is the greatest value to it, and so a maximum that is recorded and is not NaN proves that a file has none.
Writers that take minimum and maximum from Parquet footers leave NaN out (T1). What `commitInfo` says of an add depends on the
operation:

    counted      WRITE, STREAMING UPDATE, UPDATE, DELETE, MERGE, OPTIMIZE, REORG, and CREATE or REPLACE TABLE AS SELECT, when the
                 commit reports what was written: tools that commit files of others through Delta Spark's classes name such an
                 operation too, and have no metrics
    not counted  CLONE, RESTORE, CONVERT and whatever else takes over files and their statistics; every other engine; compactions;
                 adds with a deletion vector, whose statistics may be those of another writer, or computed from a footer

A live file counts when its statistics are, word for word, those that such a commit recorded: also when it was added again, by
whomever, with a deletion vector or without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeprune.engines.engine import Engine, EngineError
from lakeprune.formats.delta.log_files import ABOVE_VERSIONS, LOG, CommitFile, Segment, sort_out
from lakeprune.formats.delta.replay import key_of
from lakeprune.storage.storage import Storage

WRITES = {
    "WRITE": "numOutputRows",
    "STREAMING UPDATE": "numOutputRows",
    "CREATE TABLE AS SELECT": "numOutputRows",
    "REPLACE TABLE AS SELECT": "numOutputRows",
    "CREATE OR REPLACE TABLE AS SELECT": "numOutputRows",
    "MERGE": "numOutputRows",
    "UPDATE": "numUpdatedRows",
    "DELETE": "numDeletedRows",
    "OPTIMIZE": "numAddedBytes",
    "REORG": "numAddedBytes",
}  # operation -> what it reports when it wrote files
_RELEASE = r"^Apache-Spark/[0-9]+\.[0-9]+\.[0-9]+ Delta-Lake/[0-9]+\.[0-9]+\.[0-9]+$"
_OLDER_COMMITS, _OLDER_BYTES = 100, 16 << 20  # what is read of the commits that a checkpoint already holds


def digest_of(stats: str) -> str:
    """SQL: statistics in short. A deletion vector makes bounds loose and changes nothing else."""
    return f"""md5(replace({stats}, '"tightBounds":true', '"tightBounds":false'))"""


def commits_to_read(storage: Storage, segment: Segment) -> list[CommitFile]:
    """The commits after the checkpoint, and the last ones before it as long as they are few and small; no compactions."""
    newer = [commit for commit in segment.commits if commit.first == commit.last]
    if segment.checkpoint is None:
        return newer
    last = segment.checkpoint.version
    entries = storage.list_from(LOG, f"{max(0, last + 1 - _OLDER_COMMITS):020}", before=ABOVE_VERSIONS) or []
    older, size = [], 0
    for version, commit in sorted(sort_out(entries).commits.items(), reverse=True):
        if version <= last:
            size += commit.entry.size
            if size > _OLDER_BYTES:
                break
            older.append(commit)
    return [*older, *newer]


def nan_aware_files(engine: Engine, storage: Storage, commits: Sequence[CommitFile]) -> str | None:
    """A FROM item with `file` and `digest`, each pair once; None when there is nothing to be read."""
    if not commits:
        return None
    dialect = engine.dialect
    metrics = dict.fromkeys(WRITES.values(), "STRING")
    shape: dict[str, Any] = {
        "add": {"path": "STRING", "stats": "STRING", "deletionVector": {"pathOrInlineDv": "STRING"}},
        "commitInfo": {"operation": "STRING", "engineInfo": "STRING", "operationMetrics": metrics},
    }
    paths = storage.engine_paths([commit.path for commit in commits])
    source = engine.json_source(paths, shape, largest_file=max(commit.entry.size for commit in commits))
    number = dialect.regexp_replace("filename", r"(?s)^.*?(\d{20})\.json$", r"\1")
    add, info = dialect.identifier("add"), dialect.identifier("commitInfo")
    path, vector = dialect.field(add, ["path"]), dialect.field(add, ["deletionVector", "pathOrInlineDv"])
    reported = " ".join(
        f"WHEN {dialect.text(operation)} THEN {dialect.field(info, ['operationMetrics', metric])} IS NOT NULL"
        for operation, metric in WRITES.items()
    )
    is_release = dialect.regexp_matches(dialect.field(info, ["engineInfo"]), _RELEASE)
    is_written = f"{is_release} AND CASE {dialect.field(info, ['operation'])} {reported} ELSE FALSE END"
    items = [
        f"{number} AS commit_number",
        f"CASE WHEN {info} IS NULL THEN NULL WHEN coalesce({is_written}, FALSE) THEN 1 ELSE 0 END AS is_written",
        f"{path} IS NOT NULL AND {vector} IS NULL AS is_add",
        f"{key_of(dialect, path, storage.root)} AS file",
        f"{digest_of(dialect.field(add, ['stats']))} AS digest",
    ]
    actions = f"SELECT {', '.join(items)} FROM {source} WHERE {path} IS NOT NULL OR {info} IS NOT NULL"
    # A commit that names itself twice must name itself well each time.
    judged = f"SELECT *, min(is_written) OVER (PARTITION BY commit_number) AS by_spark FROM ({actions})"
    try:
        return engine.kept(f"SELECT DISTINCT file, digest FROM ({judged}) WHERE is_add AND by_spark = 1 AND digest IS NOT NULL")
    except EngineError:
        return None  # commits that cannot be read prove nothing; what the answer needs of them is reported when it is replayed
