"""What stands in the way of pruning the target of a MERGE, said in words, with what to add to ON where that is known.

In: the reading of ON, what the source's keys hold, the table's layout. Out: `Obstacle`s. How many files a fix would save is asked
of Delta's own planning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from lakeprune.apps.statements.merge.clauses import MergeClause, Rows
from lakeprune.apps.statements.merge.effects import rows_of
from lakeprune.apps.statements.merge.keys import KeyValues, delta_condition
from lakeprune.apps.statements.merge.model import Obstacle, ObstacleKind
from lakeprune.apps.statements.merge.on import MergeOn
from lakeprune.apps.statements.merge.spark_keys import SourceFacts, measure
from lakeprune.apps.statements.merge.spark_on import column_of, same_named
from lakeprune.apps.statements.merge.spark_source import Source
from lakeprune.apps.statements.spark_target import Target
from lakeprune.predicate.tree import Column
from lakeprune.predicate.write.show import name_text


class Seen(Struct, frozen=True):
    """Everything that is known when the obstacles are told."""

    target: Target
    source: Source
    clauses: tuple[MergeClause, ...]
    on: MergeOn
    facts: SourceFacts
    files_now: int  # that Delta scans, with whatever is added
    ask: Callable[[str], int]  # how many it would scan with this condition too


def obstacles_of(seen: Seen) -> tuple[Obstacle, ...]:
    return (*_by_source(seen), *_layout(seen), *_unusable(seen), *_nulls(seen), *_repeated(seen.facts))


def _by_source(seen: Seen) -> Iterator[Obstacle]:
    if Rows.TARGET_ONLY not in rows_of(seen.clauses):
        return
    told = "WHEN NOT MATCHED BY SOURCE is about every row of the target: Delta scans all of it, and no condition changes that"
    fix = "run it as a statement of its own (DELETE or UPDATE with a condition), so that the rest of the MERGE can be pruned"
    zone = seen.target.planner.profile.zone
    keys = [delta_condition(found, None, zone) for found in seen.facts.keys if found.refusal is None]
    rest = " AND ".join(f"({condition})" for condition in (*(conjunct.unaliased for conjunct in seen.on.target_only), *keys))
    numbers = (seen.files_now, seen.ask(rest)) if rest else (None, None)
    yield Obstacle(ObstacleKind.NOT_MATCHED_BY_SOURCE, told, fix, *numbers)


def _layout(seen: Seen) -> Iterator[Obstacle]:
    """The columns the files are laid out by, when ON says nothing about them."""
    facts = seen.target.planner.facts
    names = [*((name,) for name in facts.partition_columns), *_clustering(facts.features.clustering_columns)]
    laid = [column for name in names if (column := column_of(seen.target, name)) is not None]
    if not laid or not seen.facts.rows or Rows.TARGET_ONLY in rows_of(seen.clauses):
        return
    bound = {found.key.column.path for found in seen.facts.keys if found.refusal is None}
    named = frozenset[str]().union(*(conjunct.names for conjunct in seen.on.target_only))
    if any(column.path in bound or column.path[-1].lower() in named for column in laid):
        return
    told = f"ON has no equality on {' or '.join(name_text(column.path) for column in laid)}, by which the files are laid out"
    savings = [(after, name) for name, after in _savings(seen, laid)]
    if not savings:
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, told, "give the source such a column, and ON an equality with it")
        return
    after, name = min(savings, key=lambda saving: saving[0])
    if after < seen.files_now:  # else the files are excluded already, by other columns
        fix = f"if a row never changes its {name}, add  AND t.{name} = s.{name}  to ON"
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, told, fix, seen.files_now, after)


def _savings(seen: Seen, laid: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """How many target files Delta would scan with an equality on each of these columns, where the source has one of its name."""
    for column in laid:
        key = same_named(seen.target, seen.source, column)
        found = None if key is None else measure(seen.source, [key]).keys[0]
        if found is not None and found.refusal is None:
            yield name_text(column.path), seen.ask(delta_condition(found, None, seen.target.planner.profile.zone))


def _clustering(columns: tuple[str, ...] | None) -> Iterator[tuple[str, ...]]:
    for column in columns or ():
        yield tuple(column.split("."))


def _unusable(seen: Seen) -> Iterator[Obstacle]:
    for part in seen.on.unusable:
        told = f"{part.text} bounds no column of the target: {part.why}"
        fix = "compare a column of the target, as it is, with an expression of the source that has its type"
        yield Obstacle(ObstacleKind.UNUSABLE_CONJUNCT, told, fix)
    for found in seen.facts.keys:
        if found.refusal is not None:
            yield Obstacle(ObstacleKind.UNUSABLE_VALUES, f"{found.key.text} bounds nothing: {found.refusal}")


def _nulls(seen: Seen) -> Iterator[Obstacle]:
    for found in seen.facts.keys:
        if found.nulls:
            yield Obstacle(ObstacleKind.NULL_KEYS, _null_text(found, seen.clauses), _null_fix(found))


def _null_text(found: KeyValues, clauses: Sequence[MergeClause]) -> str:
    rows = f"{found.nulls} source row(s) have NULL for {found.key.text}"
    if found.key.is_null_safe:
        return f"{rows}: files in which {found.key.name} may be NULL are candidates too"
    inserts = ", and are inserted again by every run" if Rows.SOURCE_ONLY in rows_of(clauses) else ""
    return f"{rows}: they match nothing{inserts}"


def _null_fix(found: KeyValues) -> str:
    if found.key.is_null_safe:
        return "leave them out of the source, or use = instead of <=>"
    return "leave them out of the source, or use <=> if NULL is to match NULL"


def _repeated(facts: SourceFacts) -> Iterator[Obstacle]:
    if facts.repeated:
        told = f"{facts.repeated} key(s) of the source have more than one row ({facts.example})"
        yield Obstacle(ObstacleKind.REPEATED_KEYS, told, "keep one row per key: a target row that two rows change is an error")
