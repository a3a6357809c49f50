"""Deletion vectors as Delta's protocol writes them: a 64-bit roaring bitmap, inline as Z85 or in a file of its own."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from pyroaring import BitMap

_MAGIC = 1681511377
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def bitmap(rows: Sequence[int]) -> bytes:
    """The magic number, then one bitmap of 32 bits for each upper half that occurs."""
    upper = sorted({row >> 32 for row in rows})
    parts = [struct.pack("<IQ", _MAGIC, len(upper))]
    for high in upper:
        low = BitMap([row & 0xFFFFFFFF for row in rows if row >> 32 == high])
        parts.append(struct.pack("<I", high) + low.serialize())
    return b"".join(parts)


def inline_vector(rows: Sequence[int]) -> dict[str, Any]:
    content = bitmap(rows)
    padded = content + b"\0" * (-len(content) % 4)
    return {"storageType": "i", "pathOrInlineDv": _z85(padded), "sizeInBytes": len(content), "cardinality": len(rows)}


def _z85(content: bytes) -> str:
    letters = []
    for (word,) in struct.iter_unpack(">I", content):
        letters += [_Z85[word // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(letters)
