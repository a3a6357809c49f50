"""Faithful models of how real writers record statistics of one column of one file.

Each model gives JSON fragments for minValues and maxValues (None: not recorded) and, for checkpoints with struct statistics, the
typed values. All of them are correct by their own contract: the gaps between that contract and "inclusive bounds" are the traps.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from tests.generator.texts import date_text, timestamp_text
from tests.generator.values import DECIMALS, FLOATS, INTEGERS, TIMESTAMPS, float32_text


class Writer(Enum):
    SPARK = "spark"  # ms timestamps, strings cut at 32 with today's tie-breaker, NaN in the maximum, no booleans
    OLD_SPARK = "old_spark"  # the same with the historic tie-breaker U+FFFD, compared in UTF-16
    FOOTER = "footer"  # from Parquet footers: blind to NaN, microseconds, whole strings, booleans
    RUST = "rust"  # as FOOTER, decimals of more than 18 digits or with a scale through 64-bit floats, whole ones saturated
    NAIVE = "naive"  # cuts strings at 32 without raising the maximum, timestamps rounded towards zero


@dataclass(frozen=True)
class Bounds:
    lo: Any  # canonical values; None: not recorded
    hi: Any
    lo_json: str | None
    hi_json: str | None


NOTHING = Bounds(None, None, None, None)


def bounds_of(values: Sequence[Any], type_: str, writer: Writer) -> Bounds:
    """What the writer records about these values (NULLs among them are ignored)."""
    present = [v for v in values if v is not None]
    if not present or (type_ == "binary"):
        return NOTHING
    if type_ == "boolean" and writer not in (Writer.FOOTER, Writer.RUST):
        return NOTHING
    lo: Any
    hi: Any
    lo, hi = _float_ends(present, writer) if type_ in FLOATS else (min(present), max(present))
    if lo is None:
        return NOTHING
    if type_ == "string":
        lo, hi = _cut_min(lo, writer), _cut_max(hi, writer)
    if type_ in TIMESTAMPS and writer in (Writer.SPARK, Writer.OLD_SPARK):
        lo, hi = lo // 1000 * 1000, hi // 1000 * 1000
    if type_ in TIMESTAMPS and writer is Writer.NAIVE:
        lo, hi = _towards_zero(lo), _towards_zero(hi)
    return Bounds(lo, hi, fragment(lo, type_, writer), fragment(hi, type_, writer))


def fragment(value: Any, type_: str, writer: Writer) -> str:
    """The value as JSON text, in the writer's spelling."""
    if type_ == "boolean":
        return "true" if value else "false"
    if type_ in INTEGERS:
        return str(value)
    if type_ in FLOATS:
        if math.isnan(value) or math.isinf(value):
            return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
        return float32_text(value) if type_ == "float" and writer is not Writer.FOOTER else repr(value)
    if type_ in DECIMALS:
        return _rust_decimal(value, *DECIMALS[type_]) if writer is Writer.RUST else f"{Decimal(value):f}"
    if type_ == "date":
        return json.dumps(date_text(value))
    if type_ in TIMESTAMPS:
        digits = 3 if writer in (Writer.SPARK, Writer.OLD_SPARK, Writer.NAIVE) else 6
        return json.dumps(timestamp_text(value, "T", digits) + ("Z" if type_ == "timestamp" else ""))
    return json.dumps(value, ensure_ascii=writer is Writer.RUST)


def _rust_decimal(value: Decimal, precision: int, scale: int) -> str:
    if scale:
        return repr(float(value))
    return str(int(value) if precision <= 18 else max(-(2**63), min(2**63 - 1, int(float(value)))))


def _float_ends(present: Sequence[float], writer: Writer) -> tuple[float | None, float | None]:
    numbers = [v for v in present if not math.isnan(v)]
    if writer in (Writer.SPARK, Writer.OLD_SPARK):  # NaN is a value, and the greatest
        hi = math.nan if len(numbers) < len(present) else max(numbers)
        return (min(numbers) if numbers else math.nan), hi
    if not numbers:
        return None, None
    return min(numbers), max(numbers)


def _towards_zero(micros: int) -> int:
    return micros // 1000 * 1000 if micros >= 0 else -(-micros // 1000 * 1000)


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _take_utf16(text: str, units: int) -> str:
    """The first UTF-16 units; half a surrogate pair is written as '?', as Java does."""
    taken = text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "surrogatepass")
    return "".join("?" if 0xD800 <= ord(c) < 0xE000 else c for c in taken)


def _cut_min(text: str, writer: Writer) -> str:
    return text if writer in (Writer.FOOTER, Writer.RUST) else _take_utf16(text, 32)


def _cut_max(text: str, writer: Writer) -> str:
    if writer in (Writer.FOOTER, Writer.RUST) or utf16_length(text) <= 32:
        return text
    if writer is Writer.NAIVE:
        return _take_utf16(text, 32)
    units = text.encode("utf-16-le")
    codes = [int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2)]
    if writer is Writer.OLD_SPARK:
        end = 32
        while end < len(codes) and codes[end] >= 0xFFFD:
            end += 1
        return _take_utf16(text, end) + "\ufffd"
    end = 31 if 0xD800 <= codes[31] < 0xDC00 else 32  # today's writer never splits a pair
    while end < len(codes) and _code_point(codes, end) == 0x10FFFF:
        end += 2
    if end >= len(codes):
        return text
    tie = "\x7f" if codes[end] < 0x7F else "\U0010ffff"
    return _take_utf16(text, end) + tie


def _code_point(codes: list[int], at: int) -> int:
    if 0xD800 <= codes[at] < 0xDC00 and at + 1 < len(codes):
        return 0x10000 + ((codes[at] - 0xD800) << 10) + (codes[at + 1] - 0xDC00)
    return codes[at]
