"""Truncate: numbers rounded down to a multiple of the width, text and bytes cut to their first characters.

Why it is safe. A partition value v stands for the numbers v to v + width - 1, in the last digit of decimals. A text that is as
long as the width is a prefix: values may extend it; a shorter one is the whole value. Near the least integer the rounding wraps
around to the greatest (Java integers): what is so great that v + width - 1 is not one may stand for either: it proves nothing.
The same holds at the greatest int for a long that was an int before (trap T96).

CASES (`a to b`: least and greatest of several values; `?` unbounded, `x...`: x and everything that starts with it)

    type         | width | value       | lo          | hi          | because
    int          | 10    | 0           | 0           | 9           | 0 to 9
    int          | 10    | 10          | 10          | 19          | the next ten
    int          | 10    | -10         | -10         | -1          | rounded down, not towards zero
    int          | 10    | -10 to 10   | -10         | 19          | from the first to the last
    int          | 1     | 7           | 7           | 7           | a width of 1 is the identity
    int          | 10    | NULL        | ?           | ?           | no value
    int          | 10    | 2147483640  | ?           | ?           | 2147483649 is none: -2147483648 may be meant
    int          | 10    | 0 to 2147483640 | ?       | ?           | the same
    long         | 10    | 9223372036854775800 | ?   | ?           | the same of long
    long         | 10    | -9223372036854775800 | -9223372036854775800 | -9223372036854775791 | the least that does not wrap
    long, was int| 10    | 2147483640  | ?           | ?           | -2147483648 may be meant: it was an int
    long, was int| 10    | 0 to 2147483650 | ?       | ?           | the same may lie between
    long, was int| 10    | 2147483650  | 2147483650  | 2147483659  | above all ints
    long, was int| 10    | 10          | 10          | 19          | the next ten
    decimal(9,2) | 50    | 10.50       | 10.50       | 10.99       | 50 hundredths
    decimal(9,2) | 50    | -0.50       | -0.50       | -0.01       | rounded down
    decimal(9,2) | 50    | 10.00 to 10.50 | 10.00    | 10.99       | from the first to the last
    decimal(5,2) | 50    | -1000.00    | -1000.00    | -999.51     | rounded down to what is not of the type
    decimal(38,2)| 50    | 10.50       | ?           | ?           | the sum may need a 39th digit
    string       | 3     | abc         | abc         | abc...      | a prefix
    string       | 3     | ab          | ab          | ab          | shorter than the width: the value itself
    string       | 3     | a to abc    | a           | abc...      | from the first to the last
    string       | 2     | é😀         | é😀         | é😀...      | characters, not bytes
    string       | 3     | NULL        | ?           | ?           | no value
    binary       | 2     | 0x61        | 0x61        | 0x61        | shorter than the width: the value itself
    binary       | 2     | 0x6162      | 0x6162      | ?           | bytes have no open end
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.lifting.transform import UNBOUNDED, Range, SqlRange, unbounded
from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Scalar

_EXACT = Context(prec=100)  # the usual one rounds to 28 digits
_LAST_INT = 2**31 - 1
_MOST_DIGITS = 36  # of a decimal of which the sum with another has no more than 38


class Truncate(Struct, frozen=True):
    source: DataType
    width: int
    was_int: bool = False

    def apply(self, value: Any) -> Scalar:
        if value is None:
            return None
        match self.source.family:
            case Family.INTEGER:
                low, high = INTEGER_RANGES[self.source.kind]
                return int((value - value % self.width - low) % (high - low + 1) + low)
            case Family.DECIMAL:
                beyond = int(_EXACT.scaleb(Decimal(value), self.source.scale)) % self.width
                return _EXACT.subtract(Decimal(value), beyond * self._digit)
            case _:
                return value[: self.width]  # type: ignore[no-any-return]

    def range(self, lower: Any, upper: Any) -> Range:
        match self.source.family:
            case Family.INTEGER:
                if upper is None or upper > self._most() or self._may_be_wrapped(lower, upper):
                    return UNBOUNDED
                return Range(lower, upper + self.width - 1)
            case Family.DECIMAL:
                if upper is None or not self._can_be_added():
                    return UNBOUNDED
                return Range(lower, _EXACT.add(upper, (self.width - 1) * self._digit))
            case Family.TEXT:
                return Range(lower, upper, upper is not None and len(upper) >= self.width)
            case Family.BYTES:
                return Range(lower, None if upper is None or len(upper) >= self.width else upper)
            case _:
                return UNBOUNDED

    def sql(self, dialect: Dialect, lower: str, upper: str) -> SqlRange:
        match self.source.family:
            case Family.INTEGER:
                is_safe = f"{upper} <= {self._most()}"
                if self.was_int:
                    is_safe += f" AND ({upper} <= {_LAST_INT - (self.width - 1)} OR {lower} > {_LAST_INT})"
                return SqlRange(
                    f"CASE WHEN {is_safe} THEN {lower} END", f"CASE WHEN {is_safe} THEN {upper} + {self.width - 1} END"
                )
            case Family.DECIMAL if self._can_be_added():
                # One digit more than the type: rounded down, a value may leave it. With 38 digits Spark would round the sum.
                type_name = f"DECIMAL({self.source.precision + 1},{self.source.scale})"
                digits = f"CAST({dialect.literal((self.width - 1) * self._digit, Family.DECIMAL)} AS {type_name})"
                return SqlRange(
                    f"CASE WHEN {upper} IS NOT NULL THEN {lower} END",
                    f"CAST({dialect.try_cast(upper, type_name)} + {digits} AS {carrier(self.source)})",
                )
            case Family.TEXT:
                return SqlRange(lower, upper, f"coalesce(length({upper}) >= {self.width}, FALSE)")
            case Family.BYTES:
                return SqlRange(lower, f"CASE WHEN octet_length({upper}) < {self.width} THEN {upper} END")
            case _:
                return unbounded(self.source)

    def _may_be_wrapped(self, lower: Any, upper: int) -> bool:
        """Whether a value between these may come from an int that wrapped around."""
        return self.was_int and upper > _LAST_INT - (self.width - 1) and (lower is None or lower <= _LAST_INT)

    def _can_be_added(self) -> bool:
        return self.source.precision <= _MOST_DIGITS and self.width <= 10**self.source.precision

    @property
    def _digit(self) -> Decimal:
        return Decimal(1).scaleb(-self.source.scale)

    def _most(self) -> int:
        """The greatest value that cannot come from a rounding that wrapped around."""
        return INTEGER_RANGES[self.source.kind][1] - (self.width - 1)
