"""Text read strictly as a value of a type, as Spark's casts read it, but never rounded.

In: text, a type, the session zone. Out: the canonical value (see types.py), or ValueError when the text is not of that type.
A timestamp with more than six fraction digits is an exact Decimal of microseconds, so that no literal is moved across data.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation

from lakeprune.predicate.types import INTEGER_RANGES, DataType, Kind, Scalar
from lakeprune.predicate.zones import DAY, instant_of, local_of

_EXACT = Context(prec=2000)
MAX_EXPONENT = 400  # of a number in text: beyond it a value is refused instead of being spelt out
_SPACES = "".join(map(chr, range(33)))  # what Spark trims: every character up to the space
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FLOAT_WORDS = re.compile(r"([+-]?)(inf(?:inity)?|nan)", re.IGNORECASE)
_DATE = re.compile(r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?(.*)", re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
_TRUE = frozenset({"true", "t", "yes", "y", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "0"})


def parse_as(text: str, type_: DataType, zone: str) -> Scalar:
    """The value of `type_` that `text` spells.

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
    if type_.kind is not Kind.DECIMAL and _INTEGER.fullmatch(trimmed) and len(trimmed) <= 1000:
        return int(trimmed)
    if type_.kind is not Kind.DECIMAL or not _NUMBER.fullmatch(trimmed):
        raise ValueError("not a number")
    try:
        value = _EXACT.create_decimal(trimmed)
    except InvalidOperation as error:
        raise ValueError("not a number") from error
    if value and not -MAX_EXPONENT <= value.adjusted() <= MAX_EXPONENT:
        raise ValueError("the exponent is too large")
    return value


def _float(text: str) -> float:
    trimmed = text.strip(_SPACES)
    if word := _FLOAT_WORDS.fullmatch(trimmed):
        if word[2].lower() == "nan" and word[1]:
            raise ValueError("not a number")
        return float(trimmed)
    if trimmed[-1:] in ("d", "D", "f", "F"):  # Java's own reader takes its literal suffixes
        trimmed = trimmed[:-1]
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError("not a number")
    return float(trimmed)


def _date(text: str) -> int:
    trimmed = text.strip(_SPACES)
    match = _DATE.match(trimmed)
    if match is None or (match.end() < len(trimmed) and not (match[4] and trimmed[match.end()] in " T")):
        raise ValueError("not a date")
    return _days(match, Kind.DATE)


def _days(match: re.Match[str], kind: Kind) -> int:
    year = int(match[1] + match[2])
    if len(match[2]) > 6 and kind is not Kind.DATE:
        raise ValueError("not a timestamp")
    month, day = int(match[3] or 1), int(match[4] or 1)
    if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        raise ValueError("no such day")
    days = days_from_civil(year, month, day)
    if not INTEGER_RANGES[Kind.DATE][0] <= days <= INTEGER_RANGES[Kind.DATE][1]:
        raise ValueError("no such day")
    return days


def _timestamp(text: str, kind: Kind, zone: str) -> int | Decimal:
    trimmed = text.strip(_SPACES)
    match = _DATE.match(trimmed)
    if match is None:
        raise ValueError("not a timestamp")
    local = _days(match, kind) * DAY
    rest = trimmed[match.end() :]
    finer = Decimal(0)
    if rest:
        if not match[4] or rest[0] not in " T":
            raise ValueError("not a timestamp")
        micros, finer, rest = _time_of_day(rest[1:]) if len(rest) > 1 else (0, finer, "")
        local += micros
    given = _zone_of(rest.strip(_SPACES))
    # Spark ignores a zone in text that becomes a TIMESTAMP_NTZ: the wall clock is the value.
    whole = local if kind is Kind.TIMESTAMP_NTZ else instant_of(local, given or zone)
    return _EXACT.add(Decimal(whole), finer) if finer else whole


def _time_of_day(text: str) -> tuple[int, Decimal, str]:
    """Microseconds, what is left of the fraction below one, and the zone that follows."""
    match = _TIME.fullmatch(text)
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
    if text != "Z" and not _OFFSET.fullmatch(text) and not re.fullmatch(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*", text):
        raise ValueError("not a time zone")
    from lakeprune.errors import UsageError

    try:
        instant_of(0, text)
    except UsageError as error:
        raise ValueError("not a time zone") from error
    return text


def format_value(value: Scalar, type_: DataType | None, zone: str = "UTC") -> str:
    """SQL text of a canonical value; dates and timestamps in ISO form, timestamps with their offset unless it is UTC.

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
    """A string literal that Spark reads as exactly `text`."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return "'" + escaped.replace("\t", "\\t").replace("\0", "\\0") + "'"


def _float_text(value: float) -> str:
    if value != value:
        return "CAST('NaN' AS DOUBLE)"
    if value in (float("inf"), float("-inf")):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
    text = repr(value)
    return text if "e" in text else f"{text}D"


def date_text(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"


def _timestamp_text(value: int | Decimal, kind: Kind, zone: str) -> str:
    whole = int(value // 1) if isinstance(value, int) else int(value.to_integral_value(rounding="ROUND_FLOOR"))
    local = whole if kind is Kind.TIMESTAMP_NTZ else local_of(whole, zone)
    days, micros = divmod(local, DAY)
    seconds, fraction = divmod(micros, 1_000_000)
    text = date_text(days)
    finer = "" if isinstance(value, int) else str(_EXACT.subtract(value, Decimal(whole)))[2:]
    if micros or finer:
        text += f" {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if fraction or finer:
        text += f".{fraction:06d}{finer}".rstrip("0")
    return text


def days_in_month(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar, for any year.

    >>> days_from_civil(2024, 1, 5)
    19727
    """
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day count.

    >>> civil_from_days(19727)
    (2024, 1, 5)
    """
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1
