"""Month: the number of months since January 1970, in UTC.

Why it is safe. A month begins with its first microsecond and ends before the next one, also before 1970: rounded down.

CASES (`a to b`: least and greatest of several values; `?` unbounded; next: 0 and below may stand for the month before, trap T11)

    type      | value   | next | lo                  | hi                         | because
    timestamp | 649     | no   | 2024-02-01T00:00:00 | 2024-02-29T23:59:59.999999 | a leap year
    timestamp | 637     | no   | 2023-02-01T00:00:00 | 2023-02-28T23:59:59.999999 | not a leap year
    timestamp | 0       | no   | 1970-01-01T00:00:00 | 1970-01-31T23:59:59.999999 | the first
    timestamp | -1      | no   | 1969-12-01T00:00:00 | 1969-12-31T23:59:59.999999 | before 1970
    timestamp | -1      | yes  | 1969-11-01T00:00:00 | 1969-12-31T23:59:59.999999 | November may have been stored so
    timestamp | 1       | yes  | 1970-02-01T00:00:00 | 1970-02-28T23:59:59.999999 | never above 0
    timestamp | 0 to 11 | no   | 1970-01-01T00:00:00 | 1970-12-31T23:59:59.999999 | from the first to the last
    timestamp | NULL    | no   | ?                   | ?                          | no value
    timestamp | 9999999 | no   | ?                   | ?                          | no timestamp lies there
    date      | 359     | no   | 1999-12-01          | 1999-12-31                 | the last of a year
    date      | 1561    | no   | 2100-02-01          | 2100-02-28                 | a century is not a leap year
    date      | -23640  | no   | 0000-01-01          | 0000-01-31                 | year 0
"""

from __future__ import annotations

from lakeprune.formats.lifting.time_unit import TimeUnit, days_before_march_year
from lakeprune.values.time.calendar import DAY, civil_of, days_of


class Month(TimeUnit, frozen=True):
    farthest = 290_000 * 12

    def _number(self, micros: int) -> int:
        year, month, _ = civil_of(micros // DAY)
        return (year - 1970) * 12 + month - 1

    def _first(self, number: int) -> int:
        return days_of(1970, number + 1, 1) * DAY

    def _first_sql(self, number: str) -> str:
        from_march = f"({number} + 23638)"  # months since March of year 0
        year = f"CAST(floor({from_march} / 12) AS BIGINT)"
        days = f"CAST(floor((153 * ({from_march} - 12 * {year}) + 2) / 5) AS BIGINT)"
        return f"({days_before_march_year(year)} + {days})"
