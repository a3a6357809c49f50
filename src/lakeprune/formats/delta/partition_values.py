"""Partition values as Python values. `partition_sql.py` states the same rules in SQL; a test holds them together.

In: the recorded text of a value and the column's type. Out: every value the text can stand for, None when that is not known.

    text          type             values
    null          any              NULL
    ""            text, binary     NULL and ''      (the protocol and Spark disagree, T44)
    ""            any other        NULL
    007, 7.0      integers         unknown          (Spark reads 7, others refuse, T46)
    2024-1-5      date             unknown
    no offset     timestamp        the profile's zone when given, else unknown (T9)
"""

from __future__ import annotations

import re
from decimal import Decimal

from msgspec import Struct

from lakeprune.formats.delta.partition_sql import REAL_TEXT, ZONE_FIRST, ZONE_LAST, fixed_offset
from lakeprune.predicate.tree import Profile
from lakeprune.values.floats import to_float32
from lakeprune.values.time.calendar import DAY, SECOND, days_of_iso
from lakeprune.values.time.zones import instant_of
from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Kind, Scalar

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_STAMP = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:\.(?P<fraction>\d{1,6}))?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<hours>\d{2}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}))?)?",
    re.ASCII,
)


class _Stamp(Struct, frozen=True):
    micros: int  # as the clock shows
    offset: int | None  # microseconds, None when not written


def values_of(text: str | None, data_type: DataType, profile: Profile) -> tuple[Scalar, ...] | None:
    """Every value the text can stand for, None when that is not known.

    >>> from lakeprune.values.types import INT
    >>> values_of("7", INT, Profile(0)), values_of("", INT, Profile(0)), values_of("007", INT, Profile(0))
    ((7,), (None,), None)
    """
    if text is None:
        return (None,)
    is_text = data_type.kind in (Kind.STRING, Kind.BINARY)
    if text == "":
        return (None, "" if data_type.kind is Kind.STRING else b"") if is_text else (None,)
    if data_type.kind is Kind.TIMESTAMP:
        return _instants(text, profile)
    value = _value(text, data_type)
    return None if value is None else (value,)


def _value(text: str, data_type: DataType) -> Scalar:
    kind = data_type.kind
    match data_type.family:
        case Family.BOOLEAN:
            return {"true": True, "false": False}.get(text)
        case Family.TEXT:
            return text
        case Family.BYTES:
            return text.encode() if text.isascii() and "\\" not in text and "\0" not in text else None
        case Family.REAL:
            return _real(text, kind)
        case Family.DECIMAL:
            return _decimal(text, data_type)
        case Family.INTEGER if kind is Kind.DATE:
            return days_of_iso(text)
        case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
            return None if (stamp := _stamp(text)) is None or stamp.offset is not None else stamp.micros
        case Family.INTEGER:
            low, high = INTEGER_RANGES[kind]
            return value if _INTEGER.fullmatch(text) and text != "-0" and low <= (value := int(text)) <= high else None
        case _:
            return None


def _real(text: str, kind: Kind) -> float | None:
    if text in ("NaN", "Infinity", "-Infinity"):
        return float(text)
    if not re.fullmatch(REAL_TEXT[1:-1], text, re.ASCII):
        return None
    value = to_float32(float(text)) if kind is Kind.FLOAT else float(text)
    return None if value in (float("inf"), float("-inf")) else value


def _decimal(text: str, data_type: DataType) -> Decimal | None:
    match = re.fullmatch(r"(-?)0*([0-9]*)(?:\.([0-9]*))?", text, re.ASCII)
    if match is None or not any(letter.isdigit() for letter in text):
        return None
    whole, fraction = match[2], match[3] or ""
    fits = len(whole) <= data_type.precision - data_type.scale and len(fraction) <= data_type.scale
    return Decimal(f"{match[1]}{whole or '0'}.{fraction or '0'}") if fits else None


def _stamp(text: str) -> _Stamp | None:
    match = _STAMP.fullmatch(text)
    days = days_of_iso(match["date"]) if match else None
    if match is None or days is None:
        return None
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((match["fraction"] or "").ljust(6, "0"))
    micros = days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + fraction
    if match["sign"] is None:
        return _Stamp(micros, None if match["zone"] is None else 0)
    hours, minutes, seconds = int(match["hours"]), int(match["minutes"]), int(match["seconds"] or 0)
    if hours > 18 or minutes > 59 or seconds > 59:
        return None
    offset = ((hours * 60 + minutes) * 60 + seconds) * SECOND
    return _Stamp(micros, -offset if match["sign"] == "-" else offset)


def _instants(text: str, profile: Profile) -> tuple[int, ...] | None:
    stamp = _stamp(text)
    if stamp is None:
        return None
    if stamp.offset is not None:
        return (stamp.micros - stamp.offset,)
    if not profile.zone_is_given:
        return None
    fixed = fixed_offset(profile.zone)
    if fixed is not None:
        return (stamp.micros - fixed,)
    if not ZONE_FIRST <= text <= ZONE_LAST:
        return None
    # Near a change of the clocks either offset may be meant; a day before and a day after tell both.
    return tuple(sorted({instant_of(stamp.micros + days * DAY, profile.zone) - days * DAY for days in (-1, 0, 1)}))
