"""Doubles and 32-bit floats: how numbers are rounded to them, and how Spark orders them."""

from __future__ import annotations

import math
import struct
from typing import Any


def to_float32(value: Any) -> float:
    """The 32-bit float nearest to the double of a number; beyond the greatest one, infinity.

    >>> to_float32(0.1)
    0.10000000149011612
    """
    double = to_double(value)
    try:
        return float(struct.unpack("<f", struct.pack("<f", double))[0])
    except OverflowError:
        return math.copysign(math.inf, double)


def to_double(value: Any) -> float:
    """The nearest double of an exact number; beyond the greatest one, infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def compare_floats(left: float, right: float) -> int:
    """-1, 0 or 1: NaN equals itself and is above everything."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) - math.isnan(right)
    return (left > right) - (left < right)
