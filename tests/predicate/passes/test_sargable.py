"""Rewrites of opaque conditions: the same truth on every value, also at the edges where text and time part ways.

The truth is computed here, from what Spark writes: years outside 0 to 9999 have a sign, fractions of seconds lose their zeros.
"""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.sargable import sargable
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import And, Either, Expr, Member, Not, Opaque, Or, Profile
from lakeprune.predicate.write.pasteable import implied, is_exact, plain_sql
from lakeprune.values.time.calendar import DAY, civil_of
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import DATE, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ
from tests.scope import share_of

COLUMNS = {"ts": TIMESTAMP, "tn": TIMESTAMP_NTZ, "d": DATE, "n": LONG, "s": STRING}
SCHEMA = Schema(tuple(Field(name, name, type_) for name, type_ in COLUMNS.items()))
OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
PATTERNS = ["yyyy", "yyyy-MM", "yyyyMM", "yyyy/MM/dd", "yyyyMMdd", "yyyy-MM-dd HH", "yyyy-MM-dd HH:mm", "yyyyMMddHHmmss"]
MOMENTS = st.one_of(
    st.integers(1_500_000_000_000_000, 1_800_000_000_000_000),
    st.integers(-63_000_000_000_000_000, 253_500_000_000_000_000),  # a little before year 1, a little after 9999
    st.sampled_from([0, -1, 253_402_300_799_999_999, 253_402_300_800_000_000, -62_135_596_800_000_000, -62_135_596_800_000_001]),
)


