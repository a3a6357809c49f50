"""What stands in the way of pruning the target of a MERGE, with what to add to ON where that is known.

In: ON by its classes, the values of the source's keys, the table's layout. Out: `Obstacle`s. How many files a fix would save is
asked of Delta's own planning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakeprune.apps.statements.merge.clauses import MergeClause, Rows
from lakeprune.apps.statements.merge.effects import rows_of
from lakeprune.apps.statements.merge.keys import KeyValues, delta_condition
from lakeprune.apps.statements.merge.model import Obstacle, ObstacleKind
from lakeprune.apps.statements.merge.spark_keys import measure
from lakeprune.apps.statements.merge.spark_names import column_of
from lakeprune.predicate.tree import Column
from lakeprune.predicate.write.show import name_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.checked import CheckedMerge


def obstacles_of(checked: CheckedMerge, scanned: int) -> tuple[Obstacle, ...]:
    """Everything that keeps files from being excluded; `scanned` is how many Delta scans with whatever is added."""
    return (*_by_source(checked, scanned), *_layout(checked, scanned), *_unusable(checked), *_nulls(checked), *_repeated(checked))


def _by_source(checked: CheckedMerge, scanned: int) -> Iterator[Obstacle]:
    if Rows.TARGET_ONLY not in rows_of(checked.clauses):
        return
    message = "WHEN NOT MATCHED BY SOURCE is about every row of the target: Delta scans all of it, and no condition changes that"
    fix = "run it as a statement of its own (DELETE or UPDATE with a condition), so that the rest of the MERGE can be pruned"
    keys = [delta_condition(found, None, checked.zone) for found in checked.facts.keys if found.refusal is None]
    rest = " AND ".join(f"({condition})" for condition in (*(conjunct.unaliased for conjunct in checked.on.target_only), *keys))
    numbers = (scanned, checked.files_with(rest)) if rest else (None, None)
    yield Obstacle(ObstacleKind.NOT_MATCHED_BY_SOURCE, message, fix, *numbers)


def _layout(checked: CheckedMerge, scanned: int) -> Iterator[Obstacle]:
    """The columns the files are laid out by, when ON says nothing about them."""
    facts = checked.target.planner.facts
    names = [*((name,) for name in facts.partition_columns), *_clustering(facts.features.clustering_columns)]
    laid = [column for name in names if (column := column_of(checked.target, name)) is not None]
    if not laid or not checked.facts.rows or Rows.TARGET_ONLY in rows_of(checked.clauses):
        return
    bound = {found.key.column.path for found in checked.facts.keys if found.refusal is None}
    named = frozenset[str]().union(*(conjunct.names for conjunct in checked.on.target_only))
    if any(column.path in bound or column.path[-1].lower() in named for column in laid):
        return
    message = f"ON has no equality on {' or '.join(name_text(column.path) for column in laid)}, by which the files are laid out"
    savings = [(after, name) for name, after in _savings(checked, laid)]
    if not savings:
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, message, "give the source such a column, and ON an equality with it")
        return
    after, name = min(savings, key=lambda saving: saving[0])
    if after < scanned:  # else the files are excluded already, by other columns
        fix = f"if a row never changes its {name}, add  AND t.{name} = s.{name}  to ON"
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, message, fix, scanned, after)


def _savings(checked: CheckedMerge, laid: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """How many target files Delta would scan with an equality on each of these columns, where the source has one of its name."""
    for column in laid:
        key = checked.names.same_named(column)
        found = None if key is None else measure(checked.source, [key]).keys[0]
        if found is not None and found.refusal is None:
            yield name_text(column.path), checked.files_with(delta_condition(found, None, checked.zone))


def _clustering(columns: tuple[str, ...] | None) -> Iterator[tuple[str, ...]]:
    for column in columns or ():
        yield tuple(column.split("."))


def _unusable(checked: CheckedMerge) -> Iterator[Obstacle]:
    for part in checked.on.unusable:
        message = f"{part.text} bounds no column of the target: {part.why}"
        fix = "compare a column of the target, as it is, with an expression of the source that has its type"
        yield Obstacle(ObstacleKind.UNUSABLE_CONJUNCT, message, fix)
    for found in checked.facts.keys:
        if found.refusal is not None:
            yield Obstacle(ObstacleKind.UNUSABLE_VALUES, f"{found.key.text} bounds nothing: {found.refusal}")


def _nulls(checked: CheckedMerge) -> Iterator[Obstacle]:
    for found in checked.facts.keys:
        if found.nulls:
            yield Obstacle(ObstacleKind.NULL_KEYS, _null_text(found, checked.clauses), _null_fix(found))


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


def _repeated(checked: CheckedMerge) -> Iterator[Obstacle]:
    facts = checked.facts
    if facts.repeated:
        message = f"{facts.repeated} key(s) of the source have more than one row ({facts.example})"
        yield Obstacle(ObstacleKind.REPEATED_KEYS, message, "keep one row per key: a target row that two rows change is an error")
