"""What a partition value proves about the column that it was computed from.

A transform maps values of a source column to partition values (Iceberg's transforms, Delta's generated columns). Lifting goes the
other way: from a value, or from the least and greatest of several, to the range of the source column. Every module here is one
transform; its CASES are run by the tests. SQL and Python say the same; NULL and None are unbounded.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.values.types import DataType, Scalar


class SqlRange(Struct, frozen=True):
    """Inclusive bounds of the source column; `is_truncated`: values may extend the text `hi`."""

    lo: str
    hi: str
    is_truncated: str = "FALSE"


class Range(Struct, frozen=True):
    lo: Scalar
    hi: Scalar
    is_truncated: bool = False


UNBOUNDED = Range(None, None)


def unbounded(source: DataType) -> SqlRange:
    nothing = f"CAST(NULL AS {carrier(source)})"
    return SqlRange(nothing, nothing)


class Transform(Protocol):
    def apply(self, value: Scalar) -> Scalar:
        """The partition value of a source value."""

    def range(self, lower: Scalar, upper: Scalar) -> Range:
        """What holds for the source where partition values lie between these, both of which occur; None for no value."""

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:
        """The same in SQL, over expressions of the type of partition values."""
