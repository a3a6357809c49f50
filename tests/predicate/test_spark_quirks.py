"""What only a running Spark shows: one test for each meaning that no one would have guessed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import And, Opaque, Profile
from lakeprune.predicate.walk import columns_of
from lakeprune.values.types import DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind, Scalar
from tests.predicate.outcomes import outcomes

WHOLE = DataType(Kind.DECIMAL, 38, 0)
TYPES = {"i": INT, "l": LONG, "x": DOUBLE, "m": DataType(Kind.DECIMAL, 18, 0), "w": WHOLE, "s": STRING, "d": DATE,
         "t": TIMESTAMP, "n": TIMESTAMP_NTZ, "v": DataType(Kind.DECIMAL, 38, 30)}  # fmt: skip


def answers(text: str, value: Scalar, *, zone: str = "UTC", role: Role = Role.DATA) -> set[bool | None]:
    """What a predicate over one column can be on a row with this value."""
    profile = Profile(now=0, zone=zone, zone_is_given=True)
    schema = Schema(tuple(Field(name, name, type_, role) for name, type_ in TYPES.items()))
    bound = bind(parse_predicate(text, profile), schema, profile, text)
    clauses = split(bound, profile)
    row = {column: value for clause in clauses for column in columns_of(clause.predicate)}
    return outcomes(And(tuple(clause.predicate for clause in clauses)), row, profile)


def test_an_integer_below_every_limit_may_be_true_even_for_null() -> None:
    assert True in answers("i < 9223372036854775808", None)
    assert answers("i < 9223372036854775808", 5) == {True}
    assert answers("i > 9223372036854775808", 5) == {False}
    assert False in answers("(i < 9223372036854775808) IS NULL", None)
    assert answers("i < 9223372036854775807", None) == {None}


def test_decimals_without_room_for_both_sides_may_be_rounded() -> None:
    assert answers("w = 1.5", Decimal(2)) == {True, False}
    assert answers("w > 1.5", Decimal(2)) == {True, False}
    assert answers("w > 1.5", Decimal(3)) == {True}
    assert True in answers("v NOT IN (99999999999, 0)", Decimal("0." + "0" * 29 + "1"))
    assert False in answers("v NOT IN (99999999999, 0)", Decimal("0." + "0" * 29 + "1"))


def test_a_decimal_against_text_may_be_rounded_or_be_a_double() -> None:
    assert answers("m = '3.5'", Decimal(4)) == {True, False}
    assert answers("m = '9007199254740992'", Decimal(9007199254740993)) == {True, False}
    assert answers("m = '3'", Decimal(3)) == {True}
    assert answers("m = '3'", Decimal(4)) == {False}


@pytest.mark.parametrize("role", list(Role))
def test_a_list_with_text_and_decimals_may_be_one_of_doubles(role: Role) -> None:
    assert True in answers("l IN (9223372036854775808, -9223372036854775804, '0')", -9223372036854775808, role=role)
    assert True in answers("m IN ('0', 9007199254740993)", Decimal(9007199254740992), role=role)
    assert answers("l IN (5.5, 7, '0')", 7, role=role) == {True}
    assert answers("l IN (5.5, 7, '0')", 8, role=role) == {False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x NOT IN ('3', 0)", 0.0),
        ("d NOT IN ('2024-01-05 12:00:00')", 19727),
        ("t NOT IN ('2024-1-5')", 1_704_412_800_000_000),
        ("i NOT IN (3.0, '4')", 3),
    ],
)
def test_a_list_with_text_may_be_compared_as_text(text: str, value: Scalar) -> None:
    assert answers(text, value) == {True, False}


def test_a_list_of_text_as_spark_writes_it_has_one_meaning() -> None:
    assert answers("d IN ('2024-01-05')", 19727) == {True}
    assert answers("i IN ('4', 5)", 4) == {True}
    assert answers("t IN ('2024-01-05 00:00:00')", 1_704_412_800_000_000) == {True}


def test_two_instants_with_one_text_may_both_be_in_a_list() -> None:
    later = 1_729_992_600_000_000  # 02:30 in Berlin for the second time that night
    assert answers("t IN ('2024-10-27 02:30:00')", later, zone="Europe/Berlin") == {True, False}


def test_seconds_before_1970_are_cut_not_rounded_down() -> None:
    assert answers("unix_timestamp(t) = 0", -1) == {True, False}
    assert answers("unix_timestamp(t) = -1", -1) == {True, False}
    assert answers("unix_timestamp(t) = -1", -1_000_000) == {True}
    assert answers("unix_timestamp(t) = 0", 999_999) == {True}


def test_seconds_of_a_timestamp_without_zone_ignore_the_session_zone() -> None:
    assert answers("unix_timestamp(n) = 0", 0, zone="America/St_Johns") == {True}


def test_a_cast_that_may_be_null_does_not_move() -> None:
    assert answers("cast(l AS decimal(3,0)) = 2", 10**6) == {True, False, None}
    assert answers("cast(t AS int) = 0", -(10**18)) == {True, False, None}
    assert answers("cast(l AS decimal(20,0)) = 2", 2) == {True}


@pytest.mark.parametrize(
    "text",
    ["d = 'today'", "d < DATE 'tomorrow'", "t > 'now'", "t > '12:30:00'", "n = 'epoch'",
     "timestampdiff(DAY, t, now()) > 3", "datediff(MONTH, d, current_date()) = 1"],
)  # fmt: skip
def test_what_spark_accepts_is_opaque_not_an_error(text: str) -> None:
    profile = Profile(now=0)
    schema = Schema(tuple(Field(name, name, type_) for name, type_ in TYPES.items()))
    assert isinstance(bind(parse_predicate(text, profile), schema, profile, text), Opaque)


def test_a_date_with_nothing_after_its_t_is_no_timestamp() -> None:
    with pytest.raises(PredicateError, match="LP106"):
        answers("t = '2024-01-05T'", 0)


def test_an_offset_may_have_one_digit_of_minutes() -> None:
    assert answers("t = '1970-01-01 00:00:00+1:5'", -65 * 60 * 1_000_000) == {True}


@pytest.mark.parametrize(
    "text",
    [
        "left('abc', 9223372036854775807) = ''", "left(s, 4294967297) = 'a'", "right(s, 9223372036854775807) = ''",
        "substring(s, 4294967297, 1) = 'a'", "substring(s, 1, 4294967297) = 'a'", "substring('abc', 4294967297) = 'abc'",
        "length(left('abc', l)) = 0",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", list(Role))
def test_a_length_that_is_no_int_wraps_or_fails(text: str, role: Role) -> None:
    try:
        found = answers(text, 9223372036854775807 if " l)" in text else "abc", role=role)
    except EvaluationFailed:
        return  # unknown, on a partition value
    assert True in found
