"""Local time and instants, against brute force over the zone database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeprune.errors import UsageError
from lakeprune.values.time.calendar import DAY, SECOND
from lakeprune.values.time.zones import check_zone, instant_of, instants_of_local_range, local_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = ["America/St_Johns", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia", "Asia/Kolkata", "UTC"]
instants = st.integers(min_value=-3 * 10**9, max_value=4 * 10**9).map(lambda seconds: seconds * SECOND + 123_456)


def truly_local(instant: int, zone: str) -> int:
    moment = (EPOCH + timedelta(microseconds=instant)).astimezone(ZoneInfo(zone))
    return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@given(instants, st.sampled_from(ZONES))
def test_local_time_is_that_of_the_zone_database(instant: int, zone: str) -> None:
    assert local_of(instant, zone) == truly_local(instant, zone)


@given(instants, st.sampled_from(ZONES))
def test_every_local_time_that_exists_leads_back_to_its_first_instant(instant: int, zone: str) -> None:
    local = local_of(instant, zone)
    found = instant_of(local, zone)
    assert found <= instant
    assert local_of(found, zone) == local


@given(instants, st.sampled_from(ZONES))
def test_gaps_and_overlaps_are_those_of_java_time(local: int, zone: str) -> None:
    wall = (EPOCH + timedelta(microseconds=local)).replace(tzinfo=ZoneInfo(zone))  # fold=0: earlier offset, shifts gaps forward
    assert instant_of(local, zone) == (wall.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)


def test_a_local_time_in_a_gap_is_shifted_forward() -> None:
    local = (datetime(2024, 3, 31, 2, 30, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    assert local_of(instant_of(local, "Europe/Berlin"), "Europe/Berlin") == local + 3600 * SECOND


def test_st_johns_2010_11_07_begins_twice() -> None:
    start = (datetime(2010, 11, 7, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    outer_lo, outer_hi, inner_lo, inner_hi = instants_of_local_range(start, start + DAY, "America/St_Johns")
    row = (datetime(2010, 11, 7, 2, 30, 30, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    assert outer_lo <= row < outer_hi
    assert not inner_lo <= row < inner_hi
    assert local_of(row, "America/St_Johns") // DAY == start // DAY


@given(
    st.sampled_from(ZONES), st.integers(-30_000, 30_000), st.integers(0, 5 * 86_400), st.integers(-90_000, 90_000), st.booleans()
)
def test_outer_holds_all_and_inner_only_instants_of_a_local_range(
    zone: str, day: int, length: int, shift: int, at_end: bool
) -> None:
    lo = day * DAY
    hi = lo + length * SECOND
    outer_lo, outer_hi, inner_lo, inner_hi = instants_of_local_range(lo, hi, zone)
    probe = (instant_of(hi if at_end else lo, zone)) + shift * SECOND
    inside = lo <= local_of(probe, zone) < hi
    assert not inside or outer_lo <= probe < outer_hi
    assert inside or not inner_lo <= probe < inner_hi
    if length:
        assert outer_lo < outer_hi or zone != "UTC"


def test_rules_repeat_beyond_year_9999() -> None:
    cycle = 146_097 * DAY
    summer = (datetime(2024, 7, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    for cycles in (20, 100, 290_000 // 400):
        assert local_of(summer + cycles * cycle, "Europe/Berlin") == summer + cycles * cycle + 7200 * SECOND


def test_the_far_past_has_the_first_known_offset() -> None:
    assert local_of(-(2**62), "Europe/Berlin") == -(2**62) + (53 * 60 + 28) * SECOND


@pytest.mark.parametrize(("zone", "offset"), [("+02:00", 7200), ("-0330", -12600), ("UTC+1", 3600), ("GMT", 0), ("Z", 0)])
def test_fixed_offsets(zone: str, offset: int) -> None:
    assert local_of(0, zone) == offset * SECOND
    assert instant_of(0, zone) == -offset * SECOND


@pytest.mark.parametrize("zone", ["Mars/Phobos", "", "+25:00", "../etc/passwd", "/etc/passwd", "Europe/", "\0"])
def test_an_unknown_zone_is_a_usage_error(zone: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_zone(zone)
    assert caught.value.code == "LP203"
