"""Predicates beyond any size become partly opaque: the clauses from the one on that would exceed a limit.

Every term, every column and every partition expression costs engines memory and time, far more than linearly beyond some
thousands. Clauses are counted in the order in which they stand; an opaque clause keeps every file, so this is always safe.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.walk import columns_of, nodes

MAX_TERMS = 2_000  # leaves of all clauses; sixteen intervals of a list count as one more
MAX_COLUMNS = 200
MAX_EXPRESSIONS = 200  # over partition columns, evaluated on their values


class Limit:
    """What the clauses so far have used up."""

    def __init__(self) -> None:
        self._terms = 0
        self._columns: set[t.Expr] = set()
        self._expressions: set[t.Expr] = set()

    def within(self, predicate: t.Lowerable) -> t.Lowerable:
        """The predicate of the next clause, or an opaque one in its place."""
        terms, expressions = self._terms, set(self._expressions)
        for node in nodes(predicate):
            if isinstance(node, t.Member):
                terms += 1 + len(node.values.intervals) // 16
            elif isinstance(node, t.NullTest | t.ColumnCompare):
                terms += 1
            elif isinstance(node, t.Exact):
                expressions.add(node)
        columns = self._columns.union(columns_of(predicate))
        sizes = (
            (terms, MAX_TERMS, "terms"),
            (len(columns), MAX_COLUMNS, "columns"),
            (len(expressions), MAX_EXPRESSIONS, "expressions over partition columns"),
        )
        for size, most, what in sizes:
            if size > most:
                return _opaque(predicate, f"with this clause the predicate has {size:,} {what}; {most:,} are used")
        self._terms, self._columns, self._expressions = terms, columns, expressions
        return predicate


def _opaque(predicate: t.Lowerable, message: str) -> t.Opaque:
    from lakeprune.predicate.write.show import show

    return t.Opaque(show(predicate), Reason(ReasonCode.PREDICATE_TOO_LARGE, message), ())
