"""The row oracle against Python's own calendar and DuckDB, where their semantics are Spark's."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.functions.like_pattern import matches, pieces_of
from lakeprune.predicate.functions.registry import result_type
from lakeprune.predicate.functions.regular_expression import is_found
from lakeprune.predicate.tree import And, Call, Compare, Expr, In, IsNull, IsTruth, Like, Literal, Not, Op, Or, Profile
from lakeprune.values.time import calendar
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind, Scalar
from tests.scope import share_of

UTC = Profile(now=0)
NAN = float("nan")
MONEY = DataType(Kind.DECIMAL, 10, 2)


def lit(value: Scalar, type_: DataType = INT) -> Literal:
    return Literal(value, type_)


def value(expr: Expr, zone: str = "UTC") -> Scalar:
    return evaluate(expr, {}, Profile(now=0, zone=zone))


@given(st.dates())
def test_calendar_fields_are_those_of_python(day: dt.date) -> None:
    days = day.toordinal() - dt.date(1970, 1, 1).toordinal()
    assert calendar.civil_of(days) == (day.year, day.month, day.day)
    assert calendar.days_of(day.year, day.month, day.day) == days
    assert calendar.iso_week(days) == day.isocalendar().week
    assert value(Call("dayofweek", (lit(days, DATE),), INT)) == day.isoweekday() % 7 + 1
    assert value(Call("dayofyear", (lit(days, DATE),), INT)) == day.timetuple().tm_yday


@given(st.integers(-(2**31), 2**31 - 1))
def test_the_calendar_has_no_first_or_last_year(days: int) -> None:
    assert calendar.days_of(*calendar.civil_of(days)) == days


UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]


@settings(max_examples=60, deadline=None)
@given(st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2900, 1, 1)), st.sampled_from(UNITS), st.integers(-60, 60))
def test_time_functions_agree_with_duckdb(moment: dt.datetime, unit: str, months: int) -> None:
    micros = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    row = duckdb.execute(
        "SELECT epoch_us(date_trunc($u, $t::TIMESTAMP)::TIMESTAMP), ($t::DATE + to_months($m))::DATE, last_day($t::DATE)",
        {"u": unit, "t": moment, "m": months},
    ).fetchone()
    assert row is not None
    truncated, moved, last = row
    at = lit(micros, TIMESTAMP)
    assert value(Call("date_trunc", (lit(unit, STRING), at), TIMESTAMP)) == truncated
    assert calendar.civil_of(int(value(Call("add_months", (at, lit(months)), DATE)))) == (moved.year, moved.month, moved.day)  # type: ignore[arg-type]  # a date is an int
    assert calendar.civil_of(int(value(Call("last_day", (at,), DATE)))) == (last.year, last.month, last.day)  # type: ignore[arg-type]  # ditto


@settings(max_examples=share_of(200), deadline=None)
@given(st.text("ab%_", max_size=6), st.text("ab%_", max_size=6))
def test_like_agrees_with_duckdb(text: str, pattern: str) -> None:
    row = duckdb.execute("SELECT $t LIKE $p ESCAPE '\\'", {"t": text, "p": pattern}).fetchone()
    assert row == (matches(text, pieces_of(pattern)),)


@pytest.mark.parametrize(
    ("left", "op", "right", "truth"),
    [
        (lit(NAN, DOUBLE), Op.EQ, lit(NAN, DOUBLE), True),
        (lit(NAN, DOUBLE), Op.GT, lit(float("inf"), DOUBLE), True),
        (lit(0.0, DOUBLE), Op.EQ, lit(-0.0, DOUBLE), True),
        (lit(3), Op.LT, lit(Decimal("3.5"), MONEY), True),
        (lit(2**53 + 1, LONG), Op.EQ, lit(float(2**53), DOUBLE), True),  # Spark compares as doubles
        (lit(None), Op.EQ, lit(1), None),
        (lit(None), Op.NULL_SAFE_EQ, lit(None), True),
        (lit(None), Op.NULL_SAFE_EQ, lit(1), False),
        (lit("\ue000", STRING), Op.LT, lit("\U0001f33c", STRING), True),  # UTF-16 order would say otherwise
        (lit(1, DATE), Op.EQ, lit(86_400_000_000, TIMESTAMP), True),
        (lit(1, DATE), Op.LT, lit(86_400_000_001, TIMESTAMP_NTZ), True),
        (lit("5", STRING), Op.EQ, lit(5), True),
    ],
)
def test_comparisons_are_those_of_spark(left: Literal, op: Op, right: Literal, truth: bool | None) -> None:
    assert value(Compare(op, left, right)) is truth


def test_a_date_is_its_local_midnight() -> None:
    midnight_in_berlin = -3_600_000_000
    assert value(Compare(Op.EQ, lit(0, DATE), lit(midnight_in_berlin, TIMESTAMP)), "Europe/Berlin") is True


def test_three_valued_logic_is_kleenes() -> None:
    null, yes, no = lit(None, BOOLEAN), lit(True, BOOLEAN), lit(False, BOOLEAN)
    assert value(And((null, no))) is False
    assert value(And((null, yes))) is None
    assert value(Or((null, yes))) is True
    assert value(Or((null, no))) is None
    assert value(Not(null)) is None
    assert value(IsNull(null)) is True
    assert value(IsTruth(null, truth=False)) is False
    assert value(In(lit(1), (lit(2), lit(None)))) is None
    assert value(In(lit(1), (lit(1), lit(None)))) is True


@pytest.mark.parametrize(
    "expr",
    [
        Call("+", (lit(2**31 - 1), lit(1)), INT),
        Call("/", (lit(1), lit(0)), DOUBLE),
        Call("cast", (lit("x", STRING),), INT),
        Call("cast", (lit(2**40, LONG),), INT),
        Call("lower", (lit("\u212a", STRING),), STRING),  # the Kelvin sign
        Compare(Op.EQ, lit("abc", STRING), lit(5)),
        Like(lit("a", STRING), lit("a\\", STRING)),
        Like(lit("a", STRING), lit("(?i)A", STRING), kind="rlike"),
        Compare(Op.EQ, lit("a", DataType(Kind.STRING, collation="UTF8_LCASE")), lit("A", STRING)),
    ],
)
def test_what_depends_on_the_mode_has_no_value(expr: Expr) -> None:
    with pytest.raises(EvaluationFailed):
        value(expr)


def test_a_decided_part_hides_a_failed_one() -> None:
    failing = Compare(Op.EQ, Call("/", (lit(1), lit(0)), DOUBLE), lit(1))
    assert value(And((failing, lit(False, BOOLEAN)))) is False
    assert value(Or((failing, lit(True, BOOLEAN)))) is True


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [("^b[0-9]+$", "b05", True), ("(ab|cd){2}", "xabcd", True), (r"\d\.\d", "1x2", False), ("a.c", "abc", True)],
)
def test_common_regular_expressions_are_found(pattern: str, text: str, found: bool) -> None:
    assert is_found(pattern, text) is found


@pytest.mark.parametrize("pattern", ["a++", "a*?", "(?=a)", "[a&&b]", "[[a]]", r"\bx", "[]a]", r"\p{L}", "a{2}{3}"])
def test_regular_expressions_that_java_may_read_otherwise_are_refused(pattern: str) -> None:
    with pytest.raises(EvaluationFailed):
        is_found(pattern, "a")


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((INT, LONG), LONG),
        ((LONG, None, INT), LONG),
        ((DataType(Kind.BYTE), DataType(Kind.SHORT)), DataType(Kind.SHORT)),
        ((INT, DOUBLE), DOUBLE),
        ((DataType(Kind.FLOAT), DOUBLE, LONG), DOUBLE),
        ((DataType(Kind.FLOAT), LONG), None),  # a FLOAT or a DOUBLE, by the mode
        ((INT, STRING), None),
        ((INT, MONEY), None),
    ],
)
def test_choices_have_the_type_that_spark_brings_them_to(types: tuple[DataType | None, ...], expected: DataType | None) -> None:
    assert result_type("coalesce", types) == expected


@pytest.mark.parametrize(
    ("function", "args", "type_", "expected"),
    [
        ("coalesce", (lit(None), lit(2**53 + 1, LONG)), LONG, 2**53 + 1),
        ("coalesce", (lit(2**53 + 1, LONG), lit(0.5, DOUBLE)), DOUBLE, float(2**53)),
        ("greatest", (lit(2), lit(3, LONG), lit(None)), LONG, 3),
        ("least", (lit(2), lit(1.5, DOUBLE)), DOUBLE, 1.5),
        ("greatest", (lit(2), lit(NAN, DOUBLE)), DOUBLE, NAN),
    ],
)
def test_the_chosen_value_has_the_type_of_the_call(
    function: str, args: tuple[Expr, ...], type_: DataType, expected: Scalar
) -> None:
    found = value(Call(function, args, type_))
    assert (found, type(found)) == (expected, type(expected)) or (found != found and expected != expected)  # NaN


@pytest.mark.parametrize("name", ["abs", "negate"])
def test_a_sign_beyond_34_digits_is_not_computed(name: str) -> None:
    """Spark rounds there: abs(-100000000000000000000000000000000001) is 100000000000000000000000000000000000."""
    for scale in (0, 2):
        wide = DataType(Kind.DECIMAL, 38, scale)
        most = Decimal(f"{10**34 - 1}E-{scale}")
        assert value(Call(name, (lit(Decimal(f"-{most}"), wide),), wide)) == most
        with pytest.raises(EvaluationFailed):
            value(Call(name, (lit(Decimal(f"-{10**35 + 1}E-{scale}"), wide),), wide))
