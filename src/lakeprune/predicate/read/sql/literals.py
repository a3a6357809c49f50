"""Literals of Spark SQL text: strings with their escapes, numbers with their suffixes, intervals.

In: text as written. Out: exact Python values. The rules are Spark's (escapedStringLiterals = false): a backslash escapes, but
before % and _ it stays for LIKE to see, and a doubled quote inside a string is one quote.
"""

from __future__ import annotations

import re
from decimal import Decimal

from msgspec import Struct

from lakeprune.predicate.read.sql.tokens import LIST_ITEM
from lakeprune.predicate.tree import Literal
from lakeprune.values.floats import to_float32
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND
from lakeprune.values.types import DOUBLE, LONG, DataType, Kind

_ESCAPE = r"(?s)\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)"
_NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_SUFFIX = r"(?s)(.*?)([lLsSyYdDfF]|[bB][dD])?"
_INTEGERS = {"l": LONG, "s": DataType(Kind.SHORT), "y": DataType(Kind.BYTE)}


def unquote(written: str) -> str:
    """The value of a string literal.

    >>> unquote("'it''s'"), unquote(r"r'a\\n'")
    ("it's", 'a\\\\n')
    """
    if written[0] in "rR":
        return written[2:-1]
    quote = written[0]
    body = written[1:-1]
    if quote in body:
        body = re.sub(r"(\\.)|" + quote * 2, lambda m: m[1] or quote, body, flags=re.DOTALL)
    return re.sub(_ESCAPE, _unescape, body) if "\\" in body else body


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 1:
        return _NAMED.get(code, code)
    point = int(code[1:], 16) if code[0] in "uU" else int(code, 8)
    return chr(point) if point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF else "?"


def number(written: str) -> Literal:
    """The value of a number literal, exactly; its type is known only when the text says so.

    >>> number("1.50"), number("1e3").value, number("7L").value
    (Literal(value=Decimal('1.50'), type=None), 1000.0, 7)
    """
    match = re.fullmatch(_SUFFIX, written)
    if match is None:
        raise ValueError("not a number")
    digits, suffix = match[1], (match[2] or "").lower()
    if suffix in _INTEGERS:
        return Literal(int(digits), _INTEGERS[suffix])
    if suffix == "d":
        return Literal(float(digits), DOUBLE)
    if suffix == "f":
        return Literal(to_float32(float(digits)), DataType(Kind.FLOAT))
    if suffix == "bd":
        value = Decimal(digits)
        _, figures, exponent = value.as_tuple()
        scale = max(0, -int(exponent))
        return Literal(value, DataType(Kind.DECIMAL, max(len(figures), scale), scale))
    if "e" in digits.lower():
        return Literal(float(digits), DOUBLE)
    return Literal(Decimal(digits)) if "." in digits else Literal(int(digits))


def negated(literal: Literal) -> Literal:
    """A number literal with a minus in front."""
    value = literal.value
    if isinstance(value, Decimal):
        return Literal(value.copy_negate(), literal.type)
    return Literal(-value, literal.type) if isinstance(value, int | float) else literal


def plain_list(written: str) -> tuple[Literal, ...]:
    """The literals of a list token, which holds only plain strings, plain numbers and NULL."""
    return tuple([_plain(item) for item in LIST_ITEM.findall(written)])


def _plain(item: str) -> Literal:
    first = item[0]
    if first == "'":
        return Literal(item[1:-1], None)
    if first in "nN":
        return Literal(None, None)
    return Literal(Decimal(item) if "." in item else int(item), None)


class Interval(Struct, frozen=True):
    """Months, days and microseconds; adding one to a timestamp applies them in this order."""

    months: int = 0
    days: int = 0
    micros: int = 0

    def plus(self, other: Interval) -> Interval:
        return Interval(self.months + other.months, self.days + other.days, self.micros + other.micros)

    def negated(self) -> Interval:
        return Interval(-self.months, -self.days, -self.micros)

    def normal(self) -> Interval:
        """Whole days taken out of the microseconds: Spark's day-time interval is one number, and 24 hours are a day."""
        total = self.days * DAY + self.micros
        days = abs(total) // DAY * (1 if total >= 0 else -1)
        return Interval(self.months, days, total - days * DAY)


