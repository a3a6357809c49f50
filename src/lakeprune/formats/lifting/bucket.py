"""Bucket: values spread over numbered buckets by their hash.

Why it is safe. Equal values share a bucket, so a container whose buckets hold none of the values that a condition asks for has no
such row. The order of values says nothing about buckets: no range follows from one, and no condition that is not a list of few
values can use it (trap T48). NULL is in no bucket.

CASES (`hash` before the remainder; `buckets` 16)

    type          | source                     | hash        | because
    int           | 34                         | 2017239379  | integers as 8 bytes, whatever their type
    long          | 34                         | 2017239379  | the same
    date          | 2017-11-16                 | -653330422  | days as 8 bytes
    timestamp     | 2017-11-16T22:31:08        | -2047944441 | microseconds
    timestamp     | 2017-11-16T22:31:08.000001 | -1207196810 | microseconds
    timestamp_ntz | 2017-11-16T22:31:08        | -2047944441 | the same without a zone
    string        | iceberg                    | 1210000089  | UTF-8
    binary        | 0x00010203                 | -188683207  | the bytes
    decimal(9,2)  | 14.20                      | -500754589  | the digits, as few bytes as hold them, big-endian
    decimal(38,0) | 12345678901234567890123456789012345678 | 1808226235 | all its digits
    int           | NULL                       | NULL        | in no bucket
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.lifting.murmur3 import murmur3
from lakeprune.formats.lifting.transform import UNBOUNDED, Range, SqlRange, unbounded
from lakeprune.values.types import DataType, Family, Scalar

_EXACT = Context(prec=100)  # the usual one rounds to 28 digits


class Bucket(Struct, frozen=True):
    source: DataType
    count: int

    def apply(self, value: Any) -> int | None:
        """The bucket of a value; None for NULL and for types that have none."""
        hashed = self.hash(value)
        return None if hashed is None else (hashed & 0x7FFFFFFF) % self.count

    def hash(self, value: Any) -> int | None:
        if value is None:
            return None
        match self.source.family:
            case Family.INTEGER:
                return murmur3(int(value).to_bytes(8, "little", signed=True))
            case Family.DECIMAL:
                digits = int(_EXACT.scaleb(Decimal(value), self.source.scale))
                size = (digits if digits >= 0 else ~digits).bit_length() // 8 + 1
                return murmur3(digits.to_bytes(size, "big", signed=True))
            case Family.TEXT:
                return murmur3(str(value).encode())
            case Family.BYTES:
                return murmur3(bytes(value))
            case _:
                return None

    def range(self, lower: Scalar, upper: Scalar) -> Range:  # noqa: ARG002
        return UNBOUNDED

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:  # noqa: ARG002
        return unbounded(self.source)
