"""A leaf that metadata cannot decide, with the reason for it and the columns it reads."""

from __future__ import annotations

from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.tree import Column, Expr, Opaque
from lakeprune.predicate.walk import columns_of
from lakeprune.values.types import NESTED_KINDS


def opaque(leaf: Expr, code: ReasonCode, message: str) -> Opaque:
    from lakeprune.predicate.write.show import show

    return Opaque(show(leaf), Reason(code, message), columns_of(leaf))


def why_unordered(column: Column) -> Reason | None:
    """Why comparisons on this column say nothing about its statistics; None when they do."""
    name = ".".join(column.path)
    if column.statistics_unusable:
        return Reason(ReasonCode.TYPE_CHANGE_UNKNOWN, column.statistics_unusable)
    if column.type.collation:
        return Reason(ReasonCode.COLLATION, f"{name} is ordered by {column.type.collation}, its statistics by bytes")
    if column.type.kind in NESTED_KINDS or column.type.family is None:
        return Reason(ReasonCode.NO_ORDERED_STATISTICS, f"{name} is a {column.type}, which has no order")
    return None