_MICROS = {"hour": HOUR, "minute": MINUTE, "second": SECOND, "millisecond": 1000, "microsecond": 1}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_AMOUNT = r"\s*([+-]?\s*[0-9]{1,18}(?:\.[0-9]{0,6})?)\s*"
_PAIR = r"\s*([+-]?\s*[0-9]{1,18}(?:\.[0-9]{0,6})?)\s*([A-Za-z]+)"
_SPANS = {
    ("year", "month"): (r"\s*([+-]?)([0-9]+)-([0-9]+)\s*", ("year", "month")),
    ("day", "hour"): (r"\s*([+-]?)([0-9]+) ([0-9]+)\s*", ("day", "hour")),
    ("day", "minute"): (r"\s*([+-]?)([0-9]+) ([0-9]+):([0-9]+)\s*", ("day", "hour", "minute")),
    ("day", "second"): (
        r"\s*([+-]?)([0-9]+) ([0-9]+):([0-9]+):([0-9]+(?:\.[0-9]{0,6})?)\s*",
        ("day", "hour", "minute", "second"),
    ),
    ("hour", "minute"): (r"\s*([+-]?)([0-9]+):([0-9]+)\s*", ("hour", "minute")),
    ("hour", "second"): (r"\s*([+-]?)([0-9]+):([0-9]+):([0-9]+(?:\.[0-9]{0,6})?)\s*", ("hour", "minute", "second")),
    ("minute", "second"): (r"\s*([+-]?)([0-9]+):([0-9]+(?:\.[0-9]{0,6})?)\s*", ("minute", "second")),
}


def interval(text: str, unit: str | None, to_unit: str | None = None) -> Interval:
    """`INTERVAL 'text' unit [TO to_unit]`, or the units inside the text; ValueError when it is none.

    >>> interval("3 days 2 hours", None)
    Interval(months=0, days=3, micros=7200000000)
    >>> interval("1-2", "YEAR", "MONTH")
    Interval(months=14, days=0, micros=0)
    """
    if unit is None:
        return _units_in_text(text)
    if to_unit is not None:
        return _span(text, unit.lower(), to_unit.lower())
    match = re.fullmatch(_AMOUNT, text)
    if match is None:
        raise ValueError("not an interval")
    return amount(match[1], unit).normal()


def amount(number_: str, unit: str) -> Interval:
    """So many of one unit; ValueError for a unit Spark does not have or a fraction of anything but a second."""
    name = unit.lower()
    name = name.removesuffix("s")
    value = Decimal(number_.replace(" ", ""))
    if name != "second" and value != int(value):
        raise ValueError("only seconds have a fraction")
    if name in _MONTHS:
        return Interval(months=int(value) * _MONTHS[name])
    if name in ("day", "week"):
        return Interval(days=int(value) * (7 if name == "week" else 1))
    if name not in _MICROS:
        raise ValueError("not a unit of time")
    return Interval(micros=int(value.scaleb(6)) if name == "second" else int(value) * _MICROS[name])


def _units_in_text(text: str) -> Interval:
    text = re.sub(r"^\s*interval\s+", "", text, flags=re.IGNORECASE)
    pair = re.compile(_PAIR)
    total, position = Interval(), 0
    while match := pair.match(text, position):
        total = total.plus(amount(match[1], match[2]))
        position = match.end()
    if not position or text[position:].strip():
        raise ValueError("not an interval")
    return total.normal()


def _span(text: str, unit: str, to_unit: str) -> Interval:
    pattern, units = _SPANS.get((unit, to_unit), ("", ()))
    match = re.fullmatch(pattern, text) if pattern else None
    if match is None:
        raise ValueError("not an interval")
    total = Interval()
    for part, name in zip(match.groups()[1:], units, strict=True):
        total = total.plus(amount(part, name))
    return (total.negated() if match[1] == "-" else total).normal()
