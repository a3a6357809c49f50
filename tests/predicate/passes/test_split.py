"""Clauses: nothing is lost, each stands in its bucket, and says why it cannot be used."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.limit_lists import MAX_INTERVALS
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import And, Clause, Column, Constant, Exact, Member, Opaque, Profile
from lakeprune.report.buckets import bucket_of
from lakeprune.values.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, DataType, Kind, Scalar
from tests.generator.trees import EVERY, Asked, predicates, rows
from tests.predicate.outcomes import check_truths
from tests.scope import share_of

UTC = Profile(now=0)
SCHEMA = Schema(
    (
        Field("country", "country", STRING, Role.PARTITION),
        Field("day", "day", DATE, Role.PARTITION),
        Field("p", "p", INT, Role.PARTITION),
        Field("x", "x", INT),
        Field("y", "y", INT),
        Field("z", "z", DOUBLE),
        Field("s", "s", STRING),
        Field("ts", "ts", TIMESTAMP),
        Field("c", "c", DataType(Kind.STRING, collation="UTF8_LCASE")),
        Field("w", "w", INT, statistics_unusable="widened in an unknown way"),
    )
)


def clauses(text: str, profile: Profile = UTC) -> tuple[Clause, ...]:
    return split(bind(parse_predicate(text, profile), SCHEMA, profile, text), profile)


@settings(max_examples=share_of(200), deadline=None)
@given(predicates(EVERY), st.lists(rows(EVERY), min_size=1, max_size=3))
def test_the_and_of_all_clauses_is_the_predicate(asked: Asked, found: list[dict[Column, Scalar]]) -> None:
    predicate, profile = asked
    parts = split(predicate, profile)
    check_truths(predicate, And(tuple(clause.predicate for clause in parts)), found, profile)


@pytest.mark.parametrize(
    ("text", "buckets"),
    [
        ("country = 'DE' AND x > 40", ["partition_safe", "stats_safe"]),
        ("country LIKE 'D%'", ["partition_safe"]),
        ("country LIKE '%E'", ["partition_exact"]),
        ("lower(country) = 'de'", ["partition_exact"]),
        ("year(day) = 2024", ["partition_exact"]),
        ("p IS NULL", ["partition_safe"]),
        ("country = 'DE' OR x > 5", ["unsplittable"]),
        ("x = p", ["unsplittable"]),
        ("(p = 1 AND x > 5) OR (p = 1 AND y > 9)", ["partition_safe", "stats_safe"]),
        ("NOT (p = 1 OR x > 5)", ["partition_safe", "stats_safe"]),
        ("x > 5 AND y > 1 AND x < 9", ["stats_safe", "stats_safe"]),
        ("soundex(country) = 'D000' AND p = 1", ["not_evaluated", "partition_safe"]),
        ("soundex(s) = 'D000'", ["stats_safe"]),
        ("soundex(country) = s", ["unsplittable"]),
        ("1 = 1", []),
        ("1 = 2", ["partition_safe"]),
    ],
)
def test_clauses_stand_in_their_buckets(text: str, buckets: list[str]) -> None:
    assert [bucket_of(clause, EVIDENCE).value for clause in clauses(text)] == buckets


def test_ranges_on_one_column_are_one_clause() -> None:
    first, second = clauses("x > 5 AND y > 1 AND x < 9")
    assert first.text == "x > 5 AND x < 9"
    assert isinstance(first.predicate, Member)
    assert [(i.lo, i.hi) for i in first.predicate.values.intervals] == [(6, 8)]
    assert second.text == "y > 1"


def test_a_contradiction_is_said() -> None:
    (clause,) = clauses("x > 5 AND x < 3")
    assert isinstance(clause.predicate, Member)
    assert clause.predicate.values.is_empty()
    assert clause.rewritten == "FALSE"


def test_null_decides_a_conjunction_and_stays() -> None:
    assert clauses("NULL AND x > 3")[0].predicate == Constant(None)


def test_year_and_month_are_one_range() -> None:
    (clause,) = clauses("year(ts) = 2024 AND month(ts) = 2")
    assert clause.rewritten == "ts >= '2024-02-01' AND ts < '2024-03-01'"
    assert clause.reasons == ()


def test_a_local_date_in_a_zone_that_went_back_over_midnight_is_inexact() -> None:
    (clause,) = clauses("to_date(ts) = '2010-11-07'", Profile(now=0, zone="America/St_Johns"))
    assert [reason.code for reason in clause.reasons] == [ReasonCode.INEXACT_REWRITE]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("s LIKE '%x'", ReasonCode.OPAQUE_ON_DATA),
        ("s RLIKE 'x'", ReasonCode.OPAQUE_ON_DATA),
        ("c = 'x'", ReasonCode.COLLATION),
        ("w > 3", ReasonCode.TYPE_CHANGE_UNKNOWN),
        ("x + 1 = 3", ReasonCode.OVERFLOW_POSSIBLE),
        ("rand() > 0.5", ReasonCode.NON_DETERMINISTIC),
        ("country = 'DE' OR x > 5", ReasonCode.UNSPLITTABLE_OR),
        ("x > s", ReasonCode.CROSS_TYPE),
    ],
)
def test_what_cannot_be_used_says_why(text: str, code: ReasonCode) -> None:
    assert code in {reason.code for clause in clauses(text) for reason in clause.reasons}


def test_a_long_list_is_merged_and_says_so() -> None:
    (clause,) = clauses(f"x IN ({', '.join(str(3 * n) for n in range(MAX_INTERVALS + 5))})")
    assert [reason.code for reason in clause.reasons] == [ReasonCode.LIST_MERGED]
    (clause,) = clauses(f"x IN ({', '.join(str(3 * n) for n in range(MAX_INTERVALS))})")
    assert clause.reasons == ()


def test_an_exact_clause_keeps_the_users_leaf() -> None:
    (clause,) = clauses("lower(country) = 'de'")
    assert isinstance(clause.predicate, Exact)
    assert [column.path for column in clause.predicate.columns] == [("country",)]
    assert clause.rewritten is None


def test_what_spark_evaluates_over_partition_columns_and_lakeprune_cannot_says_so() -> None:
    (clause,) = clauses("soundex(country) = 'D000'")
    assert [reason.code for reason in clause.reasons] == [ReasonCode.NOT_EVALUATED]
    assert clause.reasons[0].message == "lakeprune cannot evaluate soundex(); Spark does, exactly"
    assert isinstance(clause.predicate, Opaque)
    assert clause.predicate.sql == "soundex(country) = 'D000'"


def test_the_same_on_a_data_column_is_only_unsupported() -> None:
    (clause,) = clauses("soundex(s) = 'D000'")
    assert [reason.code for reason in clause.reasons] == [ReasonCode.UNSUPPORTED_EXPRESSION]


def test_the_sql_of_an_opaque_part_is_whole_or_unknown() -> None:
    listed = ", ".join(f"'D{n}'" for n in range(30))
    (clause,) = clauses(f"soundex(country) IN ({listed})")
    assert isinstance(clause.predicate, Opaque)
    assert clause.predicate.sql in (None, f"soundex(country) IN ({listed})")
    (clause,) = clauses("country -- a comment\n & 1 = 1")
    assert isinstance(clause.predicate, Opaque)
    assert clause.predicate.sql == "country & 1 = 1"
