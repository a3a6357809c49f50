"""Every transform: its truth table in SQL and in Python, and its ranges against PyIceberg's transforms and random values."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import BinaryType, DateType, DecimalType, IntegerType, LongType, StringType, TimestampType

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.formats.lifting.day import Day
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.month import Month
from lakeprune.formats.lifting.transform import Range, Transform
from lakeprune.formats.lifting.truncate import Truncate
from lakeprune.formats.lifting.year import Year
from lakeprune.values.types import DataType, Kind
from tests.builders.engine import ENGINE
from tests.formats.lifting.cases import Case, all_cases, hash_cases
from tests.scope import share_of

CASES = all_cases()
MICROS = st.integers(-(2**63), 2**63 - 1)
DAYS = st.integers(-(2**31), 2**31 - 1)
TIMESTAMP, DATE = DataType(Kind.TIMESTAMP), DataType(Kind.DATE)
INT, LONG, DECIMAL = DataType(Kind.INT), DataType(Kind.LONG), DataType(Kind.DECIMAL, 9, 2)
TEXT, BYTES = DataType(Kind.STRING), DataType(Kind.BINARY)
DIGITS = st.integers(-999_999_999, 999_999_999).map(lambda digits: Decimal(digits).scaleb(-2))
CHARACTERS = st.characters(exclude_categories=["Cs"])


def literal(value: Any, type_: DataType, dialect: Dialect) -> str:
    if value is None:
        return f"CAST(NULL AS {carrier(type_)})"
    if isinstance(value, float) and math.isnan(value):
        return "CAST('NaN' AS DOUBLE)"
    assert type_.family is not None
    return f"CAST({dialect.literal(value, type_.family)} AS {carrier(type_)})"


def sql_of(case: Case, dialect: Dialect) -> str:
    """SELECT items for what a case proves, from columns: an expression that only columns make is not folded away."""
    given = case.source if case.name in ("identity", "truncate", "void") else INT
    found = case.transform.sql(dialect, "v", "w")
    ends = f"SELECT {literal(case.lower, given, dialect)} AS v, {literal(case.upper, given, dialect)} AS w"
    return f"SELECT {found.lo} AS lo, {found.hi} AS hi, {found.is_truncated} AS is_truncated FROM ({ends})"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_of_a_truth_table_holds_in_sql_and_in_python(case: Case) -> None:
    assert case.transform.range(case.lower, case.upper) == case.range
    assert [Range(*row) for row in ENGINE.query(sql_of(case, ENGINE.dialect))] == [case.range]


@pytest.mark.parametrize("case", [case for case in CASES if case.lower == case.upper and case.range.lo is not None], ids=str)
def test_the_ends_of_a_range_have_the_partition_value(case: Case) -> None:
    has_doubts = getattr(case.transform, "may_be_next", False) or getattr(case.transform, "margin", 0)
    if not has_doubts:
        assert case.transform.apply(case.range.lo) == case.lower
    if case.range.hi is not None and not getattr(case.transform, "margin", 0):
        assert case.transform.apply(case.range.hi) == case.lower


@pytest.mark.parametrize(("bucket", "source", "hashed"), hash_cases(), ids=str)
def test_the_hash_of_the_specification(bucket: Bucket, source: Any, hashed: int | None) -> None:
    assert bucket.hash(source) == hashed
    assert bucket.apply(source) == (None if hashed is None else (hashed & 0x7FFFFFFF) % 16)


TRANSFORMS: list[tuple[Transform, st.SearchStrategy[Any], Any]] = [
    (Year(TIMESTAMP), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), YearTransform().transform(TimestampType())),
    (
        Month(TIMESTAMP),
        st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999),
        MonthTransform().transform(TimestampType()),
    ),
    (Day(TIMESTAMP), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), DayTransform().transform(TimestampType())),
    (Hour(TIMESTAMP), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), HourTransform().transform(TimestampType())),
    (Year(DATE), st.integers(-719_162, 2_932_896), YearTransform().transform(DateType())),
    (Month(DATE), st.integers(-719_162, 2_932_896), MonthTransform().transform(DateType())),
    (Day(DATE), st.integers(-719_162, 2_932_896), DayTransform().transform(DateType())),
    (Truncate(INT, 7), st.integers(-(2**31) + 7, 2**31 - 1), TruncateTransform(7).transform(IntegerType())),
    (Truncate(LONG, 1000), st.integers(-(2**63) + 1000, 2**63 - 1), TruncateTransform(1000).transform(LongType())),
    (Truncate(DECIMAL, 50), DIGITS, TruncateTransform(50).transform(DecimalType(9, 2))),
    (Truncate(TEXT, 3), st.text(CHARACTERS), TruncateTransform(3).transform(StringType())),
    (Truncate(BYTES, 3), st.binary(), TruncateTransform(3).transform(BinaryType())),
    (Bucket(INT, 16), DAYS, BucketTransform(16).transform(IntegerType())),
    (Bucket(LONG, 7), MICROS, BucketTransform(7).transform(LongType())),
    (Bucket(DECIMAL, 13), DIGITS, BucketTransform(13).transform(DecimalType(9, 2))),
    (Bucket(TEXT, 16), st.text(CHARACTERS), BucketTransform(16).transform(StringType())),
    (Bucket(BYTES, 16), st.binary(), BucketTransform(16).transform(BinaryType())),
]
IDS = [f"{type(transform).__name__}-{getattr(transform, 'source', None)}" for transform, _, _ in TRANSFORMS]


@pytest.mark.parametrize(("transform", "values", "theirs"), TRANSFORMS, ids=IDS)
def test_partition_values_are_those_of_pyiceberg(transform: Transform, values: st.SearchStrategy[Any], theirs: Any) -> None:
    @settings(max_examples=share_of(150), deadline=None)
    @given(values)
    def check(value: Any) -> None:
        assert transform.apply(value) == theirs(value)

    check()
    assert transform.apply(None) is None


ANYWHERE: list[tuple[Transform, st.SearchStrategy[Any]]] = [
    *((made(TIMESTAMP), MICROS) for made in (Year, Month, Day, Hour)),
    *((made(DATE), DAYS) for made in (Year, Month, Day)),
    (Truncate(INT, 7), DAYS),
    (Truncate(INT, 2**31 - 1), DAYS),
    (Truncate(LONG, 1000), MICROS),
    (Truncate(LONG, 1000, was_int=True), MICROS),
    *((transform, values) for transform, values, _ in TRANSFORMS[9:12]),
]


@pytest.mark.parametrize(("transform", "values"), ANYWHERE, ids=str)
def test_every_value_lies_in_the_range_of_its_partition_value(transform: Any, values: st.SearchStrategy[Any]) -> None:
    """Of all values of the type, those that wrap around included; and in the range of a container with other values."""

    @settings(max_examples=share_of(300), deadline=None)
    @given(values, values)
    def check(value: Any, other: Any) -> None:
        least, greatest = sorted((transform.apply(value), transform.apply(other)))
        for found in (transform.range(transform.apply(value), transform.apply(value)), transform.range(least, greatest)):
            assert found.lo is None or found.lo <= value
            extends = found.is_truncated and value.startswith(found.hi)
            assert found.hi is None or value <= found.hi or extends

    check()


def test_a_stored_value_of_an_early_writer_is_admitted() -> None:
    """Trap T11: 1969-12-31T10:00 lies in day -1, and was stored as 0."""
    moment = -14 * 3_600_000_000
    assert Day(TIMESTAMP).apply(moment) == -1
    for transform in (Year(TIMESTAMP, 0, True), Month(TIMESTAMP, 0, True), Day(TIMESTAMP, 0, True), Hour(TIMESTAMP, 0, True)):
        stored = transform.apply(moment)
        assert stored is not None
        assert (transform.range(stored + 1, stored + 1).lo or 0) <= moment  # type: ignore[operator]
