"""Random bound trees and rows over every type, with the values that break things; and what a normalised tree may say of a row."""

from __future__ import annotations

import math
from decimal import Decimal

from hypothesis import strategies as st

from lakeprune.predicate.functions.evaluate import Row, evaluate
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    And,
    Call,
    Column,
    Compare,
    Either,
    Expr,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Not,
    Op,
    Opaque,
    Or,
    Profile,
)
from lakeprune.values.floats import to_float32
from lakeprune.values.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Kind,
    Scalar,
)

SHORT, FLOAT = DataType(Kind.SHORT), DataType(Kind.FLOAT)
MONEY, FINE, BINARY = DataType(Kind.DECIMAL, 10, 2), DataType(Kind.DECIMAL, 20, 6), DataType(Kind.BINARY)
TYPES = {
    "b": BOOLEAN,
    "h": SHORT,
    "i": INT,
    "l": LONG,
    "f": FLOAT,
    "x": DOUBLE,
    "m": MONEY,
    "s": STRING,
    "y": BINARY,
    "d": DATE,
    "t": TIMESTAMP,
    "n": TIMESTAMP_NTZ,
}
ZONES = ("UTC", "America/St_Johns", "America/New_York", "Pacific/Apia", "+05:30")
DAY = 86_400_000_000
ST_JOHNS_NIGHT = 1_289_097_000_000_000  # 2010-11-07T02:30Z: clocks in St. John's go from 00:01 back to 23:01


def column(name: str, role: Role = Role.DATA) -> Column:
    label = name if role is Role.DATA else f"p_{name}"
    return Column((label,), (label,), TYPES[name], role)


COLUMNS = {name: column(name) for name in TYPES}
PARTITIONS = {name: column(name, Role.PARTITION) for name in ("b", "i", "x", "s", "d", "t")}

_INTEGERS = {
    Kind.SHORT: st.one_of(st.integers(-4, 4), st.sampled_from([-(2**15), 2**15 - 1]), st.integers(-(2**15), 2**15 - 1)),
    Kind.INT: st.one_of(st.integers(-9, 9), st.sampled_from([-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2])),
    Kind.LONG: st.one_of(
        st.integers(-9, 9),
        st.sampled_from([-(2**63), 2**63 - 1, 2**53, 2**53 + 1]),
        st.integers(-(2**63), 2**63 - 1),
    ),
    Kind.DATE: st.one_of(
        st.integers(19_700, 19_790),
        st.integers(14_910, 14_925),
        st.integers(-800_000, 3_000_000),
        st.sampled_from([-(2**31), 2**31 - 1]),
    ),
}
_MOMENTS = st.one_of(
    st.integers(19_700 * DAY, 19_790 * DAY),
    st.integers(ST_JOHNS_NIGHT - 2 * DAY, ST_JOHNS_NIGHT + 2 * DAY),
    st.builds(lambda day, hour: day * DAY + hour * DAY // 24, st.integers(-200, 22_000), st.integers(0, 23)),
    st.sampled_from([0, -1, 1, 1_325_239_200_000_000]),  # the last one: the night Samoa skipped a day
)
_DOUBLES = st.one_of(
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 0.1, 2.5, -1.5, 5e-324, 1.7976931348623157e308, 3.0, 2.0**53]),
    st.integers(-9, 9).map(float),
    st.floats(),
)
TEXTS = st.one_of(
    st.text(alphabet="ab%_\\", max_size=4),
    st.text(alphabet=st.sampled_from("aé\ud7ff\ue000\U0001f33c\U0010ffff"), max_size=3),
    st.sampled_from(["", "a", "ab", "abc", "b"]),
)


def values_of(type_: DataType) -> st.SearchStrategy[Scalar]:
    match type_.kind:
        case Kind.BOOLEAN:
            return st.booleans()
        case Kind.SHORT | Kind.INT | Kind.LONG | Kind.DATE:
            return _INTEGERS[type_.kind]
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return _MOMENTS
        case Kind.DOUBLE:
            return _DOUBLES
        case Kind.FLOAT:
            return _DOUBLES.map(to_float32)
        case Kind.DECIMAL:
            top = 10**type_.precision - 1
            units = st.one_of(st.integers(-999, 999), st.sampled_from([top, -top]), st.integers(-top, top))
            return units.map(lambda n: Decimal(n).scaleb(-type_.scale))
        case Kind.BINARY:
            return st.binary(max_size=3)
        case _:
            return TEXTS


_NUMBER_TYPES = [SHORT, INT, LONG, DOUBLE, MONEY, FINE]
_TIME_TYPES = [DATE, TIMESTAMP, TIMESTAMP_NTZ]


