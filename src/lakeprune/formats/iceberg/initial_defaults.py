"""What a column is in the rows of a data file that lacks it: its initial default, or NULL.

In: the schema as the metadata declares it. Out: `Absent` per column. It holds only where the file itself shows that it lacks the
column. The metadata never does: a file that was imported without field ids may have had a column long before the table did, and
the name mapping, or its position, leads to it as soon as the table has it too (T89). Nothing is known of

    a column that some spec has by identity     the partition value comes before the default (T58)
    a column without default that is required   readers differ: some fail
    a default below format version 3            readers differ
    a column in a struct that has a default     its own default need not be the one that counts
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import Struct

from lakeprune.formats.iceberg.schema import data_type
from lakeprune.formats.snapshot import Absent
from lakeprune.predicate.tree import Column
from lakeprune.values.floats import to_double, to_float32
from lakeprune.values.literals import parse_as
from lakeprune.values.types import INTEGER_RANGES, INTEGRAL_KINDS, DataType, Family, Kind

_KEY = "initial-default"
_OLDEST_VERSION = 3
_CLOCK = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?"
_FORMS = {
    Kind.DATE: re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    Kind.TIMESTAMP_NTZ: re.compile(_CLOCK, re.ASCII),
    Kind.TIMESTAMP: re.compile(_CLOCK + r"(\+00:00|Z)", re.ASCII),
}
_HEX = re.compile(r"([0-9a-fA-F]{2})*", re.ASCII)
_UNKNOWN = object()


class InitialDefaults(Struct, frozen=True):
    """`partitioned` are the columns that a spec with a live file has by identity."""

    version: int
    declared: Mapping[str, Any]
    partitioned: frozenset[int]

    def absent(self, column: Column) -> Absent | None:
        """What the column is in a file that lacks it, None when that is not certain."""
        wanted = int(column.physical[-1])
        found = next((path for path in _paths(self.declared) if int(path[-1]["id"]) == wanted), None)
        if found is None or wanted in self.partitioned or any(each.get(_KEY) is not None for each in found[:-1]):
            return None
        field, is_nested = found[-1], len(found) > 1
        recorded = field.get(_KEY)
        if recorded is None:
            return None if field.get("required") else Absent()
        if self.version < _OLDEST_VERSION:
            return None
        value = _value(recorded, data_type(field["type"]))
        if value is _UNKNOWN:
            return None
        if isinstance(value, float):
            # A column that was a float when its default was set may have the default of a float.
            ends = sorted((value, to_float32(value)))
            return Absent(ends[0] + 0.0, ends[1] + 0.0, has_nulls=is_nested)
        return Absent(value, value, has_nulls=is_nested)


def _paths(struct: Mapping[str, Any], above: tuple[Mapping[str, Any], ...] = ()) -> Iterator[tuple[Mapping[str, Any], ...]]:
    """All fields, each with the structs it lies in."""
    for field in struct.get("fields", ()):
        yield (*above, field)
        if isinstance(field["type"], Mapping) and field["type"].get("type") == "struct":
            yield from _paths(field["type"], (*above, field))


def _value(recorded: Any, kind: DataType) -> Any:
    """The value of a default, _UNKNOWN when it is not written as Iceberg writes values of the type.

    >>> _value("2024-01-05", DataType(Kind.DATE)), _value("7.50", DataType(Kind.DECIMAL, 9, 2))
    (19727, Decimal('7.50'))
    """
    match kind.family:
        case Family.BOOLEAN if isinstance(recorded, bool):
            return recorded
        case Family.REAL if isinstance(recorded, int | float) and not isinstance(recorded, bool):
            return _float(recorded, kind)
        case Family.INTEGER if kind.kind in INTEGRAL_KINDS and type(recorded) is int:
            low, high = INTEGER_RANGES[kind.kind]
            return recorded if low <= recorded <= high else _UNKNOWN
        case Family.TEXT if isinstance(recorded, str):
            return recorded
        case Family.BYTES if isinstance(recorded, str) and _HEX.fullmatch(recorded):
            return bytes.fromhex(recorded)
        case Family.DECIMAL if isinstance(recorded, str):
            return _decimal(recorded, kind)
        case Family.INTEGER if isinstance(recorded, str):
            return _time(recorded, kind)
        case _:
            return _UNKNOWN


def _float(recorded: float, kind: DataType) -> Any:
    value = to_float32(recorded) if kind.kind is Kind.FLOAT else to_double(recorded)
    return value if abs(to_float32(value)) < float("inf") else _UNKNOWN


def _decimal(recorded: str, kind: DataType) -> Any:
    try:
        value = Decimal(recorded)
    except InvalidOperation:
        return _UNKNOWN
    _, digits, exponent = value.as_tuple()
    return value if exponent == -kind.scale and len(digits) <= kind.precision else _UNKNOWN


def _time(recorded: str, kind: DataType) -> Any:
    form = _FORMS.get(kind.kind)
    if form is None or form.fullmatch(recorded) is None:
        return _UNKNOWN
    try:
        return parse_as(recorded, kind, "UTC")
    except ValueError:
        return _UNKNOWN
