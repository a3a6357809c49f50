"""Shared tables, opened: snapshots by (location, version), refreshed by listing the log.

In: a table of the configuration and a version. Out: `Opened`, which plans on a branch of the one embedded engine. A snapshot
never changes, so it is kept and used by many at once. What belongs to a share (history, restrictions) is never kept here:
two shares of one location have one snapshot and two sets of rights.
"""

from __future__ import annotations

import json
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from msgspec import Struct

from lakeprune.apps.sharing.server.config import SharedTable
from lakeprune.apps.sharing.server.failures import Refusal, of_table
from lakeprune.apps.sharing.server.paths import inside
from lakeprune.apps.sharing.server.vectors import vector_path
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.errors import LakepruneError, TableError
from lakeprune.formats.delta.history import History, history_of, newest_version_of
from lakeprune.formats.delta.snapshot import DeltaSnapshot
from lakeprune.formats.format import At
from lakeprune.formats.registry import open_table
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.programs.kept_relations import KeptRelations
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import KEPT, Fields, Selection, select
from lakeprune.skipping.verdict import Verdict
from lakeprune.storage.storage import Storage, open_storage

MOST_SNAPSHOTS = 32
MOST_VERSIONS = 4  # of one table: older ones are asked for by pages and refreshed URLs that are under way
MOST_KEPT_FILES = 20_000  # of one table: what its log holds is kept by the engine, about a kilobyte per file
MOST_KEPT_AT_ALL = 100_000
MOST_RESTRICTIONS = 256  # per snapshot, whose totals are remembered


class Totals(Struct, frozen=True):
    """What a recipient can see of a version at most."""

    files: int
    bytes: int
    with_vector: int


class Opened:
    """One version of a table."""

    def __init__(self, engine: DuckDBEngine, snapshot: DeltaSnapshot, version: int) -> None:
        self.snapshot = snapshot
        self.version = version
        self.declared = snapshot.declared
        self.kept_files = 0
        self._engine = engine
        self._relations: KeptRelations | None = None
        self._lock = Lock()
        self._totals: dict[str | None, Totals] = {}

    def keep(self, room: int) -> None:
        """Let the engine keep what the log holds, when the table is not large: then it is not parsed again for every request."""
        files = self.totals(None).files
        if files <= min(room, MOST_KEPT_FILES):
            self.snapshot.keep(self._engine)
            self.kept_files = files
            self._relations = KeptRelations(self._engine, self.snapshot)

    @property
    def is_cheap(self) -> bool:
        """Whether the engine keeps what questions need, each file once: then asking for a part costs little."""
        return self._relations is not None and self._relations.is_usable

    @property
    def storage(self) -> Storage:
        return self.snapshot.parquet_files().storage

    @contextmanager
    def planner(self) -> Iterator[Planner]:
        """A planner of this request alone; what it keeps in the engine is dropped at the end."""
        engine = self._engine.branch()
        with engine.awake():
            profile = profile_of(nan_policy="strict")[0]
            if self._relations is None:
                yield Planner(Evaluation(engine, self.snapshot, profile))
                return
            with self._relations.in_use() as relations:
                yield Planner(Evaluation(engine, self.snapshot, profile, relations=relations))

    def totals(self, where: str | None) -> Totals:
        """Of the files that a restriction shows. One that metadata cannot decide for every file shows nothing at all."""
        with self._lock:
            if (known := self._totals.get(where)) is not None:
                return known
        with self.planner() as planner:
            (patterns,) = planner.patterns([planner.ask(where)])
        undecided = sum(pattern.files for pattern in patterns if pattern.signature.verdict is Verdict.KEEP)
        if where is not None and undecided:
            what = f"the restriction `{where}` is not decided by partition values for {undecided} files"
            raise TableError("LP384", what, where=self.snapshot.facts.location, fix="use partition columns only")
        shown = [p for p in patterns if where is None or p.signature.verdict is Verdict.FULL]
        found = Totals(
            sum(p.files for p in shown), sum(p.bytes for p in shown), sum(p.files for p in shown if p.signature.has_dv)
        )
        with self._lock:
            if len(self._totals) < MOST_RESTRICTIONS:
                self._totals[where] = found
        return found

    def check_paths(self) -> None:
        """UnsafePath when a file of this version, or the file of a deletion vector, does not lie inside the table."""
        root = self.storage.root
        with self.planner() as planner, planner.reading():
            every = Selection(KEPT, with_empty=True)
            for each in select(planner.evaluation, planner.ask(None).plan, every, Fields(bounds=False, records=True)):
                inside(each.path, root)
                vector = None if each.record is None else each.record.vector
                if vector is not None and (path := vector_path(json.loads(vector))) is not None:
                    inside(path, root)


