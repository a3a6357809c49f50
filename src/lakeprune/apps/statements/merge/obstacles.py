"""What stands in the way of pruning the target of a MERGE, with what to add to ON where that is known.

In: ON by its classes, the values of the source's keys, the table's layout. Out: `Obstacle`s. How many files a fix would save is
asked of Delta's own planning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakeprune.apps.statements.merge.clauses import Rows
from lakeprune.apps.statements.merge.effects import rows_of
from lakeprune.apps.statements.merge.keys import delta_condition
from lakeprune.apps.statements.merge.model import Obstacle, ObstacleKind
from lakeprune.apps.statements.merge.spark_names import column_of
from lakeprune.apps.statements.merge.spark_source import measure
from lakeprune.predicate.tree import Column
from lakeprune.predicate.write.show import name_text

if TYPE_CHECKING:
    from lakeprune.apps.statements.merge.checked import CheckedMerge


def obstacles_of(checked: CheckedMerge, scanned: int) -> tuple[Obstacle, ...]:
    """Everything that keeps files from being skipped; `scanned` is how many Delta scans with whatever is added."""
    layout = _by_source if Rows.TARGET_ONLY in rows_of(checked.clauses) else _layout
    return (*layout(checked, scanned), *_unusable(checked), *_keys(checked))


def _by_source(checked: CheckedMerge, scanned: int) -> Iterator[Obstacle]:
    message = "WHEN NOT MATCHED BY SOURCE is about every row of the target: Delta scans all of it, and no condition changes that"
    fix = "run it as a statement of its own (DELETE or UPDATE with a condition), so that the rest of the MERGE can be pruned"
    keys = [delta_condition(found, None, checked.zone) for found in checked.facts.keys if found.refusal is None]
    rest = " AND ".join(f"({condition})" for condition in (*(conjunct.unaliased for conjunct in checked.on.target_only), *keys))
    numbers = (scanned, checked.files_with(rest)) if rest else (None, None)
    yield Obstacle(ObstacleKind.NOT_MATCHED_BY_SOURCE, message, fix, *numbers)


def _layout(checked: CheckedMerge, scanned: int) -> Iterator[Obstacle]:
    """The columns the files are laid out by, when ON says nothing about them."""
    facts = checked.target.planner.facts
    clustering = (tuple(column.split(".")) for column in facts.features.clustering_columns or ())
    names = [*((name,) for name in facts.partition_columns), *clustering]
    laid = [column for name in names if (column := column_of(checked.target, name)) is not None]
    bound = {found.key.column.path for found in checked.bounds}
    named = frozenset[str]().union(*(conjunct.names for conjunct in checked.on.target_only))
    is_used = any(column.path in bound or column.path[-1].lower() in named for column in laid)
    if not laid or not checked.facts.rows or is_used:
        return
    message = f"ON has no equality on {' or '.join(name_text(column.path) for column in laid)}, by which the files are laid out"
    savings = list(_savings(checked, laid))
    if not savings:
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, message, "give the source such a column, and ON an equality with it")
        return
    after, name = min(savings, key=lambda saving: saving[0])
    if after < scanned:  # else the files are skipped already, by other columns
        fix = f"if a row never changes its {name}, add  AND t.{name} = s.{name}  to ON"
        yield Obstacle(ObstacleKind.NO_LAYOUT_KEY, message, fix, scanned, after)


def _savings(checked: CheckedMerge, laid: Sequence[Column]) -> Iterator[tuple[int, str]]:
    """How many target files Delta would scan with an equality on each of these columns, where the source has one of its name."""
    for column in laid:
        key = checked.names.same_named(column)
        found = None if key is None else measure(checked.source, [key]).keys[0]
        if found is not None and found.refusal is None:
            yield checked.files_with(delta_condition(found, None, checked.zone)), name_text(column.path)


def _unusable(checked: CheckedMerge) -> Iterator[Obstacle]:
    fix = "compare a column of the target, as it is, with an expression of the source that has its type"
    for text, why in checked.on.unusable:
        yield Obstacle(ObstacleKind.UNUSABLE_CONJUNCT, f"{text} bounds no column of the target: {why}", fix)
    for found in checked.facts.keys:
        if found.refusal is not None:
            yield Obstacle(ObstacleKind.UNUSABLE_VALUES, f"{found.key.text} bounds nothing: {found.refusal}")


def _keys(checked: CheckedMerge) -> Iterator[Obstacle]:
    """NULL among the keys, and keys that come twice."""
    facts = checked.facts
    for found in facts.keys:
        rows = f"{found.nulls} source row(s) have NULL for {found.key.text}"
        if found.nulls and found.key.is_null_safe:
            message = f"{rows}: files in which {found.key.name} may be NULL are candidates too"
            yield Obstacle(ObstacleKind.NULL_KEYS, message, "leave them out of the source, or use = instead of <=>")
        elif found.nulls:
            inserts = ", and are inserted again by every run" if Rows.SOURCE_ONLY in rows_of(checked.clauses) else ""
            fix = "leave them out of the source, or use <=> if NULL is to match NULL"
            yield Obstacle(ObstacleKind.NULL_KEYS, f"{rows}: they match nothing{inserts}", fix)
    if facts.repeated:
        message = f"{facts.repeated} key(s) of the source have more than one row ({facts.example})"
        yield Obstacle(ObstacleKind.REPEATED_KEYS, message, "keep one row per key: a target row that two rows change is an error")
