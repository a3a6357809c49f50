"""What the source's keys say about the target: conditions on the target alone, TRUE on every row that can match.

In: an equality of ON between a column of the target and an expression of the source, and the values that the expression has. Out:
the condition for our own metadata (a tree of every value) and for Delta (SQL with ranges: its skipping uses only the ends of a
list). NULL never matches by `=`, and matches NULL by `<=>`. Values that do not compare exactly give no condition, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from lakeprune.errors import PredicateError
from lakeprune.formats.delta.spark_usable import is_rounded
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import FALSE, TRUE, And, Column, Compare, Expr, In, IsNull, Literal, Member, Op, Or
from lakeprune.predicate.write.pasteable import plain_sql
from lakeprune.predicate.write.show import name_text
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals, values
from lakeprune.values.literals import format_value
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, TIME_KINDS, DataType, Kind

MOST_VALUES = 10_000  # of one key that are listed; a longer list is a range
MOST_RANGES = 100  # that Delta is given for one key, cut at the widest gaps
LONGEST_TEXT = 256  # characters of a string key; longer ones make no condition
_ORDERED = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.BOOLEAN, Kind.STRING, Kind.FLOAT, Kind.DOUBLE})
_MOST_DIGITS = 38


class Key(Struct, frozen=True):
    """`text` is the conjunct as written, `expression` its side of the source."""

    text: str
    column: Column
    expression: str
    is_null_safe: bool

    @property
    def name(self) -> str:
        return name_text(self.column.path)


class KeyValues(Struct, frozen=True):
    """What the source has. `listed` are all values where they are few, else None; canonical, like `least` and `greatest`."""

    key: Key
    nulls: int
    nans: int
    unreadable: int  # strings that are not UTF-8, or very long
    distinct: int  # exact when they are listed, else an estimate
    least: object
    greatest: object
    listed: tuple[object, ...] | None = None

    @property
    def refusal(self) -> str | None:
        """Why these values make no condition, if so."""
        if self.nans:
            return "NaN is among its keys, and no range of a file's statistics is sure to hold it"
        if self.unreadable:
            return f"strings longer than {LONGEST_TEXT} characters, or that are not UTF-8, are among its keys"
        if is_rounded(self.key.column):
            return f"the recorded bounds of a {self.key.column.type} may be rounded, and Delta believes them"
        return None


def compares_exactly(target: DataType, source: DataType) -> bool:
    """Whether the two are equal in Spark exactly when their values are, so that values of one bound the other."""
    if target.collation or source.collation:
        return False
    if target.kind in INTEGRAL_KINDS:
        return source.kind in INTEGRAL_KINDS
    if target.kind is Kind.DECIMAL and source.kind is Kind.DECIMAL:
        whole = max(target.precision - target.scale, source.precision - source.scale)
        return whole + max(target.scale, source.scale) <= _MOST_DIGITS
    return target.kind is source.kind and target.kind in _ORDERED


def key_tree(found: KeyValues) -> Expr:
    """For our metadata: every value where they are listed, else the range from the least to the greatest."""
    column = found.key.column
    if found.listed:
        within: Expr = In(column, tuple(_literal(value, column) for value in found.listed))
    elif found.listed is not None or found.least is None:
        within = FALSE
    else:
        low, high = _literal(found.least, column), _literal(found.greatest, column)
        within = And((Compare(Op.GE, column, low), Compare(Op.LE, column, high)))
    if not (found.key.is_null_safe and found.nulls):
        return within
    return IsNull(column) if within == FALSE else Or((within, IsNull(column)))


def question_of(planner: Planner, text: str, keys: Sequence[Expr], on_target: Sequence[str]) -> Question:
    """What metadata is asked: everything that the keys and the conditions on the target alone demand of it."""
    parts = [planner.bound(Condition(text, tree)) for tree in keys]
    for condition in on_target:
        with suppress(PredicateError):  # what only Spark reads drops no file
            parts.append(planner.bound(condition))
    tree = all_of(parts) if parts else TRUE
    return planner.ask_bound(Condition(text, tree), tree)


def delta_condition(found: KeyValues, alias: str | None, zone: str) -> str:
    """For Delta: a list on a partition column, whose values it evaluates one by one; ranges on any other.

    Never a list of texts that stand for times: outside ANSI mode Spark compares the elements of a list as texts.
    """
    column = found.key.column
    path = column.path if alias is None else (alias, *column.path)
    name = name_text(path)
    named = Column(path, column.physical, column.type, column.role)
    is_plain = column.role is Role.PARTITION and column.type.kind not in TIME_KINDS | FLOATING_KINDS
    if is_plain and found.listed and len(found.listed) <= MOST_RANGES:
        listed = ", ".join(format_value(value, column.type, zone) for value in found.listed)  # type: ignore[arg-type]
        return _or_null(found, name, f"{name} IN ({listed})" if len(found.listed) > 1 else f"{name} = {listed}")
    return _or_null(found, name, _ranges(named, _set(found).merged_to(MOST_RANGES), zone))


def _literal(value: object, column: Column) -> Literal:
    """A value of the source, exactly: an integer or decimal may lie outside the column's own type."""
    is_exact = column.type.kind in INTEGRAL_KINDS or column.type.kind is Kind.DECIMAL
    return Literal(value, None if is_exact else column.type)  # type: ignore[arg-type]  # canonical values are Scalars


def _set(found: KeyValues) -> IntervalSet:
    type_ = found.key.column.type
    if found.listed is not None:
        return values(found.listed, type_)
    return from_intervals([Interval(found.least, found.greatest)], type_)


def _ranges(column: Column, found: IntervalSet, zone: str) -> str:
    return plain_sql(Member(column, found), zone) or "TRUE"


def _or_null(found: KeyValues, name: str, condition: str) -> str:
    if found.key.is_null_safe and found.nulls:
        return f"{condition} OR {name} IS NULL" if condition != "FALSE" else f"{name} IS NULL"
    return condition
