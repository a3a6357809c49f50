"""Every leaf as "a value lies in a set": comparisons, IN, LIKE, boolean columns; and `<=>`, IS TRUE by their definitions.

Safe because the sets are exact or bracketed by Either; a NULL in a list is kept as `OR NULL` (`x IN (1, NULL)` is never
FALSE, so `NOT IN` is never TRUE). Refuses with CROSS_TYPE, COLLATION, OPAQUE_ON_DATA or NO_ORDERED_STATISTICS.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.comparison import floored, members, one_of, rounded_scale, whole
from lakeprune.predicate.functions.like_pattern import Wildcard, pieces_of
from lakeprune.predicate.functions.pieces import within_bounds
from lakeprune.predicate.passes.keep_partition_leaves import exact, is_partition_only
from lakeprune.predicate.passes.opaque import opaque, why_unordered
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import columns_of, type_of
from lakeprune.values.bounds import Bounds
from lakeprune.values.intervals import everything, nothing, prefixed, values
from lakeprune.values.types import BOOLEAN, FLOATING_KINDS, INTEGRAL_KINDS, STRING, DataType, Kind

_REST = "only the constant prefix of the pattern can be checked against minimum and maximum"
_NO_PREFIX = "the pattern begins with a wildcard, so minimum and maximum say nothing about it"
IS_TRUE = values([True], BOOLEAN)


def state_as_sets(expr: Expr, profile: Profile) -> Expr:
    """The same predicate over Within, NullTest, ColumnCompare, Constant and Opaque leaves."""
    return rebuild(expr, leaf=lambda leaf: _state(leaf, profile), node=_stated_truth)


def _stated_truth(node: Expr) -> Expr:
    return is_true(node.part if node.truth else t.Not(node.part)) if isinstance(node, t.IsTruth) else node


def _state(leaf: Expr, profile: Profile) -> Expr:
    match leaf:
        case t.IsNull(part):
            return _state_null_test(part, profile)
        case t.Compare():
            return _state_compare(leaf, profile)
        case t.In():
            return _state_in(leaf, profile)
        case t.Like():
            return state_like(leaf)
        case t.Literal(value):
            return t.Constant(None if value is None else bool(value))
        case t.Column() | t.Call():
            return t.Within(leaf, IS_TRUE)
        case _:
            return leaf


def is_true(stated: Expr) -> Expr:
    """`stated IS TRUE`: TRUE where it is TRUE, FALSE elsewhere."""
    return t.And((stated, t.Not(t.IsNull(stated))))


def _state_null_test(part: Expr, profile: Profile) -> Expr:
    match part:
        case t.Column():
            return t.NullTest(part)
        case t.Literal(value):
            return t.Constant(value is None)
        case t.Call():
            type_ = type_of(part)
            if type_ is None or type_.family is None:
                return opaque(t.IsNull(part), ReasonCode.OPAQUE_ON_DATA, "when this is NULL is not known")
            return t.IsNull(t.Within(part, everything(type_)))
        case _:
            return t.IsNull(state_as_sets(part, profile))


def _state_compare(leaf: t.Compare, profile: Profile) -> Expr:
    if not isinstance(leaf.right, t.Literal):
        if isinstance(leaf.left, t.Column) and isinstance(leaf.right, t.Column):
            return compare_columns(leaf.op, leaf.left, leaf.right)
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, "a comparison between expressions, not with a constant")
    if leaf.right.value is None:
        return _state_null_test(leaf.left, profile) if leaf.op is t.Op.NULL_SAFE_EQ else t.NULL
    if leaf.op is t.Op.NULL_SAFE_EQ:
        equal = _state_compare(t.Compare(t.Op.EQ, leaf.left, leaf.right), profile)
        return t.And((equal, t.Not(_state_null_test(leaf.left, profile))))
    if isinstance(leaf.left, t.Column) and leaf.left.has_nanoseconds:
        return _state_nanoseconds(leaf, leaf.left, floored(leaf.op.value, leaf.left.type, leaf.right, profile))
    refused = _unordered(leaf, leaf.left)
    if refused is not None:
        return refused
    type_ = type_of(leaf.left)
    bounds = None if type_ is None else members(leaf.op.value, type_, leaf.right, profile)
    if bounds is None:
        return _cross_type(leaf)
    return within_bounds(_stated_value(leaf.left, profile), bounds)


def _state_in(leaf: t.In, profile: Profile) -> Expr:
    options = [option for option in leaf.options if isinstance(option, t.Literal)]
    if len(options) < len(leaf.options):
        return state_as_sets(t.Or(tuple(t.Compare(t.Op.EQ, leaf.value, option) for option in leaf.options)), profile)
    present = [option for option in options if option.value is not None]
    if not present:
        return t.NULL
    if isinstance(leaf.value, t.Column) and leaf.value.has_nanoseconds:
        equal = one_of(leaf.value.type, present, profile)
        found = _state_nanoseconds(leaf, leaf.value, None if equal is None else Bounds(equal.outer, nothing(leaf.value.type)))
        return found if len(present) == len(options) else t.Or((found, t.NULL))
    refused = _unordered(leaf, leaf.value)
    if refused is not None:
        return refused
    type_ = type_of(leaf.value)
    bounds = None if type_ is None else one_of(type_, present, profile)
    if bounds is None:
        return _cross_type(leaf)
    found = within_bounds(_stated_value(leaf.value, profile), bounds)
    return found if len(present) == len(options) else t.Or((found, t.NULL))


def _state_nanoseconds(leaf: Expr, column: t.Column, bounds: Bounds | None) -> Expr:
    """A comparison of nanoseconds over the microseconds below them; settled at once, for no function may be unwrapped to it."""
    if bounds is None:
        return _cross_type(leaf)
    return t.Either(*(t.Member(column, whole(each, column.type)) for each in (bounds.outer, bounds.inner)))


def _stated_value(value: Expr, profile: Profile) -> Expr:
    """A value that is a predicate (`(a < 1) = true`) is stated too."""
    return value if isinstance(value, t.Column | t.Call | t.Literal) else state_as_sets(value, profile)


def _unordered(leaf: Expr, value: Expr) -> t.Opaque | None:
    if isinstance(value, t.Column):
        reason = why_unordered(value)
        return None if reason is None else opaque(leaf, reason.code, reason.message)
    if any(column.type.collation for column in columns_of(value)):
        return opaque(leaf, ReasonCode.COLLATION, "a collation decides this comparison")
    return None


def _cross_type(leaf: Expr) -> Expr:
    if is_partition_only(leaf):
        return exact(leaf)
    return opaque(leaf, ReasonCode.CROSS_TYPE, "the types compare only through a cast that does not keep their order")


def compare_columns(op: t.Op, left: t.Column, right: t.Column) -> Expr:
    """Column against column, row by row, as EQ, LT or LE.

    Legal when both sides compare without a cast that could move a value: integers among themselves, one time kind, floats and
    doubles, decimals, un-collated strings, booleans. Everything else is opaque with CROSS_TYPE.
    """
    leaf = t.Compare(op, left, right)
    for column in (left, right):
        reason = why_unordered(column)
        if reason is not None:
            return opaque(leaf, reason.code, reason.message)
    if not _comparable(left.type, right.type):
        if is_partition_only(leaf):
            return exact(leaf)
        return opaque(leaf, ReasonCode.CROSS_TYPE, f"{left.type} and {right.type} compare only through a cast")
    if op is t.Op.NULL_SAFE_EQ:
        equal = t.ColumnCompare(t.Op.EQ, left, right)
        return t.Or((t.And((equal, t.Not(t.IsNull(equal)))), t.And((t.NullTest(left), t.NullTest(right)))))
    if op in (t.Op.GT, t.Op.GE):
        return t.ColumnCompare(t.Op.LT if op is t.Op.GT else t.Op.LE, right, left)
    if op is t.Op.NE:
        return t.Not(t.ColumnCompare(t.Op.EQ, left, right))
    return t.ColumnCompare(op, left, right)


def _comparable(left: DataType, right: DataType) -> bool:
    for kinds in (INTEGRAL_KINDS, FLOATING_KINDS):
        if left.kind in kinds and right.kind in kinds:
            return True
    if left.kind is right.kind is Kind.DECIMAL:
        return rounded_scale((left, right)) is None  # otherwise Spark rounds both sides
    return left.kind is right.kind


def state_like(leaf: t.Like) -> Expr:
    r"""LIKE and its kin: no wildcard is equality, `p%` a prefix, `%` everything that is not NULL.

    A pattern that goes on after a constant prefix (`p%q`, `p_`) implies the prefix; the rest is opaque (OPAQUE_ON_DATA), and so
    are ILIKE and RLIKE, whose letter folding leaves any prefix (the Kelvin sign lowers to k). A pattern that Spark refuses
    (`'a\b'`, an escape before an ordinary character) is opaque too: its prefix depends on who reads it.
    """
    if isinstance(leaf.pattern, t.Literal) and leaf.pattern.value is None:
        return t.NULL
    type_ = type_of(leaf.value)
    if type_ is None or type_.kind is not Kind.STRING:
        return opaque(leaf, ReasonCode.CROSS_TYPE, "a pattern on something that is not text")
    if any(column.type.collation for column in columns_of(leaf)):
        return opaque(leaf, ReasonCode.COLLATION, "a collation decides this match")
    if leaf.kind != "like" or not isinstance(leaf.pattern, t.Literal) or not isinstance(leaf.pattern.value, str):
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, "minimum and maximum say nothing about this match")
    try:
        pieces = pieces_of(leaf.pattern.value, leaf.escape)
    except ValueError as problem:
        return opaque(leaf, ReasonCode.OPAQUE_ON_DATA, str(problem))
    match pieces:
        case ():
            return t.Within(leaf.value, values([""], STRING))
        case (Wildcard.ANY,):
            return t.Within(leaf.value, everything(STRING))
        case (str() as text,):
            return t.Within(leaf.value, values([text], STRING))
        case (str() as text, Wildcard.ANY):
            return t.Within(leaf.value, prefixed(text))
        case (str() as text, *_):
            return t.And((t.Within(leaf.value, prefixed(text)), opaque(leaf, ReasonCode.OPAQUE_ON_DATA, _REST)))
        case _:
            # Never TRUE on NULL: an all-t.NULL file still drops.
            return t.And((t.Within(leaf.value, everything(STRING)), opaque(leaf, ReasonCode.OPAQUE_ON_DATA, _NO_PREFIX)))
