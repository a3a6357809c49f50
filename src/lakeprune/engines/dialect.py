"""The few SQL constructs that engines write differently.

Queries are written once, as text around these methods; user text reaches SQL only through `text`, `literal` and `identifier`.
Every method takes and returns SQL text. A conversion that fails gives NULL, never an error: a statistic that cannot be read is
a statistic that is missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from lakeprune.values.types import Family

Shape = Mapping[str, "str | Shape"]  # field name -> SQL type, or nested fields


class Dialect(ABC):
    """Type names are those that engines share: STRING, BINARY, BOOLEAN, BIGINT, DOUBLE, FLOAT, DATE, TIMESTAMP, DECIMAL(p,s)."""

    computed_once = "AS"  # between a common table expression's name and its query, where an engine takes the hint
    text_map: str  # the type of a map from text to text

    @abstractmethod
    def text(self, value: str) -> str:
        """A string literal, for any string: quotes, control characters and NUL included."""

    @abstractmethod
    def binary(self, value: bytes) -> str: ...

    @abstractmethod
    def identifier(self, name: str) -> str: ...

    @abstractmethod
    def parse_json(self, text: str, shape: Shape) -> str:
        """A struct of just these fields from JSON text; NULL when the text is not JSON, NULL fields where they do not fit."""

    @abstractmethod
    def try_cast(self, value: str, type_name: str) -> str: ...

    @abstractmethod
    def micros_of_timestamp(self, text: str) -> str:
        """Microseconds since the epoch of timestamp text; text without an offset is read as UTC."""

    @abstractmethod
    def micros_of_plain_timestamp(self, text: str) -> str:
        """The same for text known to have no numeric offset; a final Z is UTC."""

    @abstractmethod
    def days_of_date(self, text: str) -> str: ...

    @abstractmethod
    def regexp_matches(self, text: str, pattern: str) -> str:
        """Whether `pattern` (a Python string, RE2 and Java syntax in common) is found in the text."""

    @abstractmethod
    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        """Every match replaced; `\\1` in the replacement is the first group."""

    @abstractmethod
    def octet_length(self, text: str) -> str: ...

    @abstractmethod
    def rank(self, items: Sequence[str], value: str) -> str:
        """How many of the ascending items are at or below the value, 0 when it is NULL; logarithmic in their number."""

    @abstractmethod
    def item(self, items: Sequence[str], position: str) -> str:
        """The item at a position that counts from 1, NULL outside."""

    @abstractmethod
    def starts_with(self, text: str, prefix: str) -> str: ...

    @abstractmethod
    def map_value(self, map_: str, key: str) -> str: ...

    @abstractmethod
    def map_has_key(self, map_: str, key: str) -> str: ...

    @abstractmethod
    def percent_decode(self, text: str) -> str: ...

    @abstractmethod
    def try_add(self, left: str, right: str) -> str:
        """The exact sum of two decimals of one type, NULL where it does not fit or computing either would be an error."""

    @abstractmethod
    def total(self, whole_number: str) -> str:
        """The sum of a column of 64-bit integers, however large; NULL of no rows."""

    @abstractmethod
    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Select items that make several rows of each: one per given row, whose expressions get these names."""

    @abstractmethod
    def micros_of(self, timestamp: str) -> str:
        """Microseconds since the epoch of a date or timestamp value; one without a zone is read as UTC, infinity is NULL."""

    @abstractmethod
    def micros_in_zone(self, text: str, zone: str) -> str:
        """Microseconds since the epoch of timestamp text without an offset, read as the wall clock of an IANA zone."""

    @abstractmethod
    def utf8_bytes(self, text: str) -> str: ...

    @abstractmethod
    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        """JSON text of an object with these keys and these values of type text."""

    @abstractmethod
    def fail(self, message: str) -> str:
        """An expression that ends the query with this message."""

    def field(self, struct: str, path: Sequence[str]) -> str:
        return ".".join([struct, *(self.identifier(part) for part in path)])

    def literal(self, value: Any, family: Family) -> str:
        """A canonical value as it compares with a bound of this family."""
        match family:
            case Family.BOOLEAN:
                return "TRUE" if value else "FALSE"
            case Family.INTEGER:
                return str(int(value))
            case Family.REAL:
                return f"CAST('{_double_text(value)}' AS DOUBLE)"
            case Family.DECIMAL:
                exact = Decimal(value)
                scale = max(0, -int(exact.as_tuple().exponent))
                return f"CAST('{exact:f}' AS DECIMAL(38,{scale}))"
            case Family.TEXT:
                return self.text(value)
            case Family.BYTES:
                return self.binary(value)


def _double_text(value: float) -> str:
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))
