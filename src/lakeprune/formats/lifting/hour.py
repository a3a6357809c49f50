"""Hour: the number of hours since 1970, in UTC, as a 32-bit integer.

Why it is safe. An hour begins with its first microsecond and ends before the next one, also before 1970: rounded down. Hours of
the farthest years do not fit into 32 bits and wrap around to the other side of 1970 (trap T12): numbers that could be such prove
nothing.

CASES (`a to b`: least and greatest of several values; `?` unbounded; next: 0 and below may stand for the hour before, trap T11)

    type      | value                    | next | lo                  | hi                         | because
    timestamp | 473352                   | no   | 2024-01-01T00:00:00 | 2024-01-01T00:59:59.999999 | one hour
    timestamp | 0                        | no   | 1970-01-01T00:00:00 | 1970-01-01T00:59:59.999999 | the first
    timestamp | -1                       | no   | 1969-12-31T23:00:00 | 1969-12-31T23:59:59.999999 | before 1970
    timestamp | 0                        | yes  | 1969-12-31T23:00:00 | 1970-01-01T00:59:59.999999 | may have been stored as 0
    timestamp | 1                        | yes  | 1970-01-01T01:00:00 | 1970-01-01T01:59:59.999999 | never above 0
    timestamp | 0 to 23                  | no   | 1970-01-01T00:00:00 | 1970-01-01T23:59:59.999999 | from the first to the last
    timestamp | NULL                     | no   | ?                   | ?                          | no value
    timestamp | -1740000000              | no   | ?                   | ?                          | may be year 261000
    timestamp | -1740000000 to 473352    | no   | ?                   | ?                          | then the greatest is none
    timestamp | 473352 to 1740000000     | no   | ?                   | ?                          | the same on the other side
    date      | 5                        | no   | ?                   | ?                          | dates have no hours
"""

from __future__ import annotations

from typing import Any

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.lifting.time_unit import TimeUnit
from lakeprune.formats.lifting.transform import UNBOUNDED, Range, SqlRange, unbounded
from lakeprune.values.time.calendar import HOUR
from lakeprune.values.types import Kind


class Hour(TimeUnit, frozen=True):
    farthest = 1_700_000_000
    counted_in = HOUR

    def range(self, lower: Any, upper: Any) -> Range:
        if self.source.kind is Kind.DATE or any(end is not None and abs(end) > self.farthest for end in (lower, upper)):
            return UNBOUNDED
        return TimeUnit.range(self, lower, upper)

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:
        if self.source.kind is Kind.DATE:
            return unbounded(self.source)
        found = TimeUnit.sql(self, dialect, lower, upper)
        fits = f"coalesce(abs({lower}) <= {self.farthest}, TRUE) AND coalesce(abs({upper}) <= {self.farthest}, TRUE)"
        return SqlRange(f"CASE WHEN {fits} THEN {found.lo} END", f"CASE WHEN {fits} THEN {found.hi} END")

    def _number(self, micros: int) -> int:
        return (micros // HOUR + 2**31) % 2**32 - 2**31

    def _first(self, number: int) -> int:
        return number * HOUR

    def _first_sql(self, number: str) -> str:
        return number
