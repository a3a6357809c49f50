"""Step 6's condition: the original, with comparisons beside it that it implies and that Delta's own skipping can use.

In: the clauses of a condition, and what Delta scans for one. Out: a `Strengthening`. Each added condition is TRUE on every row on
which the original is TRUE: `original AND added` is TRUE on the same rows as the original. They are valid in the plan's time zone.
What would make Delta skip a file with such a row is never added (formats/delta/spark_usable.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lakeprune.apps.statements.model import Outcome
from lakeprune.apps.statements.plan import Strengthening
from lakeprune.apps.statements.statement import Checked
from lakeprune.formats.delta.spark_skipping import DeltaSpark
from lakeprune.formats.delta.spark_usable import usable
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import TRUE, Clause, Expr, Profile
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.pasteable import implied, only, plain_sql


def strengthening_of(checked: Checked, outcome: Outcome, candidates: int, *, is_wanted: bool) -> Strengthening:
    """The condition with each addition beside it that makes Delta's own scan smaller, until that reads the candidates alone."""
    if outcome.is_empty and not checked.always_scans:
        return Strengthening(None, None, (), None, is_wanted)
    smallest = as_written = checked.scan(())
    scanned: list[str] = []
    added: list[str] = []
    for addition in checked.additions() if is_wanted and as_written.files > candidates else ():
        found = checked.scan((*scanned, *addition.scanned))
        if found.files < smallest.files:
            smallest = found
            scanned += addition.scanned
            added += addition.executed
        if smallest.files <= candidates:
            break
    if not added:
        return Strengthening(as_written, None, (), None, is_wanted)
    return Strengthening(as_written, strengthened(checked.text.executed, added), tuple(added), smallest, is_wanted)


def added_conditions(parts: Iterable[tuple[Expr, Clause]], facts: SnapshotFacts, profile: Profile) -> tuple[str, ...]:
    """What can be added for the clauses (each with the conjuncts it was made of) that Delta does not use as they are written."""
    found: dict[str, None] = {}
    spark = DeltaSpark(facts, profile)
    for conjunct, clause in parts:
        if spark.plan([conjunct])[1]:
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
        side = only(usable(known), role)
        # Delta evaluates what concerns partition columns alone as it is written.
        if side == TRUE or all(column.role is Role.PARTITION for column in columns_of(clause.predicate)):
            continue
        text = plain_sql(side, profile.zone)
        if text is not None:
            yield text
