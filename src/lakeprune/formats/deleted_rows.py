"""Deletion vectors: which rows of a file are deleted, as positions from 0 on.

In: the bytes of a vector, as Delta and Iceberg write them. Out: a bitmap of positions. Size, checksum, magic number and
cardinality are checked; what does not fit is a `DamagedVector`, never a guess: a row that is wrongly alive is a wrong answer.

    framed   size (4 bytes, big-endian) | bitmap | CRC-32 of the bitmap (4 bytes, big-endian)       in files
    bitmap   magic 1681511377 (4 bytes, little-endian) | a 64-bit roaring bitmap in its portable format
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Any

MAGIC = 1681511377
_NATIVE_MAGIC = 1681511376
FRAME = 8  # bytes around a bitmap in a file
MOST_BYTES = 1 << 30  # of one vector: a file of 2^31 rows has at most 256 MB of bits

Positions = Any  # pyroaring.BitMap64, which is imported when a vector is read


class DamagedVector(Exception):
    """What is wrong with the bytes of a vector."""


def positions_at(places: Iterable[int] = ()) -> Positions:
    """A bitmap of these positions."""
    from pyroaring import BitMap64

    return BitMap64(places)


def unframed(framed: bytes, size: int) -> bytes:
    """The bitmap of a vector in a file, whose frame says the same size and the same checksum."""
    if len(framed) != size + FRAME:
        raise DamagedVector(f"the file ends before its {size:,} bytes do")
    stated, checksum = struct.unpack(">I", framed[:4])[0], struct.unpack(">I", framed[-4:])[0]
    if stated != size:
        raise DamagedVector(f"the file says that it has {stated:,} bytes, the table says {size:,}")
    bitmap = framed[4:-4]
    if zlib.crc32(bitmap) != checksum:
        raise DamagedVector("its checksum does not match its bytes")
    return bitmap


def positions_of(bitmap: bytes, cardinality: int | None) -> Positions:
    """The deleted positions; `cardinality` is how many the table says there are."""
    from pyroaring import BitMap64

    magic = struct.unpack("<I", bitmap[:4])[0] if len(bitmap) >= 4 else None
    if magic == _NATIVE_MAGIC:
        raise DamagedVector("it is in a format of early versions of Delta (magic number 1681511376) that is not read")
    if magic != MAGIC:
        raise DamagedVector(f"its magic number is {magic}, not {MAGIC}")
    try:
        positions = BitMap64.deserialize(bitmap[4:])
    except (ValueError, IndexError) as error:
        raise DamagedVector("it is not a roaring bitmap") from error
    if cardinality is not None and len(positions) != cardinality:
        raise DamagedVector(f"it has {len(positions):,} rows, the table says {cardinality:,}")
    return positions
