"""Void, and every transform that is not known: the partition value says nothing about the source column.

Why it is safe. Nothing is concluded. A NULL partition value of `void` does not mean that the source is NULL (trap T49).

CASES

    type   | value | lo | hi | because
    int    | NULL  | ?  | ?  | always NULL, whatever the source is
    string | x     | ?  | ?  | an unknown transform
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.lifting.transform import UNBOUNDED, Range, SqlRange, unbounded
from lakeprune.values.types import DataType, Scalar


class Void(Struct, frozen=True):
    source: DataType

    def apply(self, value: Scalar) -> Scalar:  # noqa: ARG002
        return None

    def range(self, lower: Scalar, upper: Scalar) -> Range:  # noqa: ARG002
        return UNBOUNDED

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:  # noqa: ARG002
        return unbounded(self.source)
