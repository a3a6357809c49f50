"""What lakeprune must know of a function: its type, its value, and the arguments that lead into a set of values."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import DataType, Scalar

ArgTypes = tuple[DataType | None, ...]
ResultType = Callable[[ArgTypes], DataType | None]
Evaluate = Callable[[Call, tuple[Scalar, ...], Profile], Scalar]
Preimage = Callable[[Call, IntervalSet, Profile], Expr | None]
Choose = Callable[[Call, Callable[[Expr], Scalar], Profile], Scalar]


class EvaluationFailed(Exception):
    """The value is an error in Spark, or depends on ANSI mode or engine: the caller treats it as unknown."""


class Function(Struct, frozen=True):
    """A deterministic function: strict by `evaluate`, or lazy in its arguments by `choose`; one of the two is given.

    `evaluate(call, args, profile)` is exact or raises `EvaluationFailed`; the function is NULL as soon as one argument is, and
    then it is not called. `choose(call, value_of, profile)` asks for the arguments it needs. `preimage(call, values, profile)`
    is a predicate over the arguments with the truth of "call lies in values" on every row (or an Either around it); None when
    there is none.
    """

    result_type: ResultType
    evaluate: Evaluate | None = None
    preimage: Preimage | None = None
    choose: Choose | None = None


def always(type_: DataType) -> ResultType:
    """A result type that does not depend on the arguments."""
    return lambda _types: type_


def like_argument(index: int) -> ResultType:
    """The type of one argument."""
    return lambda types: types[index] if index < len(types) else None
