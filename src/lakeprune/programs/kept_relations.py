"""Relations of one snapshot that its engine keeps: what was parsed for one question is not parsed again for the next.

In: a snapshot that an engine keeps, and what questions need of it. Out: the same relations, over tables of typed columns. Where
the texts that a log records are long, they stay where they are, once, and are joined to what a question selects: a hash table
costs megabytes, so short ones are repeated in every relation. Few relations are kept at a time; one that was replaced goes with
the last question that uses it.
"""

from __future__ import annotations

import weakref
from _thread import allocate_lock
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.formats.merging import merged_relation
from lakeprune.formats.relation import Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.tree import Profile

MOST = 6  # relations of one snapshot
MOST_BYTES = 16 << 20  # of all of them, about
MOST_COLUMNS = 16  # whose domains a relation has
LONG = 8 << 20  # bytes of the texts of all files, from which on they are not repeated
_ROW = 200  # bytes of a file beside its texts, about


class _Kept:
    """A table of the engine, for as long as somebody refers to it."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation


class KeptRelations:
    """What is kept of a snapshot; `engine` is the one that the snapshot was opened with, and stays awake."""

    def __init__(self, engine: Engine, snapshot: Snapshot) -> None:
        self._engine = engine
        self._records = snapshot.kept_records()
        files, texts = (0, 0) if self._records is None else self._sizes(self._records)
        self._has_short_texts = texts <= LONG
        size = files * _ROW + (texts if self._has_short_texts else 0)
        self._most = max(1, min(MOST, MOST_BYTES // max(1, size)))
        self._lock = allocate_lock()
        self._kept: OrderedDict[tuple[Needs, Profile], _Kept] = OrderedDict()
        self._unused: deque[str] = deque()  # dropped by the next question: an object may end at any time, and inside any lock

    @property
    def is_usable(self) -> bool:
        return self._records is not None

    @contextmanager
    def in_use(self) -> Iterator[RelationsInUse]:
        """For one request: what it asks for stays inside."""
        relations = RelationsInUse(self)
        try:
            yield relations
        finally:
            relations.release()

    def get(self, snapshot: Snapshot, needs: Needs, profile: Profile) -> tuple[_Kept, Relation] | None:
        """The relation and what keeps it; None for needs that are not worth a table."""
        is_special = needs.recorded or needs.parents or needs.within is not None or len(needs.domains) > MOST_COLUMNS
        if self._records is None or not needs.paths or is_special:
            return None
        slim = replace(needs, times=self._has_short_texts, records=self._has_short_texts)
        key = slim, replace(profile, now=0)  # no relation depends on the clock
        with self._lock:
            while self._unused:
                self._engine.drop(self._unused.popleft())
            found = self._kept.get(key)
            if found is None:
                relation = merged_relation(snapshot, self._engine, slim, profile)
                table = self._engine.kept(f"SELECT * FROM {relation.source} AS files")
                found = self._kept[key] = _Kept(replace(relation, source=table))
                weakref.finalize(found, self._unused.append, table)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        is_joined = not self._has_short_texts and (needs.records or needs.times)
        return found, self._with_records(found.relation) if is_joined else found.relation

    def _sizes(self, records: str) -> tuple[int, int]:
        """How many files there are, and the letters of their texts."""
        lengths = " + ".join(f"coalesce(sum(length({name})), 0)" for name in ("path", "stats_text", "vector"))
        ((files, letters),) = self._engine.query(f"SELECT count(*), {lengths} FROM {records}")
        return int(files), int(letters)

    def _with_records(self, relation: Relation) -> Relation:
        # The domains are written last: a join builds its hash table of that side, and only of what the question selects there.
        records = "records.modified, records.stats_text, records.vector"
        joined = f"{self._records} AS records JOIN {relation.source} AS domains ON records.path = domains.path"
        return replace(relation, source=f"(SELECT domains.*, {records} FROM {joined})")


class RelationsInUse:
    """The relations of one request, which stay until it ends."""

    def __init__(self, kept: KeptRelations) -> None:
        self._all = kept
        self._held: list[_Kept] = []

    def relation(self, snapshot: Snapshot, engine: Engine, needs: Needs, profile: Profile) -> Relation:
        found = self._all.get(snapshot, needs, profile)
        if found is None:
            return merged_relation(snapshot, engine, needs, profile)
        self._held.append(found[0])
        return found[1]

    def release(self) -> None:
        self._held.clear()
