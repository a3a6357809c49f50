"""The relation of a small table, held for several programs that ask about the same columns.

In: what they need of a snapshot, the first of them most. Out: the same relations, over one table of the engine. To plan a query
over many columns of a log takes longer than to read a small log, and whoever looks below files asks twice. Large metadata is
streamed each time: its rows would fill memory.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.formats.merging import merged_relation
from lakeprune.formats.relation import Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.tree import Profile

MOST_BYTES = 1 << 20  # of metadata, compressed or not


class HeldRelation:
    """The first relation that is asked for, as long as the engine is awake."""

    def __init__(self) -> None:
        self._held: _Held | None = None

    def relation(self, snapshot: Snapshot, engine: Engine, needs: Needs, profile: Profile) -> Relation:
        size = snapshot.metadata_bytes()
        if size is None or size > MOST_BYTES or not engine.keeps_cheaply or not _is_plain(needs):
            return merged_relation(snapshot, engine, needs, profile)
        if self._held is None:
            relation = merged_relation(snapshot, engine, replace(needs, paths=True), profile)
            table = engine.kept(f"SELECT * FROM {relation.source} AS files")
            self._held = _Held(snapshot, profile, engine.sleeps, replace(relation, source=table))
        if self._held.has(snapshot, engine, needs, profile):
            return self._held.relation
        return merged_relation(snapshot, engine, needs, profile)


class _Held(Struct, frozen=True):
    snapshot: Snapshot
    profile: Profile
    sleeps: int  # of the engine, when it was kept
    relation: Relation

    def has(self, snapshot: Snapshot, engine: Engine, needs: Needs, profile: Profile) -> bool:
        is_same = self.snapshot is snapshot and self.profile == profile and self.sleeps == engine.sleeps
        known = self.relation.domains.keys(), self.relation.texts.keys()
        return is_same and known[0] >= set(needs.domains) and known[1] >= set(needs.partition_texts)


def _is_plain(needs: Needs) -> bool:
    """Whether they are of every container, and nothing that few programs need."""
    return needs.within is None and not (needs.times or needs.recorded or needs.parents or needs.records)
