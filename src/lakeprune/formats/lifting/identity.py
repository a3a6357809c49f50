"""Identity: the partition value is the value of the source column.

Why it is safe. Every row of the container has it. NaN is a value but not a bound: it lies outside the order (trap T1).

CASES (`a to b`: least and greatest of several values; `?` unbounded)

    type      | value      | lo         | hi         | because
    int       | 5          | 5          | 5          | the value itself
    int       | -3 to 7    | -3         | 7          | everything between
    int       | NULL       | ?          | ?          | no value
    string    | ab         | ab         | ab         | whole, never a prefix
    date      | 1969-12-31 | 1969-12-31 | 1969-12-31 | before 1970
    double    | 1.5        | 1.5        | 1.5        | a number
    double    | NaN        | ?          | ?          | NaN is not a bound
    double    | 1.5 to NaN | 1.5        | ?          | NaN is not a bound
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.lifting.transform import Range, SqlRange
from lakeprune.values.types import DataType, Family, Scalar


class Identity(Struct, frozen=True):
    source: DataType

    def apply(self, value: Scalar) -> Scalar:
        return value

    def range(self, lower: Scalar, upper: Scalar) -> Range:
        low, high = (None if isinstance(end, float) and end != end else end for end in (lower, upper))
        return Range(low, high)

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:
        if self.source.family is not Family.REAL:
            return SqlRange(lower, upper)
        most = dialect.literal(float("inf"), Family.REAL)
        return SqlRange(*(f"CASE WHEN {end} <= {most} THEN {end} END" for end in (lower, upper)))