def fields(local: int) -> dict[str, str]:
    year, month, day = civil_of(local // DAY)
    seconds = local % DAY // 1_000_000
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return {
        "yyyy": f"{sign}{abs(year):04}", "MM": f"{month:02}", "dd": f"{day:02}",
        "HH": f"{seconds // 3600:02}", "mm": f"{seconds // 60 % 60:02}", "ss": f"{seconds % 60:02}",
    }  # fmt: skip


def formatted(local: int, pattern: str) -> str:
    for name, text in fields(local).items():
        pattern = pattern.replace(name, text)
    return pattern


def cast_text(local: int) -> str:
    fraction = f"{local % 1_000_000:06}".rstrip("0")
    return formatted(local, "yyyy-MM-dd HH:mm:ss") + (f".{fraction}" if fraction else "")


def found(where: str, profile: Profile) -> Expr:
    return sargable(bind(parse_predicate(where, profile), SCHEMA, profile, where), profile)


def truths(predicate: Expr, value: Any) -> set[bool]:
    """Every truth the tree allows for a column's value: one where it is exact."""
    match predicate:
        case Member(_, values):
            return {values.contains(value)}
        case Either(outer, inner):
            return truths(outer, value) | truths(inner, value)
        case Not(part):
            return {not truth for truth in truths(part, value)}
        case And(parts):
            sides = [truths(part, value) for part in parts]
            return {all(True in side for side in sides)} | ({False} if any(False in side for side in sides) else set())
        case Or(parts):
            sides = [truths(part, value) for part in parts]
            return ({True} if any(True in side for side in sides) else set()) | {not all(False in side for side in sides)}
        case Opaque():
            return {True, False}
        case _:
            raise AssertionError(predicate)


@settings(max_examples=share_of(300), deadline=None)
@given(MOMENTS, MOMENTS, st.sampled_from(PATTERNS), st.sampled_from(list(OPERATORS)), st.sampled_from(["tn", "ts", "d"]))
def test_a_format_of_a_time_is_a_range_of_it(moment: int, other: int, pattern: str, op: str, column: str) -> None:
    for near in (other, moment, moment + 86_400_000_000):
        literal = formatted(near, pattern)
        local = moment // DAY * DAY if column == "d" else moment
        predicate = found(f"date_format({column}, '{pattern}') {op} '{literal}'", Profile(0))
        value = moment // DAY if column == "d" else moment
        assert OPERATORS[op](formatted(local, pattern), literal) in truths(predicate, value)


@settings(max_examples=share_of(200), deadline=None)
@given(MOMENTS, st.integers(0, 26), st.sampled_from(["=", ">=", "<", "LIKE"]), st.sampled_from(["tn", "d"]))
def test_the_text_of_a_time_is_a_range_of_it(moment: int, length: int, op: str, column: str) -> None:
    text = cast_text(moment) if column == "tn" else formatted(moment, "yyyy-MM-dd")
    literal = text[:length]
    value = moment if column == "tn" else moment // DAY
    if op == "LIKE":
        assert True in truths(found(f"{column} LIKE '{literal}%'", Profile(0)), value)
        return
    truth = OPERATORS[op](text, literal)
    assert truth in truths(found(f"CAST({column} AS STRING) {op} '{literal}'", Profile(0)), value)


@settings(max_examples=share_of(150), deadline=None)
@given(st.integers(1_500_000_000_000_000, 1_800_000_000_000_000), st.sampled_from(PATTERNS))
def test_clock_changes_are_in_the_range(moment: int, pattern: str) -> None:
    """Local time repeats and jumps; whatever the zone, the text of an instant is found again."""
    for zone in ("Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Apia"):
        literal = formatted(local_of(moment, zone), pattern)
        assert True in truths(found(f"date_format(ts, '{pattern}') = '{literal}'", Profile(0, zone, True)), moment)


@settings(max_examples=share_of(150), deadline=None)
@given(st.text(alphabet="ab -!", max_size=5), st.text(alphabet="ab -!", max_size=5), st.sampled_from(["=", "!="]))
def test_texts_around_a_column_are_taken_off(value: str, literal: str, op: str) -> None:
    for text, computed in (
        (f"concat('a', s, 'b') {op} '{literal}'", f"a{value}b"),
        (f"rtrim(s) {op} '{literal}'", value.rstrip(" ")),
    ):
        assert OPERATORS[op](computed, literal) in truths(found(text, Profile(0)), value)


@settings(max_examples=share_of(100), deadline=None)
@given(st.integers(-120, 120), st.sampled_from(["7", "-7", "007", "+7", "x", "", "100", "-0", "0", "9" * 30]))
def test_the_text_of_an_integer_names_it(value: int, literal: str) -> None:
    for op in ("=", "!="):
        predicate = found(f"CAST(n AS STRING) {op} '{literal}'", Profile(0))
        assert truths(predicate, value) == {OPERATORS[op](str(value), literal)}


@pytest.mark.parametrize(
    "pattern", ["^ab", "^ab[0-9]+", "^ab?c", "^a|b", "^(a)", "^a*", "^a{0}b", "ab", "^a.b", "(?i)^ab", r"^\Qa\E"]
)
@pytest.mark.parametrize("value", ["ab", "abc", "a1b", "b", "xab", "AB", "a", "ac", ""])
def test_a_regular_expression_keeps_its_own_prefix_only(pattern: str, value: str) -> None:
    import re

    readable = pattern.replace(r"\Q", "").replace(r"\E", "")
    if re.search(readable, value):
        assert True in truths(found(f"s RLIKE '{pattern.replace(chr(92), chr(92) * 2)}'", Profile(0)), value)


@pytest.mark.parametrize(
    "where",
    [
        "lower(s) = 'a'", "trim(s) = 'a'", "date_format(ts, 'MM') = '05'", "date_format(ts, 'dd.MM.yyyy') = '01.05.2024'",
        "date_format(ts, 'yyyy-dd') = '2024-05'", "s RLIKE 'abc'", "concat(s, s) = 'aa'", "CAST(n AS STRING) > '5'",
        "date_format(ts, 'yyyy''T''MM') = '2024T05'", "length(s) = 3", "month(ts) = 5",
    ],
)  # fmt: skip
def test_what_cannot_be_proven_is_not_offered(where: str) -> None:
    from lakeprune.predicate.tree import TRUE

    predicate = found(where, Profile(0))
    assert not is_exact(predicate)
    assert implied(predicate) == TRUE


@pytest.mark.parametrize(
    "where",
    [
        "s = 'it''s' OR s LIKE 'a\\\\_b%'", "ts BETWEEN '2024-01-01' AND '2024-02-01'", "n != 5", "n NOT IN (1, 2, 9)",
        "d = '2024-05-01' OR (n > 5 AND n < 9) OR s IS NULL", "NOT (n = 5 AND s = 'x')", "n < 5 OR n > 9", "s > 'a' AND n <= 3",
    ],
)  # fmt: skip
def test_a_rewrite_reads_back_to_the_same_sets(where: str) -> None:
    profile = Profile(0)
    (clauses, again) = ([], [])  # type: ignore[var-annotated]
    for text, into in ((where, clauses), (None, again)):
        if text is None:
            text = " AND ".join(f"({plain_sql(clause.predicate, 'UTC')})" for clause in clauses)  # noqa: PLW2901
        into.extend(split(bind(parse_predicate(text, profile), SCHEMA, profile, text), profile))
    assert [clause.predicate for clause in again] == [clause.predicate for clause in clauses]


def test_a_list_too_long_to_paste_has_no_rewrite() -> None:
    numbers = ", ".join(str(2 * n) for n in range(500))
    (clause,) = split(bind(parse_predicate(f"n IN ({numbers})", Profile(0)), SCHEMA, Profile(0), ""), Profile(0))
    assert plain_sql(clause.predicate, "UTC") is None
