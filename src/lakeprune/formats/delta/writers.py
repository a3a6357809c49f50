"""Who recorded a file: the program named by the newest commit that added it.

In: a few paths as the log records them. Out: for each the name and version that the commit's `commitInfo` states. Commits that
log cleanup has removed say nothing any more, and neither do writers that leave their name out. The whole log is looked through,
so this is for files that are worth it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.engines.engine import Engine
from lakeprune.formats.delta.log_files import ABOVE_VERSIONS, LOG, sort_out
from lakeprune.formats.delta.replay import key_of
from lakeprune.storage.storage import Storage

_SHAPE = {"add": {"path": "STRING"}, "commitInfo": {"engineInfo": "STRING", "clientVersion": "STRING"}}


def writers_of(engine: Engine, storage: Storage, version: int, paths: Sequence[str]) -> dict[str, str]:
    """Path -> writer, of the paths whose commit is still there and names one."""
    found = sort_out(storage.list_from(LOG, f"{0:020}", before=ABOVE_VERSIONS) or ()).commits.values()
    commits = [commit for commit in found if commit.last <= version]
    if not commits or not paths:
        return {}
    dialect = engine.dialect
    largest = max(commit.entry.size for commit in commits)
    source = engine.json_source(storage.engine_paths([commit.path for commit in commits]), _SHAPE, largest_file=largest)
    number = dialect.regexp_replace("filename", r"(?s)^.*?(\d{20})\.json$", r"\1")
    info = [dialect.field("commitInfo", [name]) for name in ("engineInfo", "clientVersion")]
    path = dialect.field(dialect.identifier("add"), ["path"])
    stated = f"SELECT {number} AS commit_number, coalesce({', '.join(info)}) AS writer FROM {source} WHERE commitInfo IS NOT NULL"
    adds = (
        f"SELECT {number} AS commit_number, {key_of(dialect, path, storage.root)} AS file FROM {source} WHERE {path} IS NOT NULL"
    )
    wanted = engine.lookup(["path"], ["STRING"], [(each,) for each in paths])
    keys = f"SELECT path, {key_of(dialect, 'path', storage.root)} AS file FROM {wanted}"
    newest = f"SELECT path, max(commit_number) AS commit_number FROM ({keys}) JOIN ({adds}) USING (file) GROUP BY path"
    sql = f"SELECT path, max(writer) FROM ({newest}) JOIN ({stated}) USING (commit_number) GROUP BY path"
    return {path: writer for path, writer in engine.query(sql) if writer}
