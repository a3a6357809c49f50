"""Literals in both languages, and the domain in which a column meets them.

A domain says how DuckDB must read a value so that its comparison is Spark's (wide decimals for exact numbers, doubles where
Spark promotes to double), and gives literals drawn from values of the column and their neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any, Protocol

from tests.generator.nodes import Said
from tests.generator.texts import date_text, instant_of_local, local_of_instant, timestamp_text
from tests.generator.values import DAY, DECIMALS, FLOATS, INTEGERS, NAN, YEAR_1, YEAR_9999, neighbours, to_float32

WIDE = "DECIMAL(38,10)"
WIDEST = "decimal(38,0)"  # which only compares with its own kind
NULL = Said("NULL", "NULL")
FIRST, LAST = -62135596800000000, 253402300799999999


class Value(Protocol):
    """A column, or a function of one, with values that it may take."""

    @property
    def spark(self) -> str: ...
    @property
    def duckdb(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def pool(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class Domain:
    """A value and literals to compare it with; the type is known where the value can be the argument of another function."""

    column: Said
    literal: Callable[[], Said]
    type: str = ""


def domain_of(column: Value, zone: str, rng: Random) -> Domain:
    """A way to compare this value with literals."""
    ref, t = Said(column.spark, column.duckdb), column.type
    if t in INTEGERS or t in DECIMALS:
        if (t in INTEGERS or t == "decimal(5,2)") and rng.random() < 0.12:
            return Domain(_cast(ref, "DOUBLE"), lambda: double(float(_near(column, rng)) + rng.choice([0, 0.5, -0.25]), rng))
        if t == WIDEST:
            return Domain(ref, lambda: _widest(_near(column, rng)))
        return Domain(_cast(ref, WIDE), lambda: _exact(_near(column, rng), t, rng))
    if t in FLOATS:
        if t == "float" and rng.random() < 0.4:
            return Domain(ref, lambda: float32(to_float32(_near_or_nan(column, rng)), rng))
        return Domain(_cast(ref, "DOUBLE"), lambda: double(_near_or_nan(column, rng), rng))
    if t == "string":
        return Domain(ref, lambda: string(_near(column, rng)))
    if t == "binary":
        return Domain(ref, lambda: binary(_near(column, rng)))
    if t == "boolean":
        return Domain(ref, lambda: rng.choice([Said("true", "TRUE"), Said("FALSE", "FALSE")]))
    if t == "date":
        if rng.random() < 0.15:
            offsets = (0, 1, -1, 3_600_000_000)
            return Domain(
                _cast(ref, "TIMESTAMPTZ"),
                lambda: timestamp(_near(column, rng) * DAY + rng.choice(offsets), zone, rng, bare=False),
            )
        return Domain(ref, lambda: date(_near(column, rng), rng))
    if t == "timestamp":
        return Domain(ref, lambda: _moment(_near(column, rng), zone, rng))
    return Domain(ref, lambda: _wall_time(_near(column, rng), rng))


def own_literal(value: Value, zone: str, rng: Random) -> Said | None:
    """A literal of exactly the type of the value, whatever it stands beside; None where Spark has no way to write one."""
    t = value.type
    if t in ("integer", "long"):
        number = rng.choice(value.pool)
        return Said(f"CAST({number} AS INT)" if t == "integer" else f"CAST({number} AS BIGINT)", f"({number})::HUGEINT")
    if t in ("string", "boolean", "double"):
        return domain_of(value, zone, rng).literal()
    if t == "date":
        text = date_text(max(YEAR_1, min(YEAR_9999, rng.choice(value.pool))))
        return Said(f"DATE '{text}'", f"DATE '{text}'")
    if t == "timestamp":
        return timestamp(rng.choice(value.pool), zone, rng, bare=False)
    if t == "timestamp_ntz":
        return timestamp_ntz(rng.choice(value.pool), rng, bare=False)
    return None


def string(value: str) -> Said:
    return Said(spark_text(value), duckdb_text(value))


def binary(value: bytes) -> Said:
    return Said(f"X'{value.hex()}'", f"unhex('{value.hex()}')")


def integer(value: int) -> Said:
    return Said(str(value), f"({value})::HUGEINT")


def double(value: float, rng: Random) -> Said:
    duck = f"CAST('{value!r}' AS DOUBLE)"
    if math.isnan(value) or math.isinf(value):
        word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return Said(rng.choice([f"CAST('{word}' AS DOUBLE)", f"double('{word}')"]), f"CAST('{word}' AS DOUBLE)")
    return Said(rng.choice([f"{value!r}D", f"CAST('{value!r}' AS DOUBLE)"]), duck)


def float32(value: float, rng: Random) -> Said:
    if math.isnan(value) or math.isinf(value):
        word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return Said(f"CAST('{word}' AS FLOAT)", f"CAST('{word}' AS FLOAT)")
    spelling = rng.choice([f"{value!r}F", f"CAST('{value!r}' AS FLOAT)", f"float('{value!r}')"])
    return Said(spelling, f"CAST(CAST('{value!r}' AS DOUBLE) AS FLOAT)")


def date(days: int, rng: Random) -> Said:
    text = date_text(max(YEAR_1, min(YEAR_9999, days)))
    return Said(rng.choice([f"DATE '{text}'", f"'{text}'", f"date('{text}')", f"to_date('{text}')"]), f"DATE '{text}'")


def timestamp(micros: int, zone: str, rng: Random, *, bare: bool = True) -> Said:
    """An instant, spelled with an offset or as wall-clock time of the session zone; `bare` allows a plain string."""
    instant = max(FIRST + 2 * DAY, min(LAST - 2 * DAY, micros))
    spark = rng.choice(["TIMESTAMP '{}'", "timestamp('{}')", "CAST('{}' AS TIMESTAMP)", *(["'{}'"] if bare else [])])
    if rng.random() < 0.5:
        return Said(spark.format(timestamp_text(instant) + "Z"), instant_sql(instant))
    local = local_of_instant(instant, zone)
    return Said(spark.format(timestamp_text(local)), instant_sql(instant_of_local(local, zone)))


def timestamp_ntz(micros: int, rng: Random, *, bare: bool = True) -> Said:
    text = timestamp_text(max(FIRST, min(LAST, micros)))
    plain = [f"'{text}'"] if bare else []
    return Said(rng.choice([f"TIMESTAMP_NTZ '{text}'", f"CAST('{text}' AS TIMESTAMP_NTZ)", *plain]), f"TIMESTAMP '{text}'")


def instant_sql(micros: int) -> str:
    return f"CAST('{timestamp_text(micros)}+00' AS TIMESTAMPTZ)"


def spark_text(value: str) -> str:
    """A Spark string literal: backslash is an escape, and a doubled quote would be two literals side by side."""
    out = [f"\\u{ord(c):04x}" if c == "\x00" else {"\\": "\\\\", "'": "\\'"}.get(c, c) for c in value]
    return "'" + "".join(out) + "'"


def duckdb_text(value: str) -> str:
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return f"decode(unhex('{value.encode().hex()}'))"


def duckdb_value(value: Any, type_: str) -> str:
    """A canonical value of the type as DuckDB reads it, for partition columns."""
    if value is None:
        return "NULL"
    if type_ == "string":
        return duckdb_text(value)
    if type_ == "date":
        return f"DATE '{date_text(value)}'"
    if type_ == "timestamp":
        return instant_sql(value)
    if type_ == "timestamp_ntz":
        return f"TIMESTAMP '{timestamp_text(value)}'"
    return f"'{value!r}'" if isinstance(value, float) else f"'{value}'"


def _cast(ref: Said, type_name: str) -> Said:
    return Said(ref.spark, f"CAST({ref.duckdb} AS {type_name})")


def _near(column: Value, rng: Random) -> Any:
    value = rng.choice(column.pool)
    return rng.choice(neighbours(value, column.type)) if rng.random() < 0.6 else value


def _moment(micros: int, zone: str, rng: Random) -> Said:
    """An instant, sometimes as a date or a wall-clock time, which Spark takes in the zone of the session."""
    if rng.random() > 0.12:
        return timestamp(micros, zone, rng)
    day = max(FIRST + 2 * DAY, min(LAST - 2 * DAY, micros))
    other = date(day // DAY, rng) if rng.random() < 0.5 else timestamp_ntz(day, rng, bare=False)
    return Said(other.spark, f"CAST({other.duckdb} AS TIMESTAMPTZ)")


def _wall_time(micros: int, rng: Random) -> Said:
    if rng.random() > 0.08:
        return timestamp_ntz(micros, rng)
    day = date(micros // DAY, rng)
    return Said(day.spark, f"CAST({day.duckdb} AS TIMESTAMP)")


def _near_or_nan(column: Value, rng: Random) -> float:
    return NAN if rng.random() < 0.08 else float(_near(column, rng))


def _widest(value: Decimal) -> Said:
    whole = int(value)
    text = str(whole if abs(whole) < 10**38 else 0)
    return Said(text, f"CAST('{text}' AS {WIDEST})")


def _exact(value: Any, type_: str, rng: Random) -> Said:
    dice = rng.random()
    exact = Decimal(value)
    if dice < 0.1 and type_ in INTEGERS:
        exact = Decimal(f"{int(exact)}.5")
    elif dice < 0.16:
        exact = Decimal(rng.choice([10**12, -(10**12), 10**20, -(10**20), 2**63, -(2**63) - 1]))
    if abs(exact) >= Decimal(10) ** 28 or -int(exact.as_tuple().exponent) > 10:
        exact = Decimal(rng.choice([0, 1, -1]))
    text = f"{exact:f}"
    quoted = type_ in INTEGERS and "." not in text and abs(exact) < 2**62 and rng.random() < 0.1
    return Said(f"'{text}'" if quoted else text, f"CAST('{text}' AS {WIDE})")
