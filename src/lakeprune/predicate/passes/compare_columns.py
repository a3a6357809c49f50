"""Column against column, row by row: `shipped > ordered` becomes a ColumnCompare with EQ, LT or LE.

Legal when both sides compare without a cast that could move a value: integers among themselves, one time kind, floats and
doubles, decimals, un-collated strings, booleans. Everything else is opaque with CROSS_TYPE.
"""

from __future__ import annotations

from lakeprune.predicate.comparison import rounded_scale
from lakeprune.predicate.passes.keep_partition_leaves import exact, is_partition_only
from lakeprune.predicate.passes.opaque import opaque, why_unordered
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import And, Column, ColumnCompare, Compare, Expr, IsNull, Not, NullTest, Op, Or
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, DataType, Kind


def compare_columns(op: Op, left: Column, right: Column) -> Expr:
    """The comparison of two columns over the closed node set."""
    leaf = Compare(op, left, right)
    for column in (left, right):
        reason = why_unordered(column)
        if reason is not None:
            return opaque(leaf, reason.code, reason.message)
    if not _comparable(left.type, right.type):
        if is_partition_only(leaf):
            return exact(leaf)
        return opaque(leaf, ReasonCode.CROSS_TYPE, f"{left.type} and {right.type} compare only through a cast")
    if op is Op.NULL_SAFE_EQ:
        equal = ColumnCompare(Op.EQ, left, right)
        return Or((And((equal, Not(IsNull(equal)))), And((NullTest(left), NullTest(right)))))
    if op in (Op.GT, Op.GE):
        return ColumnCompare(Op.LT if op is Op.GT else Op.LE, right, left)
    if op is Op.NE:
        return Not(ColumnCompare(Op.EQ, left, right))
    return ColumnCompare(op, left, right)


def _comparable(left: DataType, right: DataType) -> bool:
    for kinds in (INTEGRAL_KINDS, FLOATING_KINDS):
        if left.kind in kinds and right.kind in kinds:
            return True
    if left.kind is right.kind is Kind.DECIMAL:
        return rounded_scale((left, right)) is None  # otherwise Spark rounds both sides
    return left.kind is right.kind
