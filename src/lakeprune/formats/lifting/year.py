"""Year: the number of years since 1970, in UTC.

Why it is safe. A year begins with its first microsecond and ends before the next one, also before 1970: rounded down.

CASES (`a to b`: least and greatest of several values; `?` unbounded; next: 0 and below may stand for the year before, trap T11)

    type      | value    | next | lo                  | hi                         | because
    timestamp | 54       | no   | 2024-01-01T00:00:00 | 2024-12-31T23:59:59.999999 | 2024
    timestamp | 0        | no   | 1970-01-01T00:00:00 | 1970-12-31T23:59:59.999999 | the first
    timestamp | -1       | no   | 1969-01-01T00:00:00 | 1969-12-31T23:59:59.999999 | before 1970
    timestamp | -1 to 54 | no   | 1969-01-01T00:00:00 | 2024-12-31T23:59:59.999999 | from the first to the last
    timestamp | 0        | yes  | 1969-01-01T00:00:00 | 1970-12-31T23:59:59.999999 | 1969 may have been stored as 0
    timestamp | 1        | yes  | 1971-01-01T00:00:00 | 1971-12-31T23:59:59.999999 | never above 0
    timestamp | -1 to 1  | yes  | 1968-01-01T00:00:00 | 1971-12-31T23:59:59.999999 | the least is in doubt
    timestamp | NULL     | no   | ?                   | ?                          | no value
    timestamp | 300000   | no   | ?                   | ?                          | no timestamp lies there
    date      | 30       | no   | 2000-01-01          | 2000-12-31                 | a leap year
    date      | -1970    | no   | 0000-01-01          | 0000-12-31                 | year 0
    date      | 0        | yes  | 1969-01-01          | 1970-12-31                 | the same of dates
    int       | 3        | no   | ?                   | ?                          | not a time
"""

from __future__ import annotations

from lakeprune.formats.lifting.time_unit import TimeUnit, days_before_march_year
from lakeprune.values.time.calendar import DAY, days_of, year_of


class Year(TimeUnit, frozen=True):
    farthest = 290_000

    def _number(self, micros: int) -> int:
        return year_of(micros // DAY) - 1970

    def _first(self, number: int) -> int:
        return days_of(1970 + number, 1, 1) * DAY

    def _first_sql(self, number: str) -> str:
        return f"({days_before_march_year(f'({number} + 1969)')} + 306)"  # January is the eleventh month from March
