"""Functions of Spark SQL under their one canonical name.

In: a function's name as written and its converted arguments. Out: the tree node it means, by the function's own record or, for
what is only another way to write a node, by the table below. An unknown name is kept: it becomes opaque when it is bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from msgspec import Struct

from lakeprune.errors import PredicateError
from lakeprune.predicate.clock import BY_NAME as CLOCKS
from lakeprune.predicate.clock import UNPINNED, Clock
from lakeprune.predicate.functions.function import MANY, takes
from lakeprune.predicate.functions.randomness import RANDOM
from lakeprune.predicate.functions.registry import ELEMENT_OF_SPLIT, MOVED, lookup
from lakeprune.predicate.read.sql.literals import Interval, amount
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import And, Call, Compare, Expr, IsNull, Like, Literal, Name, Not, Op
from lakeprune.values.types import DOUBLE, INT, LONG, STRING, DataType, Kind

GENERATORS = frozenset({"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"})
WINDOW_FUNCTIONS = frozenset({
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value"
})  # fmt: skip
AGGREGATES = WINDOW_FUNCTIONS | frozenset({
    "any", "any_value", "approx_count_distinct", "approx_percentile", "approx_top_k", "array_agg", "avg", "bit_and",
    "bit_or", "bit_xor", "bitmap_construct_agg", "bool_and", "bool_or", "collect_list", "collect_set", "corr", "count",
    "count_if", "count_min_sketch", "covar_pop", "covar_samp", "every", "first", "first_value", "grouping",
    "grouping_id", "histogram_numeric", "kurtosis", "last", "last_value", "listagg", "max", "max_by", "mean", "median",
    "min", "min_by", "mode", "percentile", "percentile_approx", "percentile_cont", "percentile_disc", "regr_avgx",
    "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
    "skewness", "some", "std", "stddev", "stddev_pop", "stddev_samp", "string_agg", "sum", "try_avg", "try_sum",
    "var_pop", "var_samp", "variance"
})  # fmt: skip
CAST_FUNCTIONS = {
    "boolean": Kind.BOOLEAN, "tinyint": Kind.BYTE, "smallint": Kind.SHORT, "int": Kind.INT, "bigint": Kind.LONG,
    "float": Kind.FLOAT, "double": Kind.DOUBLE, "timestamp": Kind.TIMESTAMP, "binary": Kind.BINARY, "string": Kind.STRING,
}  # fmt: skip
_FIELDS = {
    **dict.fromkeys(("year", "y", "years", "yr", "yrs"), "year"), **dict.fromkeys(("quarter", "qtr"), "quarter"),
    **dict.fromkeys(("month", "mon", "mons", "months"), "month"), **dict.fromkeys(("week", "w", "weeks"), "weekofyear"),
    **dict.fromkeys(("day", "d", "days"), "day"), **dict.fromkeys(("dayofweek", "dow"), "dayofweek"),
    **dict.fromkeys(("dayofweek_iso", "dow_iso"), "weekday"), "doy": "dayofyear",
    **dict.fromkeys(("hour", "h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("minute", "m", "min", "mins", "minutes"), "minute"),
}  # fmt: skip
# Numbers of arguments that Spark takes, and lakeprune does not: the characters to trim, the digits to round to, and what
# Spark does not look at.
_ALSO_TAKEN: dict[str, Iterable[int]] = {
    **dict.fromkeys(("trim", "ltrim", "rtrim", "floor", "ceil", "ceiling"), (2,)), "concat": (0,),
    **dict.fromkeys(("hour", "minute", "second"), range(2, MANY)),
}  # fmt: skip
_TAKEN_BY_ALIAS = {"nvl": takes(2), "ifnull": takes(2), "date": takes(1)}  # fewer than the function takes under its own name
_OURS = frozenset({"add_interval", "negate", "case"})  # names in the tree that no function of Spark has
EVERYTHING_AFTER = 2**31 - 1  # the length of substring(x, pos), which has no end


class Unsupported(Exception):
    """Part of a term that lakeprune does not know: the whole comparison becomes Opaque."""

    def __init__(self, message: str, code: ReasonCode = ReasonCode.UNSUPPORTED_EXPRESSION) -> None:
        super().__init__(message)
        self.code = code


def call(name: str, args: tuple[Expr, ...], clock: Clock) -> Expr:
    """The node that `name(args)` means.

    >>> from lakeprune.predicate.tree import Profile
    >>> call("LEFT", (Literal("abc"), Literal(2)), Clock(Profile(0))).function
    'substring'
    """
    lowered = name.lower()
    if lowered in RANDOM or lowered in UNPINNED:
        raise Unsupported(f"{lowered}() gives another answer each time", ReasonCode.NON_DETERMINISTIC)
    if lowered in ("date_add", "dateadd", "timestampadd") and len(args) == 3:
        raise Unsupported(f"{lowered} with a unit")
    if lowered in _OURS:
        raise Unsupported(f"{lowered}() is not a function of Spark")
    refused = refused_count(lowered, len(args))
    if refused is not None:
        raise _wrong_count(lowered, len(args), refused)
    if len(args) in _ALSO_TAKEN.get(lowered, ()):
        raise Unsupported(f"{lowered} with {len(args)} arguments")
    if lowered in CAST_FUNCTIONS:
        return Call("cast", args, DataType(CAST_FUNCTIONS[lowered]))
    form = FORMS.get(lowered)
    if form is not None:
        built = form.build(args, clock)
        if built is None:
            raise Unsupported(f"{lowered} with these arguments")
        return built
    function = lookup(lowered)
    return Call(lowered if function is None else function.name, args)


def refused_count(name: str, given: int) -> range | None:
    """The numbers of arguments that a function takes, when `given` is not among them; None when it is, or nobody knows.

    >>> refused_count("upper", 2), refused_count("upper", 1)
    (range(1, 2), None)
    """
    form, function = FORMS.get(name), lookup(name)
    known = form or function
    arity = takes(1) if name in CAST_FUNCTIONS else None if known is None else _TAKEN_BY_ALIAS.get(name, known.arity)
    return None if arity is None or given in arity or given in _ALSO_TAKEN.get(name, ()) else arity


def _wrong_count(name: str, given: int, arity: range) -> PredicateError:
    least, most = arity[0], arity[-1]
    count = f"at least {least}" if most == MANY else f"{least}" if least == most else f"{least} to {most}"
    what = f"{name}() takes {count if most else 'no'} argument{'' if (least, most) == (1, 1) else 's'}, not {given}"
    return PredicateError("LP106", what, why="Spark refuses it", fix=f"give it {count}" if most else "leave them out")


def add_unit(unit: str, number: Expr, value: Expr) -> Expr:
    """`dateadd(DAY, 3, x)` and its other forms."""
    if not isinstance(number, Literal) or not isinstance(number.value, int):
        raise Unsupported("an interval that is not a constant")
    try:
        span = amount(str(number.value), unit)
    except ValueError as error:
        raise Unsupported(f"`{unit}` is not a unit of time") from error
    return add_interval(value, span, MOVED)


def add_interval(value: Expr, by: Interval, function: str = "add_interval") -> Call:
    return Call(function, (value, Literal(by.months, INT), Literal(by.days, INT), Literal(by.micros, LONG)))


def is_nan(value: Expr) -> Expr:
    return Compare(Op.NULL_SAFE_EQ, Call("cast", (value,), DOUBLE), Literal(math.nan, DOUBLE))


def field_of(name: str, value: Expr) -> Expr:
    """`extract(name FROM value)` and date_part."""
    field = _FIELDS.get(name.lower())
    if field is None:
        raise Unsupported(f"the field {name.lower()} of a date or time")
    return Call("+", (Call("weekday", (value,)), Literal(1))) if field == "weekday" else Call(field, (value,))


def element_of(value: Expr, index: Expr) -> Expr:
    """`value[index]`: a field of a struct, or an element of what `split` gives."""
    if isinstance(value, Name) and isinstance(index, Literal) and isinstance(index.value, str):
        return Name((*value.parts, index.value), value.start, value.end)
    if isinstance(value, Call) and value.function == "split" and len(value.args) in (2, 3):
        limit = value.args[2] if len(value.args) == 3 else Literal(-1, INT)
        return Call(ELEMENT_OF_SPLIT, (*value.args[:2], limit, index))
    raise Unsupported("an element of an array or map", ReasonCode.NO_ORDERED_STATISTICS)


Builder = Callable[[tuple[Expr, ...], Clock], Expr | None]


class _Form(Struct, frozen=True):
    """What is only another way to write a node; `build` gives None for arguments that it cannot tell the meaning of."""

    arity: range
    build: Builder


def _exactly(count: int, build: Callable[..., Expr]) -> _Form:
    return _Form(takes(count), lambda args, _: build(*args))


def _with_unit(function: str, place: int) -> _Form:
    """A truncation to a constant unit, which stands first or last."""

    def build(args: tuple[Expr, ...], _: Clock) -> Expr | None:
        unit = args[place]
        if not isinstance(unit, Literal) or not isinstance(unit.value, str):
            return None
        lowered = Literal(unit.value.lower(), STRING)
        return Call(function, (lowered, args[1]) if place == 0 else (args[0], lowered))

    return _Form(takes(2), build)


def _substring(args: tuple[Expr, ...], _: Clock) -> Expr:
    return Call("substring", (*args, Literal(EVERYTHING_AFTER, INT)) if len(args) == 2 else args)


def _date_part(args: tuple[Expr, ...], _: Clock) -> Expr | None:
    match args:
        case (Literal(value=str(field)), value):
            return field_of(field, value)
    return None


def _decode(args: tuple[Expr, ...], _: Clock) -> Expr | None:
    """`decode(x, a, 1, b, 2, 3)`, which compares NULL with NULL; with two arguments it reads bytes as text."""
    if len(args) < 3:
        return None
    value, *pairs = args
    last = pairs.pop() if len(pairs) % 2 else Literal(None)
    tests = (Compare(Op.NULL_SAFE_EQ, value, pair) if n % 2 == 0 else pair for n, pair in enumerate(pairs))
    return Call("case", (*tests, last))


def _unix_timestamp(args: tuple[Expr, ...], clock: Clock) -> Expr:
    return Call("unix_timestamp", args) if args else clock.literal("unix_timestamp")


def _moment(name: str) -> _Form:
    return _Form(takes(0), lambda _, clock: clock.literal(name))


def _like(kind: str) -> _Form:
    def build(args: tuple[Expr, ...], _: Clock) -> Expr | None:
        match args:
            case (value, pattern):
                return Like(value, pattern, kind=kind)
            case (value, pattern, Literal(value=str(escape))) if kind != "rlike" and len(escape) == 1:
                return Like(value, pattern, escape, kind)
        return None

    return _Form(takes(2) if kind == "rlike" else takes(2, 3), build)


_rlike = _like("rlike")
FORMS: dict[str, _Form] = {
    **{name: _moment(name) for name in CLOCKS},
    "date_part": _Form(takes(2), _date_part),
    "datepart": _Form(takes(2), _date_part),
    "decode": _Form(takes(2, MANY), _decode),
    "date_trunc": _with_unit("date_trunc", 0),
    "trunc": _with_unit("trunc", 1),
    "substring": _Form(takes(2, 3), _substring),
    "substr": _Form(takes(2, 3), _substring),
    "left": _exactly(2, lambda x, n: Call("substring", (x, Literal(1, INT), n))),
    "nvl2": _exactly(3, lambda x, a, b: Call("if", (Not(IsNull(x)), a, b))),
    "isnull": _exactly(1, IsNull),
    "isnotnull": _exactly(1, lambda x: Not(IsNull(x))),
    "isnan": _exactly(1, is_nan),
    "equal_null": _exactly(2, lambda x, y: Compare(Op.NULL_SAFE_EQ, x, y)),
    "like": _like("like"),
    "ilike": _like("ilike"),
    "rlike": _rlike,
    "regexp": _rlike,
    "regexp_like": _rlike,
    "unix_timestamp": _Form(takes(0, 2), _unix_timestamp),
    "between": _exactly(3, lambda x, a, b: And((Compare(Op.GE, x, a), Compare(Op.LE, x, b)))),
    "positive": _exactly(1, lambda x: x),
}
