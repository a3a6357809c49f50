"""Partition values of the type that a column had before it was promoted (T96), as the header of their manifest tells.

In: the values of a field whose column is wider than an int now, and the Avro type they were written as. Out: values of the
type that the column has now, or `Earlier` where they have none. A header is written with its values and cannot be lost; the
schemas of the metadata can.

    written as | column        | field      | what it is
    int        | timestamp     | identity   | days: their midnight
    int        | timestamp_ns  | identity   | the same in nanoseconds
    int        | timestamptz   | identity   | not known: midnight where?
    int        | long          | truncate   | itself; not known at the greatest int, to which small ones wrap around
    long       | any of them   | any        | itself
    else       | any of them   | any        | not known
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from lakeprune.formats.iceberg.bounds import DAY

_TRUNCATE = re.compile(r"truncate\[0*([1-9]\d{0,9})\]", re.ASCII)
_UNITS = {"timestamp": DAY, "timestamp_ns": DAY * 1000}  # of a day
_LAST_INT, _LAST_LONG = 2**31 - 1, 2**63 - 1


class Earlier(Struct, frozen=True):
    """A value as it was written, of which nothing is known in the type of now. It equals itself: deletes find their partition."""

    value: Any


class Widened(Struct, frozen=True):
    """A partition field whose values are longs now, and were ints if its column had another type before."""

    type: str  # of the column now
    width: int = 1  # of truncate

    def values(self, recorded: list[Any], written: str | None) -> list[Any]:
        """The values of a manifest, by the Avro type that its header declares; None: not known."""
        if written == "long":
            return recorded
        change = self.of_int if written == "int" else Earlier
        return [None if value is None else change(value) for value in recorded]

    def of_int(self, number: int) -> int | Earlier:
        """
        >>> Widened("timestamp").of_int(1), Widened("long", 10).of_int(2147483640)
        (86400000000, Earlier(value=2147483640))
        """
        if self.type == "long":
            return number if number <= _LAST_INT - (self.width - 1) else Earlier(number)
        unit = _UNITS.get(self.type)
        return Earlier(number) if unit is None or abs(number * unit) > _LAST_LONG else number * unit


def widened(type_: str | None, transform: str) -> Widened | None:
    """What is to be looked at in the values of a field, None where ints and longs are the same."""
    name = transform.lower()
    if type_ is None:
        return None
    if name == "identity" and type_.startswith("timestamp"):
        return Widened(type_)
    match = _TRUNCATE.fullmatch(name) if type_ == "long" else None
    return None if match is None else Widened(type_, int(match[1]))
