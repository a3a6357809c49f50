"""Conditions that a scan's own filters imply and that its connector can use.

In: the clauses that the filters of a scan are, and the table's facts. Out: `Conditions`, as SQL over bare columns and constants,
with times in UTC. Each is TRUE on every row on which the filters are TRUE, so that `filters AND condition` keeps the same rows;
none can fail on any row. What would make a connector lose a row is never added (formats/delta/spark_usable.py), nor are
expressions over partition columns, which may fail or depend on the zone: the connector evaluates them itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from lakeprune.formats.delta.spark_skipping import DeltaSpark
from lakeprune.formats.delta.spark_usable import is_plain, is_rounded, usable
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.passes.demand_values import demanded, inferred_by_spark
from lakeprune.predicate.passes.normalise import merge
from lakeprune.predicate.passes.rebuild import any_of
from lakeprune.predicate.passes.sargable import sargable
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    FALSE,
    NULL,
    TRUE,
    And,
    Call,
    Clause,
    Column,
    Compare,
    Constant,
    Expr,
    Like,
    Member,
    Not,
    NullTest,
    Op,
    Opaque,
    Or,
    Profile,
)  # fmt: skip
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.pasteable import implied, only, plain_sql
from lakeprune.values.types import FLOATING_KINDS

MOST_BRANCHES = 8  # that a scan is divided into
ROUNDED = "a writer may have rounded the recorded bounds of so long a decimal, and Delta believes them"
_ZONE = "UTC"  # what the session that reads these texts is set to


class Conditions(Struct, frozen=True):
    """`added` for the whole scan; `branches` divide it instead, where that says more; `refused` are clauses and why."""

    added: tuple[str, ...]
    branches: tuple[tuple[str, ...], ...]
    refused: tuple[tuple[str, str], ...]


def conditions_of(parts: Iterable[tuple[Expr, Clause]], facts: SnapshotFacts, profile: Profile, zone: str = _ZONE) -> Conditions:
    """What can be added for the clauses (each with the conjunct it was made of) that the connector does not use as written.

    `zone` is that of the session which reads the texts.
    """
    is_delta = facts.format == "delta"
    added: dict[str, None] = {}
    branches: list[tuple[str, ...]] = []
    refused: list[tuple[str, str]] = []
    for conjunct, clause in parts:
        unused = _unused(conjunct, clause, facts, profile) if is_delta else _unused_by_iceberg(conjunct)
        if unused is None:
            continue
        known = _known(conjunct, clause, profile)
        kept = usable(known, has_exact_decimals=not is_delta)
        sides = [only(kept, role) for role in Role] if is_delta else [kept]
        found = [text for side in sides if side != TRUE and (text := plain_sql(side, zone)) is not None]
        added |= dict.fromkeys((*found, *_values(kept, conjunct, zone)))
        divided = _branches(known, profile) if is_delta else []
        branches = branches or divided
        if not found and not divided:
            is_unsafe = is_delta and any(isinstance(node, Member) and is_rounded(node.column) for node in nodes(known))
            why = ROUNDED if is_unsafe else clause.reasons[0].message if clause.reasons else unused
            refused.append((clause.text, why))
    return Conditions(tuple(added), tuple((*branch, *added) for branch in branches), tuple(refused))


def _unused(conjunct: Expr, clause: Clause, facts: SnapshotFacts, profile: Profile) -> str | None:
    """Why Delta does not use a conjunct whole; None where it does."""
    columns = columns_of(conjunct)
    if columns and all(column.role is Role.PARTITION for column in columns):
        return None  # evaluated exactly, as it is written
    if _is_never_true(clause.predicate) and not isinstance(conjunct, Constant):
        return "it looks at every condition by itself"
    if any(isinstance(node, Compare) and node.op is Op.NULL_SAFE_EQ for node in nodes(conjunct)):
        return "it does not look into structs"  # equal structs are bound as equal fields
    reasons = DeltaSpark(facts, profile).plan([conjunct])[1]
    return reasons[0] if reasons else "it is not known" if any(isinstance(node, Opaque) for node in nodes(conjunct)) else None


def _unused_by_iceberg(conjunct: Expr) -> str | None:
    """Why Spark does not hand a conjunct to Iceberg; None where it does."""
    has_function = any(isinstance(node, Call | Like | Opaque) for node in nodes(conjunct))
    return "Spark does not hand functions and arithmetic over to Iceberg" if has_function else None


def _known(conjunct: Expr, clause: Clause, profile: Profile) -> Expr:
    """What the clause implies, with what the rules for proposals make of what the ordinary ones leave opaque."""
    if _is_never_true(clause.predicate):
        return FALSE
    has_opaque = any(isinstance(node, Opaque) for node in nodes(clause.predicate))
    return implied(sargable(conjunct, profile) if has_opaque else clause.predicate)


def _values(kept: Expr, conjunct: Expr, zone: str) -> Iterator[str]:
    """That columns have a value, where Spark does not infer it: `n IN (1, a)` and `round(n) = 1` are not TRUE where n is NULL."""
    stated = {node.column for node in nodes(kept) if isinstance(node, Member | NullTest)} | {*inferred_by_spark(conjunct)}
    for column in demanded(conjunct) if kept != FALSE else ():
        text = plain_sql(usable(Not(NullTest(column))), zone)
        if column.role is Role.DATA and column not in stated and text is not None:
            yield text


def _is_never_true(predicate: Expr) -> bool:
    """Ranges that have no value in common are a set without a value."""
    match predicate:
        case Member(_, values):
            return values.is_empty()
        case _:
            return predicate in (FALSE, NULL)


def _branches(predicate: Expr, profile: Profile) -> list[tuple[str, ...]]:
    """A division of the scan by partition values, for an OR of which some legs ask for partitions; none where there is none.

    Branch j has the rows on which the partition condition of leg j is TRUE and that of no leg before; the last has the rows on
    which none is. A leg can be TRUE only where its partition condition is, so each branch demands the data conditions of those
    legs alone that are left. `p = 1 OR id = 5` is `p = 1`, and `id = 5` in the other partitions.
    """
    if not isinstance(predicate, Or):
        return []
    # A leg that is never TRUE asks for nothing.
    asking = [leg for leg in predicate.parts if leg not in (FALSE, NULL)]
    legs = [(_partition_side(leg), only(usable(leg), Role.DATA)) for leg in asking]
    regions = list(dict.fromkeys(where for where, _ in legs if where != TRUE))
    if not regions or len(regions) >= MOST_BRANCHES:
        return []
    found: list[tuple[str, ...]] = []
    before: list[str] = []
    for index, where in enumerate((*regions, TRUE)):
        left = [(other, data) for other, data in legs if other not in regions[:index]]
        possible = [data for other, data in left if other in (TRUE, where) or not _excludes(where, other, profile)]
        text, data = plain_sql(where, _ZONE), TRUE if TRUE in possible else any_of(possible)
        demanded = plain_sql(data, _ZONE) if possible else ""
        if text is None or demanded is None:
            return []
        if possible:
            found.append((*before, *_unless_true(where, text), *_unless_true(data, demanded)))
        before.append(f"NOT coalesce({text}, FALSE)")
    return found


def _unless_true(part: Expr, text: str) -> Iterator[str]:
    if part != TRUE:
        yield text


def _partition_side(leg: Expr) -> Expr:
    """What a leg demands of partition columns, where that can be written down."""
    side = only(leg, Role.PARTITION)
    members = [node for node in nodes(side) if isinstance(node, Member | NullTest)]
    is_whole = all(isinstance(node, And | Or | Not | Member | NullTest | Column | Constant) for node in nodes(side))
    is_written = all(is_plain(node.column) and node.column.type.kind not in FLOATING_KINDS for node in members)
    return side if is_whole and is_written else TRUE


def _excludes(where: Expr, other: Expr, profile: Profile) -> bool:
    """Whether no partition satisfies both."""
    both = merge(And((where, other)), profile)
    return _is_never_true(both)
