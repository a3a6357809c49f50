"""Day: the number of days since 1970-01-01, in UTC; also a timestamp cast to a date.

Why it is safe. A day begins with its first microsecond and ends before the next one, also before 1970: rounded down. Where the
zone of the writer is not known, both ends are wider by as much as zones differ (traps T9, T10).

CASES (`a to b`: least and greatest of several values; `?` unbounded; next: 0 and below may stand for the day before, trap T11)

    type      | value     | next | margin | lo                  | hi                         | because
    timestamp | 19723     | no   | 0      | 2024-01-01T00:00:00 | 2024-01-01T23:59:59.999999 | one day
    timestamp | 0         | no   | 0      | 1970-01-01T00:00:00 | 1970-01-01T23:59:59.999999 | the first
    timestamp | -1        | no   | 0      | 1969-12-31T00:00:00 | 1969-12-31T23:59:59.999999 | before 1970
    timestamp | 0         | yes  | 0      | 1969-12-31T00:00:00 | 1970-01-01T23:59:59.999999 | may have been stored so
    timestamp | 1         | yes  | 0      | 1970-01-02T00:00:00 | 1970-01-02T23:59:59.999999 | never above 0
    timestamp | 0 to 3    | no   | 0      | 1970-01-01T00:00:00 | 1970-01-04T23:59:59.999999 | from the first to the last
    timestamp | 1         | no   | 16 h   | 1970-01-01T08:00:00 | 1970-01-03T15:59:59.999999 | somebody's 2 January
    timestamp | NULL      | no   | 0      | ?                   | ?                          | no value
    timestamp | 106751992 | no   | 0      | ?                   | ?                          | no timestamp lies there
    date      | 19723     | no   | 0      | 2024-01-01          | 2024-01-01                 | the identity
    date      | -1        | yes  | 0      | 1969-12-31          | 1969-12-31                 | days of dates were never wrong
    date      | -2000000  | no   | 0      | -2000000            | -2000000                   | thousands of years ago
"""

from __future__ import annotations

from lakeprune.formats.lifting.time_unit import TimeUnit
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import Kind


class Day(TimeUnit, frozen=True):
    farthest = 106_000_000

    @property
    def _doubts(self) -> bool:
        return self.may_be_next and self.source.kind is not Kind.DATE

    def _number(self, micros: int) -> int:
        return micros // DAY

    def _first(self, number: int) -> int:
        return number * DAY

    def _first_sql(self, number: str) -> str:
        return number
