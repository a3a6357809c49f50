"""The columns that a condition demands to have a value: on a row where one of them is NULL it is not TRUE.

`year(ts) = 2024` demands ts, `a % 3 = b` both, `coalesce(a, b) = 1` neither. Most functions are NULL as soon as an argument is,
so that a file in which such a column is NULL on every row has no match, whatever the function does with a value.
"""

from __future__ import annotations

from lakeprune.predicate import tree as t
from lakeprune.predicate.functions.registry import lookup
from lakeprune.predicate.tree import Expr

# Functions from which Spark 4.1 infers no IS NOT NULL, by its optimized plans.
_UNKNOWN_TO_SPARK = frozenset({
    "bround", "btrim", "concat", "concat_ws", "date_trunc", "elt", "hash", "isnan", "locate", "ltrim", "position", "right",
    "round", "rtrim", "to_date", "to_unix_timestamp", "trim", "trunc", "unix_timestamp", "xxhash64",
})  # fmt: skip
Columns = dict[t.Column, None]  # a set in the order of appearance


def demanded(condition: Expr) -> tuple[t.Column, ...]:
    """Those columns of a bound condition, in the order of appearance."""
    return tuple(_demanded(condition))


def _demanded(condition: Expr) -> Columns:
    match condition:
        case t.And(parts):
            return {column: None for part in parts for column in _demanded(part)}
        case t.Or(parts):
            first, *others = [_demanded(part) for part in parts]
            return {column: None for column in first if all(column in other for other in others)}
        case t.Either(outer, inner):
            return _demanded(t.Or((outer, inner)))
        case _:
            return _null_with(condition)


def inferred_by_spark(conjunct: Expr) -> tuple[t.Column, ...]:
    """Those for which Spark adds IS NOT NULL: it does not know of each function that it is NULL with its arguments."""
    return tuple(_null_with(conjunct, unknown=_UNKNOWN_TO_SPARK))


def _null_with(expr: Expr, unknown: frozenset[str] = frozenset()) -> Columns:
    """The columns whose NULL makes the expression NULL; nothing is known of some functions and of lists."""
    match expr:
        case t.Column():
            return {expr: None}
        case t.Compare(op, left, right) if op is not t.Op.NULL_SAFE_EQ:
            return _null_with(left, unknown) | _null_with(right, unknown)
        case t.Like(value, pattern):
            return _null_with(value, unknown) | _null_with(pattern, unknown)
        case t.In(value, options) if not unknown or len(options) == 1:
            return _null_with(value, unknown)
        case t.Within(value) | t.Not(value):
            return _null_with(value, unknown)
        case t.Call(name, args) if name not in unknown and (known := lookup(name)) is not None and known.evaluate is not None:
            return {column: None for arg in args for column in _null_with(arg, unknown)}
        case _:
            return {}
