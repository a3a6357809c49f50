"""The clock functions of Spark SQL, and the one moment they stand for: every place that knows a clock takes it from here.

In: the profile a predicate is read in, or its text. Out: the moment as a literal, or the text with the moment in place of every
call that asks the time: it then means on every engine, at any later time, what was planned. Never looks at a real clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from lakeprune.predicate.read.sql.tokens import QUOTED
from lakeprune.predicate.tree import Literal, Profile
from lakeprune.values.time.calendar import DAY, SECOND
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import DATE, LONG, TIMESTAMP, TIMESTAMP_NTZ, DataType


class ClockFunction(Struct, frozen=True):
    """`names` are called without arguments, `bare` ones also without parentheses; `pinned` is the moment in SQL."""

    names: tuple[str, ...]
    bare: tuple[str, ...]
    type: DataType
    value: Callable[[Profile], int]
    pinned: str


_TODAY = ClockFunction(
    ("current_date", "curdate"),
    ("current_date",),
    DATE,
    lambda profile: local_of(profile.now, profile.zone) // DAY,
    "date_from_unix_date({value})",
)
_NOW = ClockFunction(
    ("current_timestamp", "now"), ("current_timestamp",), TIMESTAMP, lambda profile: profile.now, "timestamp_micros({now})"
)
_LOCAL = ClockFunction(
    ("localtimestamp",),
    ("localtimestamp",),
    TIMESTAMP_NTZ,
    lambda profile: local_of(profile.now, profile.zone),
    "CAST(timestamp_micros({now}) AS TIMESTAMP_NTZ)",
)
_SECONDS = ClockFunction(("unix_timestamp",), (), LONG, lambda profile: profile.now // SECOND, "{value}")
CLOCKS = (_TODAY, _NOW, _LOCAL, _SECONDS)
BY_NAME = {name: clock for clock in CLOCKS for name in clock.names}
UNPINNED = frozenset({"current_time"})  # a clock whose type has no literal
# Clocks in the plans of Catalyst, those that no SQL name of ours asks included.
CATALYST_CLOCKS = frozenset({"CurrentTimestamp", "Now", "CurrentDate", "LocalTimestamp", "CurrentTime", "CurrentBatchTimestamp"})


class Clock:
    """The moment a predicate is read at. It remembers whether it was asked."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.zone = profile.zone
        self.ansi = profile.ansi
        self.was_asked = False

    def literal(self, name: str) -> Literal:
        """What the clock function of that name gives.

        >>> Clock(Profile(now=86_400_000_000)).literal("current_date").value
        1
        """
        self.was_asked = True
        clock = BY_NAME[name]
        return Literal(clock.value(self._profile), clock.type)


def pinned(where: str, profile: Profile) -> str:
    """The predicate with the moment it was planned for in place of the clock, which would go on.

    >>> pinned("d = current_date() AND s = 'now()'", Profile(now=0))
    "d = date_from_unix_date(0) AND s = 'now()'"
    """
    for clock in CLOCKS:
        forms = [rf"(?:{'|'.join(clock.names)})\s*\(\s*\)", *clock.bare]
        meaning = clock.pinned.format(value=clock.value(profile), now=profile.now)
        asked = re.compile(rf"({QUOTED})|\b(?:{'|'.join(forms)})(?![\w(])", re.IGNORECASE | re.DOTALL)
        where = asked.sub(lambda found, meaning=meaning: found[1] or meaning, where)  # type: ignore[misc]
    return where
