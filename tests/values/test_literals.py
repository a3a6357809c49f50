"""Text as values, against the standard library where it knows the answer."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeprune.predicate.read.sql.literals import unquote
from lakeprune.values.literals import format_value, parse_as, quote
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DECIMAL = DataType(Kind.DECIMAL, 10, 2)
TYPES = [BOOLEAN, INT, LONG, DOUBLE, STRING, DATE, TIMESTAMP, TIMESTAMP_NTZ, DECIMAL, DataType(Kind.FLOAT), DataType(Kind.BINARY)]


@given(st.dates())
def test_dates_are_days_since_1970(day: date) -> None:
    assert parse_as(day.isoformat(), DATE, "UTC") == (day - date(1970, 1, 1)).days
    assert format_value((day - date(1970, 1, 1)).days, DATE) == f"'{day.isoformat()}'"


@given(st.datetimes())
def test_timestamps_are_microseconds(moment: datetime) -> None:
    micros = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    for text in (moment.isoformat(), moment.isoformat(sep=" "), moment.isoformat() + "Z"):
        assert parse_as(text, TIMESTAMP, "UTC") == micros
    assert parse_as(moment.isoformat(), TIMESTAMP_NTZ, "Europe/Berlin") == micros
    assert parse_as(format_value(micros, TIMESTAMP_NTZ).strip("'"), TIMESTAMP_NTZ, "UTC") == micros
    assert parse_as(format_value(micros, TIMESTAMP).strip("'"), TIMESTAMP, "UTC") == micros


@given(st.integers(-(2**55), 2**55), st.sampled_from(["UTC", "Asia/Kolkata", "+05:45", "America/New_York"]))
def test_timestamps_shown_in_a_zone_are_read_back_in_it(micros: int, zone: str) -> None:
    assert parse_as(format_value(micros, TIMESTAMP, zone).strip("'"), TIMESTAMP, zone) == micros


@pytest.mark.parametrize(
    ("moment", "zone", "shown"),
    [
        ("2024-11-03 05:30:00Z", "America/New_York", "'2024-11-03 01:30:00'"),
        ("2024-11-03 06:30:00Z", "America/New_York", "'2024-11-03 06:30:00Z'"),
        ("2024-11-03 06:30:00.5Z", "America/New_York", "'2024-11-03 06:30:00.5Z'"),
        ("1991-09-29 00:00:00Z", "Europe/Moscow", "'1991-09-29 00:00:00Z'"),
    ],
)
def test_the_second_pass_of_an_hour_is_not_taken_for_the_first(moment: str, zone: str, shown: str) -> None:
    instant = parse_as(moment, TIMESTAMP, "UTC")
    assert format_value(instant, TIMESTAMP, zone) == shown
    assert parse_as(shown.strip("'"), TIMESTAMP, zone) == instant


def test_offsets_and_zones_in_text_win_over_the_session() -> None:
    noon = parse_as("2024-07-01 12:00:00", TIMESTAMP, "UTC")
    assert parse_as("2024-07-01T14:00:00+02:00", TIMESTAMP, "Asia/Tokyo") == noon
    assert parse_as("2024-07-01 14:00:00 Europe/Berlin", TIMESTAMP, "Asia/Tokyo") == noon
    assert parse_as("2024-07-01 14:00:00", TIMESTAMP, "Europe/Berlin") == noon
    assert parse_as("2024-07-01 12:00:00+07:00", TIMESTAMP_NTZ, "UTC") == noon


def test_digits_below_a_microsecond_are_kept() -> None:
    whole = parse_as("2024-01-01 00:00:00", TIMESTAMP, "UTC")
    assert parse_as("2024-01-01 00:00:00.0000005", TIMESTAMP, "UTC") == whole + Decimal("0.5")  # type: ignore[operator]
    assert parse_as("2024-01-01 00:00:00.000000000", TIMESTAMP, "UTC") == whole


@pytest.mark.parametrize(
    ("text", "days"), [("2024-1-5", 19727), ("2024", 19723), ("2024-02", 19754), (" 2024-01-05 ", 19727), ("2024-01-05T9", 19727)]
)
def test_short_dates_as_spark_reads_them(text: str, days: int) -> None:
    assert parse_as(text, DATE, "UTC") == days


def test_numbers_are_exact() -> None:
    assert parse_as(" +42 ", INT, "UTC") == 42
    assert parse_as("99999999999999999999", INT, "UTC") == 99999999999999999999
    assert parse_as("0.1234567890123456789012345678901234567890", DECIMAL, "UTC") == Decimal(
        "0.1234567890123456789012345678901234567890"
    )
    assert parse_as("1e3", DECIMAL, "UTC") == 1000
    assert math.isnan(parse_as("NaN", DOUBLE, "UTC"))  # type: ignore[arg-type]
    assert parse_as("-Infinity", DOUBLE, "UTC") == -math.inf
    assert parse_as("inf", DOUBLE, "UTC") == math.inf
    assert parse_as("YES", BOOLEAN, "UTC") is True


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("x", INT), ("3.5", INT), ("", INT), ("1_000", INT), ("٣", INT), ("0x10", LONG), ("1e5", LONG), ("12,5", DOUBLE),
        ("1_0.0", DOUBLE), ("nanx", DOUBLE), ("", DECIMAL), ("1e999999999", DECIMAL), ("maybe", BOOLEAN), ("2024-13-01", DATE),
        ("2023-02-29", DATE), ("24-01-01", DATE), ("2024-01-01x", DATE), ("01/02/2024", DATE), ("2024-01-01 25:00:00", TIMESTAMP),
        ("2024-01-01 00:00:00 Mars/Phobos", TIMESTAMP), ("noon", TIMESTAMP), ("2024-01-01 00:00:00+99:00", TIMESTAMP),
        ("5", DataType(Kind.ARRAY)),
    ],
)  # fmt: skip
def test_text_of_another_type_is_refused(text: str, type_: DataType) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_as(text, type_, "UTC")


@given(st.text(), st.sampled_from(TYPES))
def test_any_text_is_a_value_or_a_value_error(text: str, type_: DataType) -> None:
    try:
        parse_as(text, type_, "UTC")
    except ValueError:
        return


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_quoted_text_is_read_back_unchanged(text: str) -> None:
    assert unquote(quote(text)) == text


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"'a\\_b'", r"a\_b"), (r"'a\_b\%'", r"a\_b\%"), (r"'\n\t\0\Z'", "\n\t\0\x1a"), (r"'\u0041\101\x'", "AAx"),
        ("'it''s'", "it's"), ('"say ""hi"""', 'say "hi"'), (r"'it\'s'", "it's"), (r"r'a\n'", r"a\n"), (r"'\U0001F33C'", "🌼"),
        (r"'\\''x'", "\\'x"), (r"'\''''", "''"),
    ],
)  # fmt: skip
def test_strings_are_unescaped_as_spark_does(written: str, value: str) -> None:
    assert unquote(written) == value