class _Place:
    """One location: its log is listed by one thread at a time."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.storage: Storage | None = None
        self.listed = float("-inf")
        self.newest: int | None = None


class Tables:
    def __init__(self, refresh: float = 1.0) -> None:
        self._refresh = refresh
        self._engine = DuckDBEngine()
        self._awake = ExitStack()
        self._awake.enter_context(self._engine.awake())
        self._lock = Lock()
        self._places: dict[str, _Place] = {}
        self._opened: OrderedDict[tuple[str, int], Opened] = OrderedDict()

    def close(self) -> None:
        with self._lock:
            self._opened.clear()
        self._awake.close()

    def refresh_after(self, seconds: float) -> None:
        self._refresh = seconds

    def latest(self, table: SharedTable) -> Opened:
        """The newest version, by a listing that is not older than the configuration allows."""
        place = self._place(table)
        with _for_recipients(), place.lock:
            if time.monotonic() - place.listed >= self._refresh:
                if place.storage is None:
                    place.storage = open_storage(table.location, table.access)
                place.newest, place.listed = newest_version_of(place.storage), time.monotonic()
            found = None if place.newest is None else self._known(table, place.newest)
            if found is None:
                found = self._keep(table, self._open(table, At()))
                place.newest = found.version
            return found

    def at(self, table: SharedTable, version: int) -> Opened:
        """One version."""
        found = self._known(table, version)
        if found is not None:
            return found
        with _for_recipients(), self._place(table).lock:
            found = self._known(table, version)
            return found or self._keep(table, self._open(table, At(version=version)))

    @contextmanager
    def history(self, table: SharedTable) -> Iterator[History]:
        """The commits of a table, as they are now."""
        with _for_recipients():
            storage = open_storage(table.location, table.access)
            try:
                yield history_of(storage)
            finally:
                storage.close()

    def _open(self, table: SharedTable, at: At) -> Opened:
        # On a branch of its own, which is let go with the last request that uses the snapshot, and everything kept for it.
        engine, awake = self._engine.branch(), ExitStack()
        awake.enter_context(engine.awake())
        snapshot = open_table(table.location, engine, at, table.access)
        if not isinstance(snapshot, DeltaSnapshot) or snapshot.facts.version is None:
            fix = "share a Delta table"
            raise TableError("LP347", "a share needs Delta tables", where=f"{snapshot.facts.title}: {table.location}", fix=fix)
        opened = Opened(engine, snapshot, snapshot.facts.version)
        weakref.finalize(opened, awake.close)
        opened.keep(self._room())
        return opened

    def _room(self) -> int:
        """For how many files there is room; the least used tables make room for one that may be as large as any."""
        with self._lock:
            while (room := MOST_KEPT_AT_ALL - sum(each.kept_files for each in self._opened.values())) < MOST_KEPT_FILES:
                self._opened.popitem(last=False)
            return room

    def _place(self, table: SharedTable) -> _Place:
        with self._lock:
            return self._places.setdefault(_key(table), _Place())

    def _known(self, table: SharedTable, version: int) -> Opened | None:
        with self._lock:
            key = (_key(table), version)
            if (found := self._opened.get(key)) is not None:
                self._opened.move_to_end(key)
            return found

    def _keep(self, table: SharedTable, opened: Opened) -> Opened:
        with self._lock:
            self._opened[_key(table), opened.version] = opened
            versions = [key for key in self._opened if key[0] == _key(table)]
            for key in versions[:-MOST_VERSIONS]:
                del self._opened[key]
            while len(self._opened) > MOST_SNAPSHOTS:
                self._opened.popitem(last=False)  # what was fetched for it goes with the last request that uses it
        return opened


def _key(table: SharedTable) -> str:
    """Who reaches a location in another way may see something else there."""
    return f"{table.location}\n{sorted(table.access.get('storage_options', {}).items())!r}\n{table.access.get('env_creds')}"


@contextmanager
def _for_recipients() -> Iterator[None]:
    """Inside, what is wrong with a table is reported to the operator, not to the recipient."""
    try:
        yield
    except Refusal:
        raise
    except LakepruneError as error:
        raise of_table(error) from error
