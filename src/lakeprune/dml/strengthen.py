"""Step 6's condition: the original, with comparisons beside it that it implies and that Delta's own skipping can use.

In: a bound condition. Out: SQL conditions, each TRUE on every row on which the original is TRUE: `original AND added` is TRUE on
the same rows as the original. They hold in the time zone of the plan. Whether they help is asked of Delta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeprune.predicate.schema import Role
from lakeprune.predicate.spell import implied, only, spell
from lakeprune.predicate.split import spelt_clauses
from lakeprune.predicate.tree import TRUE, And, Clause, Expr, Member, Or, Profile
from lakeprune.predicate.walk import columns_of
from lakeprune.report.diagnosis.delta_spark import DeltaSpark
from lakeprune.tables.snapshot import SnapshotFacts

MOST_RANGES = 64  # of one column: a longer list is merged across its smallest gaps


def added_conditions(bound: Expr, facts: SnapshotFacts, profile: Profile) -> tuple[str, ...]:
    """What can be added for the clauses that Delta does not use as they are written."""
    found: dict[str, None] = {}
    for spelt, clause in spelt_clauses(bound, profile):
        spark = DeltaSpark(facts, profile)
        spark.plan([spelt])
        if spark.reasons:
            found |= dict.fromkeys(_conditions(clause, profile))
    return tuple(found)


def strengthened(condition: str, added: Sequence[str]) -> str:
    """The condition with these beside it.

    >>> strengthened("a + 1 = 2 OR FALSE", ["a = 1"])
    '(a + 1 = 2 OR FALSE) AND (a = 1)'
    """
    return " AND ".join(f"({part})" for part in (condition, *added))


def _conditions(clause: Clause, profile: Profile) -> Iterator[str]:
    known = implied(clause.predicate)
    for role in Role:
        side = only(_shorter(known), role)
        # Delta evaluates what concerns partition columns alone as it is written.
        if side == TRUE or all(column.role is Role.PARTITION for column in columns_of(clause.predicate)):
            continue
        text = spell(side, profile.zone)
        if text is not None:
            yield text


def _shorter(predicate: Expr) -> Expr:
    """The predicate with long lists merged into ranges. Never below a NOT, where more values would mean fewer rows."""
    match predicate:
        case And(parts):
            return And(tuple(map(_shorter, parts)))
        case Or(parts):
            return Or(tuple(map(_shorter, parts)))
        case Member(column, values):
            return Member(column, values.merged_to(MOST_RANGES))
        case _:
            return predicate
