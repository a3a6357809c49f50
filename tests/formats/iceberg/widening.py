"""Wider bounds: a lower one that is lower, an upper one that is higher, as bytes of Iceberg's and of Parquet's plain values."""

from __future__ import annotations

import struct
from random import Random

_WHOLE = {4: "<i", 8: "<q"}
_FLOATS = {4: "<f", 8: "<d"}
_LAST = "\U0010fffd"  # above every text of the generator


def wider(bound: bytes, type_: str, rng: Random, *, is_upper: bool) -> bytes:
    """A bound that excludes less; the same one where the type has none."""
    if type_ in ("int", "long", "date", "timestamp", "timestamptz", "byte", "short"):
        (value,) = struct.unpack(_WHOLE[len(bound)], bound)
        step = rng.choice([1, 1000, 86_400_000_000, 2**62])
        most = 2 ** (8 * len(bound) - 1)
        return struct.pack(_WHOLE[len(bound)], min(value + step, most - 1) if is_upper else max(value - step, -most))
    if type_ in ("float", "double"):
        (number,) = struct.unpack(_FLOATS[len(bound)], bound)
        if number != number:
            return bound  # NaN: it is no bound
        farther = rng.choice([0.5, 1000.0, float("inf")])
        return struct.pack(_FLOATS[len(bound)], number + farther if is_upper else number - farther)
    if type_ == "boolean":
        return b"\x01" if is_upper else b"\x00"
    if type_ == "string":
        # Behind a truncated bound stands everything that starts with it: a longer text would exclude more.
        text = bound.decode()
        return (_LAST + text).encode() if is_upper else text[: rng.randint(0, len(text))].encode()
    if type_ == "binary":
        return b"\xff" + bound if is_upper else bound[: rng.randint(0, len(bound))]
    if type_.startswith("decimal"):
        unscaled = int.from_bytes(bound, "big", signed=True) + (rng.choice([1, 1000]) if is_upper else -rng.choice([1, 1000]))
        return unscaled.to_bytes(max(1, (unscaled.bit_length() + 8) // 8), "big", signed=True)
    return bound
