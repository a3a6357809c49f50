"""Text read strictly as a value of a type, as Spark's casts read it, but never rounded.

In: text, a type, the session zone. Out: the canonical value (see types.py), or ValueError when the text is not of that type.
A timestamp with more than six fraction digits is an exact Decimal of microseconds, so that no literal is moved across data.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation

from lakeprune.values.time.calendar import DAY, civil_of, days_of
from lakeprune.values.time.zones import OFFSET, instant_of, local_of
from lakeprune.values.types import INTEGER_RANGES, TIME_KINDS, DataType, Kind, Scalar

_EXACT = Context(prec=2000)
MAX_EXPONENT = 400  # of a number in text: beyond it a value is refused instead of being expanded
_SPACES = "".join(map(chr, range(33)))  # what Spark trims: every character up to the space
_INTEGER = r"[+-]?[0-9]+"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_FLOAT_WORDS = r"(?i)([+-]?)(inf(?:inity)?|nan)"
_DATE = r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?"
_TIME = r"(?s)([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?(.*)"
_CLOCK_WORD = r"(?i)(epoch|now|today|tomorrow|yesterday)(\s+\S+)?"
_CLOCK_TIME = r"(?i)T?[0-9]{1,2}:[0-9]{1,2}(:.*)?"
_TRUE = frozenset({"true", "t", "yes", "y", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "0"})


def parse_as(text: str, type_: DataType, zone: str) -> Scalar:
    """The value of `type_` that `text` stands for.

    >>> parse_as("2024-01-05", DataType(Kind.DATE), "UTC")
    19727
    >>> parse_as("1.005", DataType(Kind.DECIMAL, 10, 2), "UTC")
    Decimal('1.005')
    """
    match type_.kind:
        case Kind.STRING:
            return text
        case Kind.BINARY:
            return text.encode()
        case Kind.BOOLEAN:
            return _boolean(text)
        case Kind.BYTE | Kind.SHORT | Kind.INT | Kind.LONG | Kind.DECIMAL:
            return _exact_number(text, type_)
        case Kind.FLOAT | Kind.DOUBLE:
            return _float(text)
        case Kind.DATE:
            return _date(text)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return _timestamp(text, type_.kind, zone)
        case _:
            raise ValueError(f"no text is a {type_}")


def _boolean(text: str) -> bool:
    word = text.strip(_SPACES).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("not a boolean")


def _exact_number(text: str, type_: DataType) -> int | Decimal:
    trimmed = text.strip(_SPACES)
    if type_.kind is not Kind.DECIMAL and re.fullmatch(_INTEGER, trimmed) and len(trimmed) <= 1000:
        return int(trimmed)
    if type_.kind is not Kind.DECIMAL or not re.fullmatch(_NUMBER, trimmed) or len(trimmed) > 1000:
        raise ValueError("not a number")
    try:
        value = Decimal(trimmed)  # exact, unlike arithmetic in the ambient context
    except InvalidOperation as error:
        raise ValueError("not a number") from error
    if value and not -MAX_EXPONENT <= value.adjusted() <= MAX_EXPONENT:
        raise ValueError("the exponent is too large")
    return value


def _float(text: str) -> float:
    trimmed = text.strip(_SPACES)
    if word := re.fullmatch(_FLOAT_WORDS, trimmed):
        if word[2].lower() == "nan" and word[1]:
            raise ValueError("not a number")
        return float(trimmed)
    if trimmed[-1:] in ("d", "D", "f", "F"):  # Java's own reader takes its literal suffixes
        trimmed = trimmed[:-1]
    if not re.fullmatch(_NUMBER, trimmed):
        raise ValueError("not a number")
    return float(trimmed)


def _date(text: str) -> int:
    trimmed = text.strip(_SPACES)
    match = re.match(_DATE, trimmed)
    if match is None or (match.end() < len(trimmed) and not (match[4] and trimmed[match.end()] in " T")):
        raise ValueError("not a date")
    return _days(match, Kind.DATE)


def _days(match: re.Match[str], kind: Kind) -> int:
    year = int(match[1] + match[2])
    if len(match[2]) > 6 and kind is not Kind.DATE:
        raise ValueError("not a timestamp")
    month, day = int(match[3] or 1), int(match[4] or 1)
    days = days_of(year, month, day)
    if civil_of(days) != (year, month, day):
        raise ValueError("no such day")
    if not INTEGER_RANGES[Kind.DATE][0] <= days <= INTEGER_RANGES[Kind.DATE][1]:
        raise ValueError("no such day")
    return days


def _timestamp(text: str, kind: Kind, zone: str) -> int | Decimal:
    trimmed = text.strip(_SPACES)
    match = re.match(_DATE, trimmed)
    if match is None:
        raise ValueError("not a timestamp")
    local = _days(match, kind) * DAY
    rest = trimmed[match.end() :]
    finer = Decimal(0)
    if rest:
        if not match[4] or rest[0] not in " T":
            raise ValueError("not a timestamp")
        micros, finer, rest = _time_of_day(rest[1:])
        local += micros
    given = _zone_of(rest.strip(_SPACES))
    # Spark ignores a zone in text that becomes a TIMESTAMP_NTZ: the wall clock is the value.
    whole = local if kind is Kind.TIMESTAMP_NTZ else instant_of(local, given or zone)
    return _EXACT.add(Decimal(whole), finer) if finer else whole


def _time_of_day(text: str) -> tuple[int, Decimal, str]:
    """Microseconds, what is left of the fraction below one, and the zone that follows."""
    match = re.fullmatch(_TIME, text)
    if match is None:
        raise ValueError("not a time")
    hour, minute, second = (int(part or 0) for part in match.group(1, 2, 3))
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("no such time")
    fraction = match[4] or ""
    if len(fraction) > 100:
        raise ValueError("not a time")
    micros = (hour * 3600 + minute * 60 + second) * 1_000_000 + int(fraction[:6].ljust(6, "0") or 0)
    finer = Decimal(f"0.{fraction[6:]}") if fraction[6:].strip("0") else Decimal(0)
    return micros, finer, match[5]


def _zone_of(text: str) -> str | None:
    if not text:
        return None
    text = re.sub(r"([+-][0-9]{1,2}:)([0-9])$", r"\g<1>0\2", text)  # Spark reads +1:5 as +01:05
    if text != "Z" and not re.fullmatch(OFFSET, text) and not re.fullmatch(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*", text):
        raise ValueError("not a time zone")
    from lakeprune.errors import UsageError

    try:
        instant_of(0, text)
    except UsageError as error:
        raise ValueError("not a time zone") from error
    return text


def depends_on_clock(text: str, type_: DataType) -> bool:
    """Whether Spark reads the text as a moment relative to the clock: 'today', or a time without a date.

    >>> depends_on_clock("today", DataType(Kind.DATE)), depends_on_clock("2024", DataType(Kind.DATE))
    (True, False)
    """
    trimmed = text.strip(_SPACES)
    if type_.kind is Kind.TIMESTAMP and re.fullmatch(_CLOCK_TIME, trimmed):
        return True
    return type_.kind in TIME_KINDS and re.fullmatch(_CLOCK_WORD, trimmed) is not None


def format_value(value: Scalar, type_: DataType | None, zone: str = "UTC") -> str:
    """SQL text of a canonical value; dates and timestamps in ISO form, timestamps as the zone's clocks show them.

    An hour that clocks show twice names its first pass; the second is written in UTC.

    >>> format_value(19727, DataType(Kind.DATE))
    "'2024-01-05'"
    """
    kind = None if type_ is None else type_.kind
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, str):
        return quote(value)
    if kind is Kind.DATE:
        return f"'{date_text(int(value))}'"
    if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) and isinstance(value, int | Decimal):
        return f"'{_timestamp_text(value, kind, zone)}'"
    if isinstance(value, float):
        return _float_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def quote(text: str) -> str:
    """A string literal that Spark reads as exactly `text`. (A NUL as \\0 would take the digits after it for its code.)"""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return "'" + escaped.replace("\t", "\\t").replace("\0", "\\u0000") + "'"


def _float_text(value: float) -> str:
    if value != value:
        return "CAST('NaN' AS DOUBLE)"
    if value in (float("inf"), float("-inf")):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
    text = repr(value)
    return text if "e" in text else f"{text}D"


def date_text(days: int) -> str:
    year, month, day = civil_of(days)
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"


def _timestamp_text(value: int | Decimal, kind: Kind, zone: str) -> str:
    whole = int(value // 1) if isinstance(value, int) else int(value.to_integral_value(rounding="ROUND_FLOOR"))
    finer = "" if isinstance(value, int) else str(_EXACT.subtract(value, Decimal(whole)))[2:]
    local = whole if kind is Kind.TIMESTAMP_NTZ else local_of(whole, zone)
    if kind is Kind.TIMESTAMP and instant_of(local, zone) != whole:
        return f"{date_text(whole // DAY)} {_time_text(whole % DAY, finer)}Z"
    days, micros = divmod(local, DAY)
    return f"{date_text(days)} {_time_text(micros, finer)}" if micros or finer else date_text(days)


def _time_text(micros: int, finer: str) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + f".{fraction:06d}{finer}".rstrip("0") if fraction or finer else text
