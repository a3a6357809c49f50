"""The dialect in DuckDB's SQL. Needs only what is built into DuckDB: json, parquet, core functions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lakeprune.engines.dialect import Dialect, Shape


class DuckDBDialect(Dialect):
    computed_once = "AS MATERIALIZED"
    text_map = "MAP(VARCHAR, VARCHAR)"

    def text(self, value: str) -> str:
        quoted = value.replace("'", "''")
        if value.isprintable():
            return f"'{quoted}'"
        # Control characters and NUL go through bytes: a NUL inside query text would end it.
        return f"decode({self.binary(value.encode('utf-8', 'surrogatepass'))})"

    def binary(self, value: bytes) -> str:
        return "CAST('" + "".join(f"\\x{byte:02X}" for byte in value) + "' AS BLOB)"

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def parse_json(self, text: str, shape: Shape) -> str:
        return f"TRY(from_json({text}, {self.text(json.dumps(shape))}))"

    def try_cast(self, value: str, type_name: str) -> str:
        return f"TRY_CAST({value} AS {type_name})"

    def micros_of_timestamp(self, text: str) -> str:
        # Seen by running it: a cast to TIMESTAMP silently ignores a numeric offset, and a cast to TIMESTAMPTZ reads text
        # without one in the session's zone. So the text decides which cast is right.
        plain, zoned = self.micros_of_plain_timestamp(text), f"epoch_us(TRY_CAST({text} AS TIMESTAMPTZ))"
        has_offset = self.regexp_matches(text, r"[T ].*[+-]\d{1,2}(:?\d{2}){0,2}$")
        return f"CASE WHEN {text} LIKE '%Z' THEN {plain} WHEN {has_offset} THEN {zoned} ELSE {plain} END"

    def micros_of_plain_timestamp(self, text: str) -> str:
        return f"epoch_us(TRY_CAST({text} AS TIMESTAMP))"

    def days_of_date(self, text: str) -> str:
        return f"(TRY_CAST({text} AS DATE) - DATE '1970-01-01')"

    def regexp_matches(self, text: str, pattern: str) -> str:
        return f"regexp_matches({text}, {self.text(pattern)})"

    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        return f"regexp_replace({text}, {self.text(pattern)}, {self.text(replacement)}, 'g')"

    def octet_length(self, text: str) -> str:
        return f"strlen({text})"

    def rank(self, items: Sequence[str], value: str) -> str:
        # A binary search as a fold over its step sizes. Nested CASEs would do the same, but DuckDB sets aside a vector for every
        # node: seconds and hundreds of megabytes for a thousand items, however few rows there are.
        steps = ", ".join(str(1 << bit) for bit in reversed(range(len(items).bit_length())))
        reached = f"coalesce({self.item(items, 'found + step')} <= {value}, FALSE)"
        return f"list_reduce([{steps}], lambda found, step: found + CASE WHEN {reached} THEN step ELSE 0 END, 0)"

    def item(self, items: Sequence[str], position: str) -> str:
        return f"([{', '.join(items)}])[{position}]"

    def starts_with(self, text: str, prefix: str) -> str:
        return f"starts_with({text}, {prefix})"

    def map_value(self, map_: str, key: str) -> str:
        return f"{map_}[{self.text(key)}]"

    def map_has_key(self, map_: str, key: str) -> str:
        return f"coalesce(list_contains(map_keys({map_}), {self.text(key)}), FALSE)"

    def percent_decode(self, text: str) -> str:
        return f"TRY(url_decode({text}))"

    def try_add(self, left: str, right: str) -> str:
        return f"TRY({left} + {right})"

    def total(self, whole_number: str) -> str:
        return f"sum({whole_number})"

    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        return ", ".join(f"unnest([{', '.join(items)}]) AS {name}" for name, items in columns)

    def micros_of(self, timestamp: str) -> str:
        return f"epoch_us(TRY_CAST({timestamp} AS TIMESTAMP))"

    def micros_in_zone(self, text: str, zone: str) -> str:
        return f"epoch_us(timezone({self.text(zone)}, TRY_CAST({text} AS TIMESTAMP)))"

    def utf8_bytes(self, text: str) -> str:
        return f"encode({text})"

    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}, {value}" for key, value in pairs)
        return f"CAST(json_object({items}) AS VARCHAR)"

    def fail(self, message: str) -> str:
        return f"error({self.text(message)})"
