"""Values worth testing, per type: canonical values as lakeprune defines them (dates are days, timestamps microseconds).

A pool is a sorted handful of values around a random centre plus the type's extremes, so that files drawn from windows of it have
touching and overlapping ranges and literals drawn from it hit their boundaries.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from decimal import Decimal
from random import Random
from typing import Any

DAY = 86_400_000_000
YEAR_1, YEAR_9999 = -719162, 2932896  # 0001-01-01 and 9999-12-31 in days

INTEGERS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_DRAWN = ((5, 2), (10, 2), (18, 0), (20, 0), (38, 0), (38, 10))
_BY_HAND = ((18, 2), (19, 0), (28, 0), (38, 2), (38, 37), (38, 38))
DECIMALS = {f"decimal({precision},{scale})": (precision, scale) for precision, scale in (*_DRAWN, *_BY_HAND)}
FLOATS = ("float", "double")
TIMESTAMPS = ("timestamp", "timestamp_ntz")
TYPES = ("boolean", *INTEGERS, *FLOATS, *list(DECIMALS)[: len(_DRAWN)], "string", "binary", "date", *TIMESTAMPS)

NAN = math.nan
_A32 = "a" * 32
_TEXTS = [
    "", " ", "a", "A", "ab", "abc", "b", "ba", "z", "zz", "1", "10", "9", "a'b", 'a"b', "a\\b", "a%b", "a_b", "a\x00b",
    "a\tb", "a\nb", "é", "ß", "中文", "\ud7ff", "\ue000", "\ufffd", "\uffff", "\U0001f33c", "\U0010ffff", "a" * 31, _A32,
    "a" * 33, _A32 + "\U0001f33c", "a" * 31 + "\U0001f33c", "a" * 31 + "\U0001f33cz", _A32 + "\uffff", _A32 + "\ufffd",
    _A32 + "\x7f", "a" * 31 + "?", "a" * 31 + "?z", "a" * 30 + "\U0001f33c" * 2, "\U0010ffff" * 33, _A32 + "\U0010ffff",
    _A32 + "zzz", "é" * 31, "é" * 32, "é" * 33, "b" * 40,
]  # fmt: skip
_INSTANTS = [
    0, -1, 1, 499, 500, 999, 1000, 1500, -499, -500, -999, -1000, -1500, 1_000_000, -1_000_000, 1705320000000500,
    1705320000000000, 1705320000000999, 1705320000123456, 1704067199999999, 1704067200000000, 1710054000000000,
    1730613600000000, 1730617200000000, 253402300799999999, -62135596800000000, -3786825539000000,
]  # fmt: skip


def pool(type_: str, rng: Random) -> list[Any]:
    """Sorted distinct values of the type, none of them NULL or NaN."""
    found = sorted(set(_pool(type_, rng)))
    if type_ in FLOATS and 0.0 in found:
        found.insert(found.index(0.0), -0.0)
    return found


def neighbours(value: Any, type_: str) -> list[Any]:
    """The value and those just beside it, as far as the type has them."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or isinstance(value, bool):
        return [value]
    if type_ in INTEGERS or type_ in TIMESTAMPS or type_ == "date":
        return [value, value - 1, value + 1]
    if type_ in DECIMALS:
        step = Decimal(1).scaleb(-DECIMALS[type_][1])
        return [value, _exact(value, step), _exact(value, -step), _exact(value, step / 2), _exact(value, -step / 10)]
    if type_ in FLOATS:
        return [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf), -value]
    if type_ == "string":
        return [value, value + "\x00", value[:-1], value + "z", value[:32], value + "\U0010ffff"]
    return [value, value + b"\x00", value[:-1]]


def in_zone(values: Iterable[Any], type_: str, zone: str) -> tuple[Any, ...]:
    """Outside UTC only those in years on whose offsets all time zone databases agree."""
    if zone == "UTC" or type_ not in ("date", *TIMESTAMPS):
        return tuple(values)
    unit = DAY if type_ == "date" else 1
    return tuple(v for v in values if 94694400000000 <= v * unit <= 2051222400000000) or (1705320000000500 // unit,)


def to_float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def float32_text(value: float) -> str:
    """The shortest decimal that reads back as this 32-bit float: what Java's Float.toString gives, up to notation."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_float32(float(text)) == value:
            return text
    return repr(value)


def _pool(type_: str, rng: Random) -> list[Any]:
    if type_ == "boolean":
        return [False, True]
    if type_ in INTEGERS:
        top = 2 ** INTEGERS[type_]
        centre = rng.choice([0, 5, 40, -7, 100 if type_ == "byte" else 1000, top - 10, -top + 10])
        near = [centre + rng.randint(-8, 8) for _ in range(8)]
        return [v for v in [*near, 0, 1, -1, -top, top - 1] if -top <= v < top]
    if type_ in FLOATS:
        plain = [
            0.0,
            1.0,
            -1.0,
            2.5,
            0.1,
            -0.1,
            100.0,
            1e10,
            -1e10,
            9007199254740993.0,
            1e-300,
            math.inf,
            -math.inf,
            3.4e38,
            16777217.0,
        ]
        chosen = [*rng.sample(plain, 9), *(rng.randint(-20, 20) / rng.choice([1, 2, 3, 10]) for _ in range(5))]
        return [to_float32(v) for v in chosen] if type_ == "float" else chosen
    if type_ in DECIMALS:
        return _decimals(*DECIMALS[type_], rng)
    if type_ == "string":
        return rng.sample(_TEXTS, rng.randint(6, 16))
    if type_ == "binary":
        return [b"", b"\x00", b"a", b"ab", b"\x7f", b"\x80", b"\xff", b"\xff\xff", b"a" * 40, rng.randbytes(3), rng.randbytes(2)]
    if type_ == "date":
        centre = rng.choice([0, 19737, 19782, -5, -25567, 10957])
        near = [centre + rng.randint(-40, 40) for _ in range(8)]
        return [*near, 0, -1, 19723, 19722, 19782, YEAR_1, YEAR_9999]
    centre = rng.choice([0, 1705320000000000, -3786825539000000, 1710054000000000, 1730613600000000])
    span = rng.choice([3000, 5_000_000, DAY, 400 * DAY])
    return [*rng.sample(_INSTANTS, 7), *(centre + rng.randint(-span, span) for _ in range(7))]


def _decimals(precision: int, scale: int, rng: Random) -> list[Decimal]:
    top = 10**precision - 1
    centre = rng.choice(
        [
            0,
            5 * 10**scale,
            top - 9,
            -top + 9,
            min(top, 123456789012345678),
            min(top, 2**63),
            -min(top, 2**63),
            min(top, 10 ** (precision - 1)),
        ]
    )
    units = [centre + rng.randint(-9, 9) * rng.choice([1, 1, 10**scale]) for _ in range(9)] + [0, 1, -1, 10**scale, top, -top]
    return [scaled(u, scale) for u in units if -top <= u <= top]


def scaled(units: int, scale: int) -> Decimal:
    """units * 10**-scale, exactly, whatever the ambient precision."""
    sign, digits = (1, -units) if units < 0 else (0, units)
    return Decimal((sign, tuple(int(d) for d in str(digits)), -scale))


def _exact(left: Decimal, right: Decimal) -> Decimal:
    from decimal import Context

    return Context(prec=100).add(left, right)
