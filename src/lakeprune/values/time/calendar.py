"""Days since 1970-01-01 to the proleptic Gregorian calendar and back, without any limit on the year.

In: integers, or a day as text. Out: integers. Never uses `datetime`, whose years end at 1 and 9999 while tables hold the whole
range of an int.
"""

from __future__ import annotations

import re

DAY = 86_400_000_000  # microseconds
HOUR = 3_600_000_000
MINUTE = 60_000_000
SECOND = 1_000_000
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)


def civil_of(days: int) -> tuple[int, int, int]:
    """The (year, month, day) of a day number.

    >>> civil_of(0), civil_of(-1), civil_of(11016)
    ((1970, 1, 1), (1969, 12, 31), (2000, 2, 29))
    """
    # The year is counted from 1 March, so that the leap day is the last one; an era is 400 years = 146,097 days.
    shifted = days + 719_468
    era, day_of_era = divmod(shifted, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def days_of(year: int, month: int, day: int) -> int:
    """The day number of a calendar day; `month` may lie outside 1..12 and carries into the year.

    >>> days_of(1970, 1, 1), days_of(2000, 2, 29), days_of(1999, 14, 29)
    (0, 11016, 11016)
    """
    carry, month_index = divmod(month - 1, 12)
    year, month = year + carry, month_index + 1
    from_march = year - (month <= 2)
    era, year_of_era = divmod(from_march, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def days_of_iso(text: str) -> int | None:
    """The day number of yyyy-MM-dd from the year 1 on, None for any other text.

    >>> days_of_iso("2000-02-29"), days_of_iso("2001-02-29"), days_of_iso("2000-2-29")
    (11016, None, None)
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) for part in match.groups())
    days = days_of(year, month, day)
    return days if year >= 1 and civil_of(days) == (year, month, day) else None


def year_of(days: int) -> int:
    return civil_of(days)[0]


def last_day_of_month(days: int) -> int:
    """The day number of the last day of the month.

    >>> civil_of(last_day_of_month(days_of(2023, 2, 7)))
    (2023, 2, 28)
    """
    year, month, _ = civil_of(days)
    return days_of(year, month + 1, 1) - 1


def add_months(days: int, months: int) -> int:
    """The same day of a later month, or that month's last day when it is shorter (as Spark's `add_months`).

    >>> civil_of(add_months(days_of(2024, 1, 31), 1))
    (2024, 2, 29)
    """
    year, month, day = civil_of(days)
    first = days_of(year, month + months, 1)
    return min(first + day - 1, last_day_of_month(first))


def weekday(days: int) -> int:
    """Monday is 0.

    >>> weekday(0)  # 1970-01-01 was a Thursday
    3
    """
    return (days + 3) % 7


def iso_week(days: int) -> int:
    """The ISO 8601 week of the year: the week belongs to the year of its Thursday.

    >>> iso_week(days_of(2021, 1, 3)), iso_week(days_of(2021, 1, 4))
    (53, 1)
    """
    thursday = days - weekday(days) + 3
    return (thursday - days_of(year_of(thursday), 1, 1)) // 7 + 1
