"""Row groups as containers: a snapshot below the files that are left, for which the same programs work.

In: a kept relation of files with their numbers, and their footers. Out: the relation of formats/relation.py, a row per row group.
What is known of a file holds for its row groups; deletes do not say which of them they are about, so live rows are unknown there.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.relation import Needs, Relation, flags_of, relation_of
from lakeprune.formats.row_groups.footers import Footers
from lakeprune.formats.row_groups.rung import ROW_GROUP
from lakeprune.formats.snapshot import Absent, Snapshot
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Evidence, Seen
from lakeprune.values.types import Scalar

# Columns beside those of every relation: where a row group lies, and the bytes and Bloom filters of the columns that are read.
PLACE = ("row_group", "start_byte", "end_byte")
NEEDED = ("needed_bytes", "blooms")


class RowGroupSnapshot(Snapshot):
    """`files` has the columns of a relation of files, `number` (of a footer), and whatever `passed` names."""

    def __init__(self, base: Snapshot, evidence: Evidence, files: Relation, footers: Footers, passed: Sequence[str]) -> None:
        self.facts = replace(base.facts, evidence=evidence)
        self._base = base
        self._files = files
        self._footers = footers
        self._passed = passed
        self._read: Sequence[Column] = ()

    def reading(self, columns: Sequence[Column]) -> RowGroupSnapshot:
        """The same for a predicate that reads these columns: their bytes are needed."""
        found = RowGroupSnapshot(self._base, self.facts.evidence, self._files, self._footers, self._passed)
        found._read = columns  # of its own kind
        return found

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002  # files were read with it
        names, files = relation_of(needs), self._files
        own = [seen for seen in needs.domains if seen.rungs == {ROW_GROUP}]
        items = ["g.size AS size", "g.rows AS rows", "CASE WHEN f.has_dv THEN CAST(NULL AS BIGINT) ELSE 0 END AS deleted"]
        items += ["TRUE AS has_stats", "f.has_dv AS has_dv", "f.number AS number"]
        items += [f"g.{name} AS {name}" for name in PLACE] + [f"f.{name} AS {name}" for name in self._passed]
        items += ["f.path AS path", "f.partition AS partition"] if needs.paths else []
        source = f"{files.source} AS f JOIN {self._footers.groups()} AS g ON g.file = f.number AND g.row_group IS NOT NULL"
        if domains := self._footers.domains([seen.column for seen in own], self._read):
            source += f" LEFT JOIN {domains} AS k ON k.file = g.file AND k.row_group = g.row_group"
        items += [f"coalesce({name}, 0) AS {name}" if self._read else f"0 AS {name}" for name in NEEDED]
        for k, seen in enumerate(needs.domains):
            if seen not in own:
                items += [
                    f"f.{there} AS {here}" for here, there in zip(_columns(names, seen), _columns(files, seen), strict=True)
                ]
                continue
            domain = self._footers.unpacked(names, seen)
            if (lacked := self._footers.absent(seen.column)) is not None:
                absent, lacking = lacked
                source += f" LEFT JOIN {lacking} AS a{k} ON a{k}.file = g.file"
                there = _absent_domain(engine.dialect, names, seen, absent)
                domain = {
                    name: f"CASE WHEN a{k}.file IS NULL THEN {known} ELSE {there[name]} END" for name, known in domain.items()
                }
            items += [f"{value} AS {name}" for name, value in domain.items()]
        for column in needs.partition_texts:
            items.append(f"f.{files.text(column)} AS {names.text(column)}")
            items.append(f"f.{files.is_missing(column)} AS {names.is_missing(column)}")
        return replace(names, source=f"(SELECT {', '.join(items)} FROM {source})")

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:
        return self._base.partition_values(text, column, profile)

    def check_whole(self) -> None:
        self._base.check_whole()

    def failure(self, error: EngineError) -> TableError:
        return self._base.failure(error)


def _absent_domain(dialect: Dialect, names: Relation, seen: Seen, absent: Absent) -> dict[str, str]:
    """The domain of a column in the row groups of a file that lacks it."""
    kind, family = carrier(seen.type), seen.type.family
    is_null = absent.lo is None

    def end(value: Scalar) -> str:
        return f"CAST({'NULL' if value is None or family is None else dialect.literal(value, family)} AS {kind})"

    known = {names.no_null(seen): not is_null and not absent.has_nulls, names.all_null(seen): is_null}
    known |= {names.is_counted(seen): not absent.has_nulls, names.nan_free(seen): True}
    flags = {name: "TRUE" if known.get(name, False) else "FALSE" for name in flags_of(names, seen)}
    return {names.lo(seen): end(absent.lo), names.hi(seen): end(absent.hi), **flags}


def _columns(names: Relation, seen: Seen) -> list[str]:
    return [names.lo(seen), names.hi(seen), *flags_of(names, seen)]
