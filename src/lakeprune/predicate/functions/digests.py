"""hash and md5: numbers and text that stand for values.

Nothing moves: they keep no order (OPAQUE_ON_DATA). Evaluated exactly on partition values: `pmod(hash(id), 16) = 3`.
`hash` is Murmur3 for 32 bits with seed 42, as Spark computes it: each value goes on from the hash of those before it, a NULL
leaves it as it is, and bytes after the last whole word count one by one.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from lakeprune.predicate.functions.function import MANY, EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.text import texts_of
from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.types import INT, STRING, DataType, Kind, Scalar

_SEED = 42
_LONGS = frozenset({Kind.LONG, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})
_INTS = frozenset({Kind.BOOLEAN, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.DATE})
_BITS = 0xFFFFFFFF


def _hash(call: Call, value_of: Callable[[Expr], Scalar], _profile: Profile) -> Scalar:
    found = _SEED
    for arg in call.args:
        value, type_ = value_of(arg), type_of(arg)
        if value is not None:
            found = murmur3(_words(value, type_), found)
    return found - (1 << 32) if found > 0x7FFFFFFF else found


def _words(value: Any, type_: DataType | None) -> bytes:
    """The bytes of a value that are hashed."""
    kind = None if type_ is None or type_.collation else type_.kind
    if kind in _INTS:
        return struct.pack("<i", value)
    if kind in _LONGS:
        return struct.pack("<q", value)
    if kind in (Kind.FLOAT, Kind.DOUBLE):
        number = math.nan if math.isnan(value) else value + 0.0  # one NaN, one zero
        return struct.pack("<f" if kind is Kind.FLOAT else "<d", number)
    if kind is Kind.DECIMAL and type_ is not None:
        unscaled = int(Decimal(value).scaleb(type_.scale))
        if type_.precision <= 18:
            return struct.pack("<q", unscaled)
        return unscaled.to_bytes((unscaled.bit_length() if unscaled >= 0 else (-unscaled - 1).bit_length()) // 8 + 1, signed=True)
    if kind in (Kind.STRING, Kind.BINARY):
        return value.encode() if isinstance(value, str) else bytes(value)
    raise EvaluationFailed(f"the hash of a {type_}")


def murmur3(data: bytes, seed: int) -> int:
    """The hash of the bytes, as an unsigned number.

    >>> murmur3(b"EU", 42), murmur3((1).to_bytes(4, "little"), 42) - 2**32
    (2084814384, -559580957)
    """
    whole = len(data) // 4 * 4
    words = [*struct.unpack(f"<{whole // 4}I", data[:whole]), *struct.unpack(f"{len(data) - whole}b", data[whole:])]
    found = seed
    for word in words:
        mixed = _rotated(word * 0xCC9E2D51 & _BITS, 15) * 0x1B873593 & _BITS
        found = (_rotated(found ^ mixed, 13) * 5 + 0xE6546B64) & _BITS
    found ^= len(data)
    found = (found ^ found >> 16) * 0x85EBCA6B & _BITS
    found = (found ^ found >> 13) * 0xC2B2AE35 & _BITS
    return found ^ found >> 16


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _BITS


def _md5(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    data = args[0] if isinstance(args[0], bytes) else texts_of(call, args, profile)[0].encode()
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


FUNCTIONS = (
    Function(("hash",), takes(1, MANY), ("Murmur3Hash",), always(INT), choose=_hash),
    Function(("md5",), takes(1), ("Md5",), always(STRING), _md5),
)
