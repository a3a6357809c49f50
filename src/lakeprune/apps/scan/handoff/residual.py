"""What is left to filter in a file, as an Arrow expression.

In: the clauses of a plan, and of each file the ones that are left and its partition values. Out: one filter per combination of
both, made once. Expressions over partition columns become constants here: in one file they have one value. A clause that cannot
be applied exactly outside Spark is refused before any file is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from lakeprune.apps.scan.filters.arrow_rows import arrow_filter
from lakeprune.apps.scan.filters.exactness import NotExact, why_not_exact
from lakeprune.apps.scan.model import ScanClause
from lakeprune.errors import UsageError
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.normalise import normalise_whole
from lakeprune.predicate.passes.rebuild import all_of, rebuild
from lakeprune.predicate.tree import TRUE, Column, Constant, Exact, Expr, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.values.types import Scalar


class Residual(Struct, frozen=True):
    """A filter on the rows of a file, and the predicate it was made of."""

    predicate: Expr
    expression: Any


class Residuals:
    def __init__(self, clauses: Sequence[ScanClause], profile: Profile) -> None:
        self._clauses, self._profile = clauses, profile
        self._whole: dict[int, Expr] = {}
        self._made: dict[tuple[tuple[int, ...], tuple[Scalar, ...]], Residual | None] = {}

    def check(self, used: Sequence[int]) -> None:
        """LP280 for the first of these clauses that has no exact form here."""
        for number in used:
            reason = why_not_exact(self._predicate(number))
            if reason is not None:
                raise _refused(self._clauses[number], reason)

    def of(self, left: tuple[int, ...], partition: Mapping[str, Scalar]) -> Residual | None:
        """The filter of a file; None when every row matches."""
        if not left:
            return None
        predicate = all_of([self._predicate(number) for number in left])
        columns = [column for node in nodes(predicate) if isinstance(node, Exact) for column in node.columns]
        known = (left, tuple(partition[column.path[0]] for column in columns))
        if known not in self._made:
            self._made[known] = self._filter(left, predicate, partition)
        return self._made[known]

    def _predicate(self, number: int) -> Expr:
        if number not in self._whole:
            self._whole[number] = normalise_whole(self._clauses[number].written, self._profile)
        return self._whole[number]

    def _filter(self, left: tuple[int, ...], predicate: Expr, partition: Mapping[str, Scalar]) -> Residual | None:
        try:
            settled = rebuild(predicate, leaf=lambda leaf: self._settled(leaf, partition))
            return None if settled == TRUE else Residual(settled, arrow_filter(settled))
        except NotExact as problem:
            raise _refused(self._clauses[left[0]], str(problem)) from problem

    def _settled(self, leaf: Expr, partition: Mapping[str, Scalar]) -> Expr:
        if not isinstance(leaf, Exact):
            return leaf
        row: dict[Column, Scalar] = {column: partition[column.path[0]] for column in leaf.columns}
        try:
            truth = evaluate(leaf.predicate, row, self._profile)
        except EvaluationFailed as problem:
            raise NotExact(f"an expression over partition columns cannot be evaluated: {problem}") from problem
        if truth is not None and not isinstance(truth, bool):
            raise NotExact("an expression over partition columns is not a condition")
        return Constant(truth)


def _refused(clause: ScanClause, reason: str) -> UsageError:
    return UsageError(
        "LP280",
        "a clause cannot be applied to rows outside Spark with exactly Spark's meaning",
        where=clause.text,
        why=reason,
        fix="use plan.to_spark(spark), or take the rows unfiltered with ScanOptions(pushdown=False) and apply it yourself",
    )
