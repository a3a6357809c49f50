"""A function as one record: its names, its arguments, its type, its value, and the arguments that lead into a set of values."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import DataType, Kind, Scalar

ArgTypes = tuple[DataType | None, ...]
ResultType = Callable[[ArgTypes], DataType | None]
Evaluate = Callable[[Call, tuple[Scalar, ...], Profile], Scalar]
Preimage = Callable[[Call, IntervalSet, Profile], Expr | None]
Choose = Callable[[Call, Callable[[Expr], Scalar], Profile], Scalar]

MANY = 10_000  # arguments, where there is no limit
_WIDENED = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE)
NO_CATALYST_FORM = ()  # the optimiser replaces the function by others before a plan is read


class EvaluationFailed(Exception):
    """The value is an error in Spark, or depends on ANSI mode or engine: the caller treats it as unknown."""


class SparkFails(EvaluationFailed):
    """The value is an error in Spark's ANSI mode, for sure."""


class Function(Struct, frozen=True):
    """A deterministic function: strict by `evaluate`, or lazy in its arguments by `choose`; one of the two is given.

    `evaluate(call, args, profile)` is exact or raises `EvaluationFailed`; the function is NULL as soon as one argument is, and
    then it is not called. `choose(call, value_of, profile)` asks for the arguments it needs. `preimage(call, values, profile)`
    is a predicate over the arguments with the truth of "call lies in values" on every row (or an Either around it); None when
    there is none.
    """

    names: tuple[str, ...]  # in SQL, lower case; the first is the canonical one, under which trees have it
    arity: range
    catalyst: tuple[str, ...]  # the classes of Catalyst's expressions that are this function
    result_type: ResultType
    evaluate: Evaluate | None = None
    preimage: Preimage | None = None
    choose: Choose | None = None
    day_field: Callable[[int], int] | None = None  # of a field of a date: its value by the day's number
    only_overflows: bool = False  # its preimage is exact but for results that leave their type

    @property
    def name(self) -> str:
        return self.names[0]


def takes(least: int, most: int | None = None) -> range:
    """The numbers of arguments from `least` to `most`, or only `least`."""
    return range(least, (least if most is None else most) + 1)


def always(type_: DataType) -> ResultType:
    """A result type that does not depend on the arguments."""
    return lambda _types: type_


def like_argument(index: int) -> ResultType:
    """The type of one argument."""
    return lambda types: types[index] if index < len(types) else None


def common_type(types: ArgTypes) -> DataType | None:
    """The one type that Spark brings all arguments to, NULLs apart: of integers the widest, beside a double that one.

    >>> common_type((DataType(Kind.LONG), None, DataType(Kind.INT))).kind
    <Kind.LONG: 'long'>
    """
    known = {type_ for type_ in types if type_ is not None}
    if len(known) > 1 and all(type_.kind in _WIDENED for type_ in known):
        widest = max(known, key=lambda type_: _WIDENED.index(type_.kind))
        # Beside a FLOAT an integer is a FLOAT or a DOUBLE, by the mode.
        return widest if widest.kind is Kind.DOUBLE or all(type_.kind is not Kind.FLOAT for type_ in known) else None
    return next(iter(known)) if len(known) == 1 else None
