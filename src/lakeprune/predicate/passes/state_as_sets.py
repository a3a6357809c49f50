"""Every leaf as "a value lies in a set": comparisons, IN, LIKE, boolean columns; and `<=>`, IS TRUE by their definitions.

Safe because the sets are exact or bracketed by Either; a NULL in a list is kept as `OR NULL` (`x IN (1, NULL)` is never
FALSE, so `NOT IN` is never TRUE). Refuses with CROSS_TYPE, COLLATION, OPAQUE_ON_DATA or NO_ORDERED_STATISTICS.
"""

from __future__ import annotations

from lakeprune.predicate.comparison import members, one_of
from lakeprune.predicate.passes.compare_columns import compare_columns
from lakeprune.predicate.passes.keep_partition_leaves import exact, is_partition_only
from lakeprune.predicate.passes.opaque import opaque, why_unordered
from lakeprune.predicate.passes.state_patterns import state_like
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import (
    NULL,
    And,
    Call,
    Column,
    Compare,
    Constant,
    Either,
    Expr,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Not,
    NullTest,
    Op,
    Opaque,
    Or,
    Profile,
    Within,
)
from lakeprune.predicate.walk import columns_of, type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import everything, values
from lakeprune.values.types import BOOLEAN

IS_TRUE = values([True], BOOLEAN)


def state_as_sets(expr: Expr, profile: Profile) -> Expr:
    """The same predicate over Within, NullTest, ColumnCompare, Constant and Opaque leaves."""
    match expr:
        case And(parts):
            return And(tuple(state_as_sets(part, profile) for part in parts))
        case Or(parts):
            return Or(tuple(state_as_sets(part, profile) for part in parts))
        case Not(part):
            return Not(state_as_sets(part, profile))
        case IsTruth(part, truth):
            stated = state_as_sets(part, profile)
            return is_true(stated if truth else Not(stated))
        case IsNull(part):
            return _state_null_test(part, profile)
        case Either(outer, inner):
            return Either(state_as_sets(outer, profile), state_as_sets(inner, profile))
        case Compare():
            return _state_compare(expr, profile)
        case In():
            return _state_in(expr, profile)
        case Like():
            return state_like(expr)
        case Literal(value):
            return Constant(None if value is None else bool(value))
        case Column() | Call():
            return Within(expr, IS_TRUE)
        case _:
            return expr


def is_true(stated: Expr) -> Expr:
    """`stated IS TRUE`: TRUE where it is TRUE, FALSE elsewhere."""
    return And((stated, Not(IsNull(stated))))


def within(value: Expr, bounds: Bounds) -> Expr:
    if bounds.is_exact():
        return Within(value, bounds.outer)
    return Either(Within(value, bounds.outer), Within(value, bounds.inner))


def _state_null_test(part: Expr, profile: Profile) -> Expr:
    match part:
        case Column():
            return NullTest(part)
        case Literal(value):
            return Constant(value is None)
        case Call():
            type_ = type_of(part)
            if type_ is None or type_.family is None:
                return opaque(IsNull(part), ReasonCode.OPAQUE_ON_DATA, "when this is NULL is not known")
            return IsNull(Within(part, everything(type_)))
        case _:
            return IsNull(state_as_sets(part, profile))


def _state_compare(leaf: Compare, profile: Profile) -> Expr:
    if not isinstance(leaf.right, Literal):
        if isinstance(leaf.left, Column) and isinstance(leaf.right, Column):
            return compare_columns(leaf.op, leaf.left, leaf.right)
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, "a comparison between expressions, not with a constant")
    if leaf.right.value is None:
        return _state_null_test(leaf.left, profile) if leaf.op is Op.NULL_SAFE_EQ else NULL
    if leaf.op is Op.NULL_SAFE_EQ:
        equal = _state_compare(Compare(Op.EQ, leaf.left, leaf.right), profile)
        return And((equal, Not(_state_null_test(leaf.left, profile))))
    refused = _unordered(leaf, leaf.left)
    if refused is not None:
        return refused
    type_ = type_of(leaf.left)
    bounds = None if type_ is None else members(leaf.op.value, type_, leaf.right, profile)
    if bounds is None:
        return _cross_type(leaf)
    return within(_stated_value(leaf.left, profile), bounds)


def _state_in(leaf: In, profile: Profile) -> Expr:
    options = [option for option in leaf.options if isinstance(option, Literal)]
    if len(options) < len(leaf.options):
        return state_as_sets(Or(tuple(Compare(Op.EQ, leaf.value, option) for option in leaf.options)), profile)
    present = [option for option in options if option.value is not None]
    if not present:
        return NULL
    refused = _unordered(leaf, leaf.value)
    if refused is not None:
        return refused
    type_ = type_of(leaf.value)
    bounds = None if type_ is None else one_of(type_, present, profile)
    if bounds is None:
        return _cross_type(leaf)
    found = within(_stated_value(leaf.value, profile), bounds)
    return found if len(present) == len(options) else Or((found, NULL))


def _stated_value(value: Expr, profile: Profile) -> Expr:
    """A value that is a predicate (`(a < 1) = true`) is stated too."""
    return value if isinstance(value, Column | Call | Literal) else state_as_sets(value, profile)


def _unordered(leaf: Expr, value: Expr) -> Opaque | None:
    if isinstance(value, Column):
        reason = why_unordered(value)
        return None if reason is None else opaque(leaf, reason.code, reason.message)
    if any(column.type.collation for column in columns_of(value)):
        return opaque(leaf, ReasonCode.COLLATION, "a collation decides this comparison")
    return None


def _cross_type(leaf: Expr) -> Expr:
    if is_partition_only(leaf):
        return exact(leaf)
    return opaque(leaf, ReasonCode.CROSS_TYPE, "the types compare only through a cast that does not keep their order")