def literals_for(type_: DataType) -> st.SearchStrategy[Literal]:
    """Literals that compare with the type: of its own or of a related one, and NULL."""
    related = [type_]
    if type_ in (SHORT, INT, LONG, DOUBLE, FLOAT, MONEY):
        related = [type_, *_NUMBER_TYPES]
    elif type_ in _TIME_TYPES:
        related = [type_, *_TIME_TYPES]
    typed = st.sampled_from(related).flatmap(lambda t: values_of(t).map(lambda v: Literal(v, t)))
    return st.one_of(typed, typed, typed, typed, typed, st.just(Literal(None, None)))


def small(low: int, high: int) -> st.SearchStrategy[Literal]:
    return st.integers(low, high).map(lambda n: Literal(n, INT))


FIELDS = ("year", "month", "day", "quarter", "dayofweek", "weekofyear", "dayofyear")
UNITS = st.sampled_from(["YEAR", "quarter", "MONTH", "week", "DAY", "HOUR", "minute", "SECOND", "nonsense"]).map(
    lambda unit: Literal(unit, STRING)
)


@st.composite
def values_trees(draw: st.DrawFn, columns: dict[str, Column], depth: int = 2) -> Expr:
    """A value: a column, or a function of values."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return columns[draw(st.sampled_from(sorted(columns)))]
    inside = draw(values_trees(columns, depth - 1))
    type_ = type_of_value(inside)
    options = [call for call in _calls(draw, inside, type_) if call is not None]
    return draw(st.sampled_from(options)) if options else inside


def type_of_value(expr: Expr) -> DataType:
    from lakeprune.predicate.walk import type_of

    found = type_of(expr)
    assert found is not None
    return found


def _calls(draw: st.DrawFn, inside: Expr, type_: DataType) -> list[Expr]:
    same = st.one_of(values_of(type_).map(lambda v: Literal(v, type_)), st.just(Literal(None, type_)))
    calls: list[Expr] = [
        Call("coalesce", (inside, draw(same)), type_),
        Call("if", (draw(leaves(inside)), draw(same), inside), type_),
        Call("case", (draw(leaves(inside)), draw(same), draw(leaves(inside)), inside, draw(same)), type_),
        Call("nullif", (inside, draw(same)), type_),
    ]
    if type_.kind in (Kind.SHORT, Kind.INT, Kind.LONG):
        k = draw(small(-5, 5))
        wider = LONG if type_ == LONG else INT
        calls += [Call(op, (inside, k), wider) for op in ("+", "-", "*")]
        calls += [Call("-", (k, inside), wider), Call("negate", (inside,), type_), Call("abs", (inside,), type_)]
        calls += [Call("/", (inside, draw(small(1, 7))), DOUBLE), Call("+", (inside, Literal(0.1, DOUBLE)), DOUBLE)]
        calls += [Call("cast", (inside,), t) for t in (SHORT, LONG, DOUBLE, MONEY, FINE)]
        calls += [Call("floor", (inside,), LONG)]
    elif type_.kind is Kind.DOUBLE:
        k = Literal(draw(st.sampled_from([0.1, -2.5, 1e300, 3.0])), DOUBLE)
        calls += [Call(op, (inside, k), DOUBLE) for op in ("+", "-", "*", "/")]
        calls += [Call("-", (k, inside), DOUBLE), Call("negate", (inside,), DOUBLE), Call("abs", (inside,), DOUBLE)]
        calls += [Call("floor", (inside,), LONG), Call("ceil", (inside,), LONG), Call("cast", (inside,), INT)]
    elif type_.kind is Kind.FLOAT:
        calls += [Call("cast", (inside,), DOUBLE), Call("cast", (inside,), LONG)]
    elif type_.kind is Kind.DECIMAL:
        k = Literal(draw(st.sampled_from([Decimal("0.05"), Decimal(-7)])), DataType(Kind.DECIMAL, 3, 2))
        if type_.precision < 30:
            wide = DataType(Kind.DECIMAL, type_.precision + 3, max(type_.scale, 2))
            calls += [Call("+", (inside, k), wide), Call("-", (k, inside), wide), Call("cast", (inside,), wide)]
        whole = DataType(Kind.DECIMAL, type_.precision - type_.scale + 1, 0)
        calls += [Call("floor", (inside,), whole), Call("ceil", (inside,), whole), Call("negate", (inside,), type_)]
        calls += [Call("cast", (inside,), t) for t in (INT, LONG, DOUBLE, DataType(Kind.DECIMAL, 9, 1))]
    elif type_.kind is Kind.STRING:
        calls += [Call("substring", (inside, draw(small(0, 2)), draw(small(0, 3))), STRING), Call("length", (inside,), INT)]
        calls += [Call("concat", (inside, Literal("a", STRING)), STRING), Call("trim", (inside,), STRING)]
    elif type_.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        calls += [
            Call(field, (inside,), INT) for field in ("year", "month", "day", "quarter", "dayofweek", "weekofyear", "dayofyear")
        ]
        calls += [Call("cast", (inside,), t) for t in _TIME_TYPES if t != type_]
        calls += [Call("trunc", (inside, draw(UNITS)), DATE), Call("date_trunc", (draw(UNITS), inside), TIMESTAMP)]
        calls += [Call(f, (inside, draw(small(-40, 40))), DATE) for f in ("date_add", "date_sub", "add_months")]
        calls += [Call("last_day", (inside,), DATE), Call("datediff", (inside, Literal(19_750, DATE)), INT)]
        calls += [Call("unix_timestamp", (inside,), LONG), Call("hour", (inside,), INT)]
        micros = 0 if type_ == DATE else draw(st.sampled_from([0, 1, -3_600_000_000]))
        steps = (draw(small(-14, 14)), draw(small(-3, 3)), Literal(micros, LONG))
        calls += [
            Call("add_interval", (inside, *steps), type_),
            Call("add_interval", (inside, Literal(0, INT), *steps[1:]), type_),
        ]
        if type_ == TIMESTAMP:
            calls += [Call("cast", (inside,), LONG), Call("cast", (inside,), INT)]
    return calls


KINDS = st.sampled_from(["like", "like", "ilike", "rlike"])
OPS = st.sampled_from(list(Op))
PATTERNS = st.text(alphabet="ab%_\\é", max_size=4).map(lambda p: Literal(p, STRING))


@st.composite
def leaves(draw: st.DrawFn, value: Expr) -> Expr:
    """A comparison, list, match or null test of the value."""
    type_ = type_of_value(value)
    literal = literals_for(type_)
    choice = draw(st.integers(0, 7))
    if choice <= 2:
        return Compare(draw(OPS), value, draw(literal))
    if choice == 3:
        return Compare(draw(OPS), draw(literal), value)
    if choice == 4:
        return In(value, tuple(draw(st.lists(literal, min_size=1, max_size=4))))
    if choice == 5:
        return IsNull(value)
    if type_ == STRING:
        if draw(st.booleans()):
            return Call("startswith", (value, draw(PATTERNS)), BOOLEAN)
        return Like(
            value, draw(PATTERNS), draw(st.sampled_from(["\\", "b"])), draw(st.sampled_from(["like", "like", "ilike", "rlike"]))
        )
    return value if type_ == BOOLEAN else Compare(Op.EQ, value, draw(literal))


@st.composite
def predicates(draw: st.DrawFn, columns: dict[str, Column], depth: int = 3) -> Expr:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        if draw(st.integers(0, 7)) == 0:
            left, right = (columns[draw(st.sampled_from(sorted(columns)))] for _ in range(2))
            return Compare(draw(OPS), left, right) if left.type.kind is right.type.kind else IsNull(left)
        return draw(leaves(draw(values_trees(columns))))
    part = predicates(columns, depth - 1)
    match draw(st.integers(0, 5)):
        case 0 | 1:
            return And(tuple(draw(st.lists(part, min_size=2, max_size=3))))
        case 2 | 3:
            return Or(tuple(draw(st.lists(part, min_size=2, max_size=3))))
        case 4:
            return Not(draw(part))
        case _:
            inside = draw(part)
            tests: list[Expr] = [IsNull(inside), IsTruth(inside, truth=True), IsTruth(inside, truth=False)]
            return draw(st.sampled_from(tests))


@st.composite
def rows(draw: st.DrawFn, columns: dict[str, Column]) -> dict[Column, Scalar]:
    return {c: draw(st.one_of(values_of(c.type), values_of(c.type), values_of(c.type), st.none())) for c in columns.values()}


def outcomes(expr: Expr, row: Row, profile: Profile) -> set[bool | None]:
    """What the truth of a normalised tree can be on one row: one value, unless Either or Opaque leave it open."""
    match expr:
        case Opaque():
            return {True, False, None}
        case Either(outer, inner):
            return outcomes(outer, row, profile) | outcomes(inner, row, profile)
        case And(parts):
            return _combined([outcomes(part, row, profile) for part in parts], decisive=False)
        case Or(parts):
            return _combined([outcomes(part, row, profile) for part in parts], decisive=True)
        case Not(part):
            return {None if value is None else not value for value in outcomes(part, row, profile)}
        case IsNull(part):
            return {value is None for value in outcomes(part, row, profile)}
        case _:
            found = evaluate(expr, row, profile)
            assert found is None or isinstance(found, bool)
            return {found}


def _combined(sets: list[set[bool | None]], *, decisive: bool) -> set[bool | None]:
    found: set[bool | None] = {not decisive}
    for options in sets:
        found = {_pair(a, b, decisive=decisive) for a in found for b in options}
    return found


def _pair(a: bool | None, b: bool | None, *, decisive: bool) -> bool | None:
    if a is decisive or b is decisive:
        return decisive
    return None if a is None or b is None else not decisive
