"""The dialect in DuckDB's SQL. Needs only what is built into DuckDB: json, parquet, core functions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lakeprune.engines.dialect import Dialect, Form, Shape


class DuckDBDialect(Dialect):
    computed_once = "AS MATERIALIZED"
    text_map = "MAP(VARCHAR, VARCHAR)"
    try_add = Form("TRY({} + {})")
    days_of_date = Form("(TRY_CAST({} AS DATE) - DATE '1970-01-01')")
    micros_of = Form("epoch_us(TRY_CAST({} AS TIMESTAMP))")
    octet_length = Form("strlen({})")
    starts_with = Form("starts_with({}, {})")
    utf8_bytes = Form("encode({})")
    bytes_of_bound = Form("TRY_CAST({} AS BLOB)")
    percent_decode = Form("TRY(url_decode({}))")
    total = Form("sum({})")
    date_of_days = Form("(DATE '1970-01-01' + CAST({} AS INTEGER))")
    instant_of_micros = Form("CAST(make_timestamp({}) AS TIMESTAMPTZ)")  # the session's zone is UTC
    clock_of_micros = Form("make_timestamp({})")
    json_of = Form("CAST(to_json({}) AS VARCHAR)")
    hex_of = Form("lower(hex({}))")
    bytes_of_hex = Form("unhex({})")

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

    def micros_of_timestamp(self, text: str) -> str:
        # Seen by running it: a cast to TIMESTAMP silently ignores a numeric offset, and a cast to TIMESTAMPTZ reads text
        # without one in the session's zone. So the text decides which cast is right.
        plain, zoned = self.micros_of(text), f"epoch_us(TRY_CAST({text} AS TIMESTAMPTZ))"
        has_offset = self.regexp_matches(text, r"[T ].*[+-]\d{1,2}(:?\d{2}){0,2}$")
        return f"CASE WHEN {text} LIKE '%Z' THEN {plain} WHEN {has_offset} THEN {zoned} ELSE {plain} END"

    def regexp_matches(self, text: str, pattern: str) -> str:
        return f"regexp_matches({text}, {self.text(pattern)})"

    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        return f"regexp_replace({text}, {self.text(pattern)}, {self.text(replacement)}, 'g')"

    def folded(self, steps: Sequence[str], next_found: str) -> str:
        return f"list_reduce([{', '.join(steps)}], lambda found, step: {next_found}, 0)"

    def item(self, items: Sequence[str], position: str) -> str:
        return f"([{', '.join(items)}])[{position}]"

    def map_value(self, map_: str, key: str) -> str:
        return f"{map_}[{self.text(key)}]"

    def map_with(self, map_: str, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}: {value}" for key, value in pairs)
        return f"map_concat(coalesce({map_}, MAP {{}}), MAP {{{items}}})"

    def map_has_key(self, map_: str, key: str) -> str:
        return f"coalesce(list_contains(map_keys({map_}), {self.text(key)}), FALSE)"

    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        return ", ".join(f"unnest([{', '.join(items)}]) AS {name}" for name, items in columns)

    def micros_in_zone(self, text: str, zone: str) -> str:
        return f"epoch_us(timezone({self.text(zone)}, TRY_CAST({text} AS TIMESTAMP)))"

    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}, {value}" for key, value in pairs)
        return f"CAST(json_object({items}) AS VARCHAR)"

    def struct(self, pairs: Sequence[tuple[str, str]]) -> str:
        return f"struct_pack({', '.join(f'{self.identifier(name)} := {value}' for name, value in pairs)})"

    def list_without_nulls(self, items: Sequence[str], kind: str) -> str:
        listed = f"CAST([{', '.join(items)}] AS {kind}[])"
        return f"list_filter({listed}, lambda item: item IS NOT NULL)" if items else listed

    def fail(self, message: str, text: str | None = None) -> str:
        more = "" if text is None else f" || coalesce({text}, '')"
        return f"error({self.text(message)}{more})"
