"""The dialect in Spark SQL, for the session that engine.py sets up: UTC, ANSI off, decimals that keep their scale.

Needs Spark 3.5 or newer and nothing else: no connector, no function of our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeprune.engines.dialect import Dialect, Form, Shape
from lakeprune.values.names import quote_name


class SparkDialect(Dialect):
    text_map = "MAP<STRING, STRING>"
    try_add = Form("try_add({}, {})")
    days_of_date = Form("CAST(unix_date(try_cast({} AS DATE)) AS BIGINT)")
    micros_of = Form("unix_micros(try_cast({} AS TIMESTAMP))")
    octet_length = Form("octet_length({})")
    starts_with = Form("startswith({}, {})")
    utf8_bytes = Form("CAST({} AS BINARY)")
    bytes_of_bound = Form("try_to_binary({}, 'hex')")
    percent_decode = Form("try_url_decode(replace({}, '+', '%2B'))")  # to Spark a plus is a space, as in a form
    # Two sums of 64-bit halves, exact for any number of files: a sum of decimals takes ten times as long.
    date_of_days = Form("date_from_unix_date(CAST({} AS INT))")
    instant_of_micros = Form("timestamp_micros({})")
    clock_of_micros = Form("CAST(timestamp_micros({}) AS TIMESTAMP_NTZ)")  # the session's zone is UTC
    json_of = Form("to_json({}, map('ignoreNullFields', 'false'))")
    hex_of = Form("lower(hex({}))")
    bytes_of_hex = Form("unhex({})")
    total = Form(
        "(CAST(sum(shiftright({0}, 32)) AS DECIMAL(20,0)) * 4294967296 + CAST(sum(({0}) & 4294967295) AS DECIMAL(20,0)))"
    )

    def text(self, value: str) -> str:
        # In Spark a backslash escapes, or not, as a setting says, and '' ends a literal and begins the next. Bytes are bytes.
        if value.isprintable() and not set(value) & {"'", "\\"}:
            return f"'{value}'"
        return f"CAST({self.binary(value.encode('utf-8', 'surrogatepass'))} AS STRING)"

    def binary(self, value: bytes) -> str:
        return f"X'{value.hex()}'"

    def identifier(self, name: str) -> str:
        return quote_name(name)

    def parse_json(self, text: str, shape: Shape) -> str:
        return f"from_json({text}, {self.text(self.schema_text(shape))})"

    def schema_text(self, shape: Shape) -> str:
        """The fields of a shape as Spark declares them."""
        return ", ".join(f"{self.identifier(name)} {self._type(kind)}" for name, kind in shape.items())

    def _type(self, kind: str | Shape) -> str:
        if isinstance(kind, Mapping):
            return "STRUCT<" + ", ".join(f"{self.identifier(name)}: {self._type(inner)}" for name, inner in kind.items()) + ">"
        return kind

    def micros_of_timestamp(self, text: str) -> str:
        return self.micros_of(text)

    def regexp_matches(self, text: str, pattern: str) -> str:
        return f"regexp_like({text}, {self.text(_java(pattern))})"

    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        return f"regexp_replace({text}, {self.text(_java(pattern))}, {self.text(replacement.replace(chr(92), '$'))})"

    def folded(self, steps: Sequence[str], next_found: str) -> str:
        return f"aggregate(array({', '.join(steps)}), 0, (found, step) -> {next_found})"

    def item(self, items: Sequence[str], position: str) -> str:
        return f"get(array({', '.join(items)}), {position} - 1)"

    def map_value(self, map_: str, key: str) -> str:
        return f"try_element_at({map_}, {self.text(key)})"

    def map_with(self, map_: str, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}, {value}" for key, value in pairs)
        return f"map_concat(coalesce({map_}, CAST(map() AS {self.text_map})), map({items}))"

    def map_has_key(self, map_: str, key: str) -> str:
        return f"coalesce(map_contains_key({map_}, {self.text(key)}), FALSE)"

    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        structs = ", ".join(f"struct({', '.join(row)})" for row in rows)
        return f"inline(array({structs})) AS ({', '.join(names)})"

    def micros_in_zone(self, text: str, zone: str) -> str:
        return f"unix_micros(to_utc_timestamp(try_cast({text} AS TIMESTAMP), {self.text(zone)}))"

    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}, {value}" for key, value in pairs)
        return f"to_json(named_struct({items}), map('ignoreNullFields', 'false'))"

    def struct(self, pairs: Sequence[tuple[str, str]]) -> str:
        return f"named_struct({', '.join(f'{self.text(name)}, {value}' for name, value in pairs)})"

    def list_without_nulls(self, items: Sequence[str], kind: str) -> str:
        return f"filter(CAST(array({', '.join(items)}) AS ARRAY<{kind}>), item -> item IS NOT NULL)"

    def fail(self, message: str, text: str | None = None) -> str:
        more = "" if text is None else f" || coalesce({text}, '')"
        return f"raise_error({self.text(message)}{more})"


class Spark3Dialect(SparkDialect):
    """Spark 3.5, which has no function that decodes a URL and gives NULL where that fails."""

    percent_decode = Form("CASE WHEN NOT regexp_like({0}, '%(?![0-9A-Fa-f]{{2}})') THEN url_decode(replace({0}, '+', '%2B')) END")


def _java(pattern: str) -> str:
    """In Java `$` also matches before a last line feed.

    >>> _java("^0+|0+$")
    '^0+|0+\\\\z'
    """
    return pattern.replace("$", r"\z")
