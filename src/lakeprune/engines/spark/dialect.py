"""The dialect in Spark SQL, for the session that engine.py sets up: UTC, ANSI off, decimals that keep their scale.

Needs Spark 4 and nothing else: no connector, no function of our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeprune.engines.dialect import Dialect, Shape


class SparkDialect(Dialect):
    text_map = "MAP<STRING, STRING>"

    def text(self, value: str) -> str:
        # In Spark a backslash escapes, or not, as a setting says, and '' ends a literal and begins the next. Bytes are bytes.
        if value.isprintable() and not set(value) & {"'", "\\"}:
            return f"'{value}'"
        return f"CAST({self.binary(value.encode('utf-8', 'surrogatepass'))} AS STRING)"

    def binary(self, value: bytes) -> str:
        return f"X'{value.hex()}'"

    def identifier(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def parse_json(self, text: str, shape: Shape) -> str:
        return f"from_json({text}, {self.text(self.schema_text(shape))})"

    def schema_text(self, shape: Shape) -> str:
        """The fields of a shape as Spark declares them."""
        return ", ".join(f"{self.identifier(name)} {self._type(kind)}" for name, kind in shape.items())

    def _type(self, kind: str | Shape) -> str:
        if isinstance(kind, Mapping):
            return "STRUCT<" + ", ".join(f"{self.identifier(name)}: {self._type(inner)}" for name, inner in kind.items()) + ">"
        return kind

    def try_cast(self, value: str, type_name: str) -> str:
        return f"try_cast({value} AS {type_name})"

    def micros_of_timestamp(self, text: str) -> str:
        return f"unix_micros(try_cast({text} AS TIMESTAMP))"

    def micros_of_plain_timestamp(self, text: str) -> str:
        return self.micros_of_timestamp(text)

    def days_of_date(self, text: str) -> str:
        return f"CAST(unix_date(try_cast({text} AS DATE)) AS BIGINT)"

    def regexp_matches(self, text: str, pattern: str) -> str:
        return f"regexp_like({text}, {self.text(_java(pattern))})"

    def regexp_replace(self, text: str, pattern: str, replacement: str) -> str:
        return f"regexp_replace({text}, {self.text(_java(pattern))}, {self.text(replacement.replace(chr(92), '$'))})"

    def octet_length(self, text: str) -> str:
        return f"octet_length({text})"

    def rank(self, items: Sequence[str], value: str) -> str:
        steps = ", ".join(str(1 << bit) for bit in reversed(range(len(items).bit_length())))
        reached = f"coalesce({self.item(items, 'found + step')} <= {value}, FALSE)"
        return f"aggregate(array({steps}), 0, (found, step) -> found + CASE WHEN {reached} THEN step ELSE 0 END)"

    def item(self, items: Sequence[str], position: str) -> str:
        return f"get(array({', '.join(items)}), {position} - 1)"

    def starts_with(self, text: str, prefix: str) -> str:
        return f"startswith({text}, {prefix})"

    def map_value(self, map_: str, key: str) -> str:
        return f"try_element_at({map_}, {self.text(key)})"

    def map_has_key(self, map_: str, key: str) -> str:
        return f"coalesce(map_contains_key({map_}, {self.text(key)}), FALSE)"

    def percent_decode(self, text: str) -> str:
        return f"try_url_decode(replace({text}, '+', '%2B'))"  # to Spark a plus is a space, as in a form

    def try_add(self, left: str, right: str) -> str:
        return f"try_add({left}, {right})"

    def total(self, whole_number: str) -> str:
        # Two sums of 64-bit halves, exact for any number of files: a sum of decimals takes ten times as long.
        high, low = (f"CAST(sum({half}) AS DECIMAL(20,0))" for half in _halves(whole_number))
        return f"({high} * 4294967296 + {low})"

    def unfolded(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        structs = ", ".join(f"struct({', '.join(row)})" for row in rows)
        return f"inline(array({structs})) AS ({', '.join(names)})"

    def micros_of(self, timestamp: str) -> str:
        return f"unix_micros(try_cast({timestamp} AS TIMESTAMP))"

    def micros_in_zone(self, text: str, zone: str) -> str:
        return f"unix_micros(to_utc_timestamp(try_cast({text} AS TIMESTAMP), {self.text(zone)}))"

    def utf8_bytes(self, text: str) -> str:
        return f"CAST({text} AS BINARY)"

    def json_object(self, pairs: Sequence[tuple[str, str]]) -> str:
        items = ", ".join(f"{self.text(key)}, {value}" for key, value in pairs)
        return f"to_json(named_struct({items}), map('ignoreNullFields', 'false'))"

    def fail(self, message: str) -> str:
        return f"raise_error({self.text(message)})"


def _halves(whole_number: str) -> tuple[str, str]:
    return f"shiftright({whole_number}, 32)", f"({whole_number}) & 4294967295"


def _java(pattern: str) -> str:
    """In Java `$` also matches before a last line feed.

    >>> _java("^0+|0+$")
    '^0+|0+\\\\z'
    """
    return pattern.replace("$", r"\z")
