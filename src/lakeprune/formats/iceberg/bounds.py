"""Bounds of Iceberg's metrics as values: decoded from bytes by the column's type and by their length.

In: a column of bytes, None where nothing is recorded. Out: canonical values, None where the bytes are not a value of the type:
a bound that cannot be read is one that is missing. A type that was promoted keeps its old bytes (T57): four bytes under a long
are an int, under a timestamp they are days. No date is promoted to a timestamp with a zone: days under one are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from struct import error, unpack
from typing import Any

from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Kind

DAY = 86_400_000_000  # microseconds
LAST_DAY = (2**63 - 1) // DAY  # whose microseconds are still a long
Changes = Mapping[int, Callable[[Any], Any]]  # by the length of the bytes
_AS_THEY_ARE: Changes = {}
_WIDEST_DECIMAL = 17  # bytes: 38 digits have 16, and some writers add one for the sign


def decoded(values: Sequence[bytes | None], data_type: DataType) -> list[Any]:
    """The values that these bounds are.

    >>> decoded([b"\\x05\\x00\\x00\\x00", bytes(8), b"x", None], DataType(Kind.LONG))
    [5, 0, None, None]
    """
    kind = data_type.kind
    match data_type.family:
        case Family.INTEGER if kind is Kind.TIMESTAMP:
            return _numbers(values, {8: "q"})
        case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
            return _numbers(values, {8: "q", 4: "i"}, {4: _of_days})
        case Family.INTEGER:
            low, high = INTEGER_RANGES[kind]
            sizes = {8: "q", 4: "i"} if kind is Kind.LONG else {4: "i"}
            has_fewer = kind not in (Kind.LONG, Kind.INT, Kind.DATE)
            return _numbers(values, sizes, {4: lambda number: number if low <= number <= high else None} if has_fewer else {})
        case Family.REAL:
            return _numbers(values, {4: "f"} if kind is Kind.FLOAT else {8: "d", 4: "f"})
        case Family.BOOLEAN:
            return [None if value is None or len(value) != 1 else value != b"\0" for value in values]
        case Family.TEXT:
            return [None if value is None else _text(value) for value in values]
        case Family.BYTES:
            return list(values)
        case Family.DECIMAL:
            return [None if value is None else _decimal(value, data_type.scale) for value in values]
        case _:
            return [None] * len(values)


def microseconds(values: Sequence[bytes | None], data_type: DataType) -> list[int | None]:
    """The microseconds of nanoseconds, rounded down also before 1970 (T90); a date that was promoted is still days.

    >>> microseconds([(1999).to_bytes(8, "little"), bytes(4), b"\\xff" * 8, None], DataType(Kind.TIMESTAMP_NTZ))
    [1, 0, -1, None]
    """
    sizes = {8: "q"} if data_type.kind is Kind.TIMESTAMP else {8: "q", 4: "i"}
    return _numbers(values, sizes, {4: _of_days, 8: lambda number: number // 1000})


def _numbers(values: Sequence[bytes | None], formats: Mapping[int, str], changes: Changes = _AS_THEY_ARE) -> list[Any]:
    """The numbers in these bytes, by their length, and what becomes of those of some lengths."""
    present = [value for value in values if value is not None]
    sizes = set(map(len, present))
    if len(sizes) == 1 and len(present) == len(values):  # the usual case, at once
        (size,) = sizes
        if size not in formats:
            return [None] * len(values)
        numbers = unpack(f"<{len(values)}{formats[size]}", b"".join(present))
        return list(map(changes[size], numbers)) if size in changes else list(numbers)
    return [_number(value, formats, changes) for value in values]


def _of_days(days: int) -> int | None:
    return days * DAY if abs(days) <= LAST_DAY else None


def _number(value: bytes | None, formats: Mapping[int, str], changes: Changes) -> Any:
    if value is None or len(value) not in formats:
        return None
    try:
        number = unpack("<" + formats[len(value)], value)[0]
    except error:
        return None
    return changes[len(value)](number) if len(value) in changes else number


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _decimal(value: bytes, scale: int) -> Decimal | None:
    if not 0 < len(value) <= _WIDEST_DECIMAL:
        return None
    unscaled = int.from_bytes(value, "big", signed=True)
    return Decimal((0 if unscaled >= 0 else 1, tuple(map(int, str(abs(unscaled)))), -scale)) if abs(unscaled) < 10**38 else None
