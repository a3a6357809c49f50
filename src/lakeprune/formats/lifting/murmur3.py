"""The 32-bit Murmur3 hash (x86 variant, seed 0), by which Iceberg puts values into buckets.

In: bytes. Out: a signed 32-bit integer. The finaliser and the constants are those of the published algorithm.
"""

from __future__ import annotations

_ALL = 0xFFFFFFFF


def murmur3(data: bytes) -> int:
    """The hash of some bytes.

    >>> murmur3(b"iceberg"), murmur3((34).to_bytes(8, "little"))
    (1210000089, 2017239379)
    """
    hashed = 0
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        hashed ^= _mixed(int.from_bytes(data[start : start + 4], "little"))
        hashed = (_rotated(hashed, 13) * 5 + 0xE6546B64) & _ALL
    hashed ^= _mixed(int.from_bytes(data[whole:], "little"))
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _ALL
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _ALL
    hashed ^= hashed >> 16
    return hashed - 2**32 if hashed >= 2**31 else hashed


def _mixed(block: int) -> int:
    return _rotated(block * 0xCC9E2D51 & _ALL, 15) * 0x1B873593 & _ALL


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _ALL
