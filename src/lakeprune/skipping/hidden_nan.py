"""The assumption that no NaN hides outside recorded bounds: what most engines take for granted, and no metadata proves (trap T1).

In: a fact. Out: the fact under the assumption, and the columns it is made about. It is made only where NaN follows other values
in the order (`x > 5`, `x != 5`), never where the predicate asks for NaN itself (`isnan(x)`, `x = NaN`), never against a recorded
NaN, and never about values that are known exactly. Whoever acts on rows must not use it.
"""

from __future__ import annotations

from lakeprune.predicate.tree import Column
from lakeprune.skipping.fact import All, Fact, NanFree, NoNanSeen, Some, Unproven, all_of, some_of, unproven, walk
from lakeprune.skipping.ladder import Evidence


def columns_in_doubt(fact: Fact, evidence: Evidence) -> tuple[Column, ...]:
    """The columns whose hidden NaN would matter, each once."""
    found = (part.column.column for part in walk(fact) if isinstance(part, NanFree) and not part.is_sought)
    return tuple(column for column in dict.fromkeys(found) if not evidence.is_exact(column))


def without_hidden_nan(fact: Fact, columns: tuple[Column, ...]) -> Fact:
    """The fact as if these columns hid no NaN."""
    match fact:
        case NanFree(seen, False) if seen.column in columns:
            return NoNanSeen(seen)
        case All(parts):
            return all_of(*(without_hidden_nan(part, columns) for part in parts))
        case Some(parts):
            return some_of(*(without_hidden_nan(part, columns) for part in parts))
        case Unproven(part):
            return unproven(without_hidden_nan(part, columns))
        case _:
            return fact
