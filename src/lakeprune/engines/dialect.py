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

from lakeprune.values.types import DataType, Family

Shape = Mapping[str, "str | Shape"]  # field name -> SQL type, or nested fields


class Form(str):
    """SQL with a gap `{}` for each of its arguments.

    >>> Form("strlen({})")("name")
    'strlen(name)'
    """

    def __call__(self, *arguments: str) -> str:
        return self.format(*arguments)


class Dialect(ABC):
    """Type names are those that engines share: STRING, BINARY, BOOLEAN, BIGINT, DOUBLE, FLOAT, DATE, TIMESTAMP, DECIMAL(p,s)."""

    computed_once = "AS"  # between a common table expression's name and its query, where an engine takes the hint
    text_map: str  # the type of a map from text to text

    # Function calls that differ in nothing but their form, taking and giving SQL text.
    try_cast = Form("TRY_CAST({} AS {})")  # a value, the name of a type
    try_add: Form  # two decimals of one type: the exact sum, NULL where it does not fit or computing either would be an error
    days_of_date: Form  # a date, or its text: days since the epoch
    # A date or timestamp, or text that is known to have no numeric offset: microseconds since the epoch. Without a zone it is
    # read as UTC; infinity is NULL.
    micros_of: Form
    octet_length: Form  # text
    starts_with: Form  # a text, a prefix
    utf8_bytes: Form  # text
    bytes_of_bound: Form  # the text that this engine's reader of footers gives bytes
    percent_decode: Form  # text
    total: Form  # a column of 64-bit integers: the sum, however large; NULL of no rows
    date_of_days: Form  # days since the epoch
    instant_of_micros: Form  # microseconds since the epoch: a point in time
    clock_of_micros: Form  # the same: a timestamp without a zone
    json_of: Form  # a struct: the text of a JSON object, with every field
    hex_of: Form  # bytes: two digits for each
    bytes_of_hex: Form

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
    def micros_of_timestamp(self, text: str) -> str:
        """Microseconds since the epoch of timestamp text; text without an offset is read as UTC."""

    @abstractmethod
    def micros_in_zone(self, text: str, zone: str) -> str:
        """Microseconds since the epoch of timestamp text without an offset, read as the wall clock of an IANA zone."""

    @abstractmethod
    def regexp_matches(self, text: str, pattern: str) -> str:
        """Whether `pattern` (a Python string, RE2 and Java syntax in common) is found in the text."""

    @abstractmethod
    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        """Every match replaced; `\\1` in the replacement is the first group."""

    def rank(self, items: Sequence[str], value: str) -> str:
        """How many of the ascending items are at or below the value, 0 when it is NULL; logarithmic in their number."""
        # A binary search as a fold over its step sizes. Nested CASEs would do the same, but DuckDB sets aside a vector for every
        # node: seconds and hundreds of megabytes for a thousand items, however few rows there are.
        reached = f"coalesce({self.item(items, 'found + step')} <= {value}, FALSE)"
        steps = [str(1 << bit) for bit in reversed(range(len(items).bit_length()))]
        return self.folded(steps, f"found + CASE WHEN {reached} THEN step ELSE 0 END")

    @abstractmethod
    def folded(self, steps: Sequence[str], next_found: str) -> str:
        """`found`, beginning with 0 and computed anew from `found` and `step` for every step."""

    @abstractmethod
    def item(self, items: Sequence[str], position: str) -> str:
        """The item at a position that counts from 1, NULL outside."""

    @abstractmethod
    def map_value(self, map_: str, key: str) -> str: ...

    @abstractmethod
    def map_with(self, map_: str, pairs: Sequence[tuple[str, str]]) -> str:
        """The map with these keys and the values that SQL gives beside its own; a NULL map has none."""

    @abstractmethod
    def map_has_key(self, map_: str, key: str) -> str: ...

    @abstractmethod
    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Select items that make several rows of each: one per given row, whose expressions get these names."""

    @abstractmethod
    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        """JSON text of an object with these keys and these values of type text."""

    @abstractmethod
    def struct(self, pairs: Sequence[tuple[str, str]]) -> str:
        """A struct with these fields, of which there must be some."""

    @abstractmethod
    def list_without_nulls(self, items: Sequence[str], kind: str) -> str:
        """Those of the items that are not NULL, as a list of this type."""

    @abstractmethod
    def fail(self, message: str, text: str | None = None) -> str:
        """An expression that ends the query with this message, and the value of an expression of text after it."""

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


def carrier(data_type: DataType) -> str:
    """The SQL type of a bound."""
    if data_type.family is Family.DECIMAL:
        return f"DECIMAL(38,{data_type.scale})"
    return _CARRIERS.get(data_type.family, "STRING")


_CARRIERS: dict[Family | None, str] = {
    Family.INTEGER: "BIGINT",
    Family.REAL: "DOUBLE",
    Family.BOOLEAN: "BOOLEAN",
    Family.BYTES: "BINARY",
}


def _double_text(value: float) -> str:
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))
