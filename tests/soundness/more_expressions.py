"""More functions of a column in both languages: intervals, calendar fields, products, quotients, null games."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.soundness.columns import ColumnSpec
from tests.soundness.literals import WIDE, WIDEST, Domain, date, domain_of, double, integer, string, timestamp, timestamp_ntz
from tests.soundness.nodes import Said
from tests.soundness.texts import date_text
from tests.soundness.values import DAY, INTEGERS

Maker = Callable[[ColumnSpec, str, Random], Domain | None]
_WIDTH = {"byte": 32, "short": 32, "integer": 32, "long": 64}
_TIMES = ("date", "timestamp", "timestamp_ntz")


def more_makers(column: ColumnSpec) -> list[Maker]:
    """What can be made of a column of this type."""
    makers: list[Maker] = [_null_if]
    if column.type in _TIMES:
        makers += [_moved, _moved, _date_field, _days_between, _last_day]
    if column.type in ("timestamp", "timestamp_ntz"):
        makers += [_time_field]
    if column.type in INTEGERS:
        makers += [_difference, _product, _quotient, _absolute, _extreme]
    if column.type == "double":
        makers += [_double_product, _is_nan]
    if column.type == "float":
        makers += [_is_nan]
    if column.type == "string":
        makers += [_affix, _trimmed]
    return makers


def _days(column: ColumnSpec) -> list[int]:
    return [v if column.type == "date" else v // DAY for v in column.pool]


def _is_roomy(column: ColumnSpec) -> bool:
    return min(_days(column)) > -700_000 and max(_days(column)) < 2_900_000


def _moved(column: ColumnSpec, zone: str, rng: Random) -> Domain | None:
    if not _is_roomy(column):
        return None
    units = ["DAY", "MONTH", "YEAR"] if column.type == "date" else ["DAY", "HOUR", "MINUTE", "MONTH", "SECOND"]
    unit, count = rng.choice(units), rng.choice([1, 2, 13, 31])
    sign = rng.choice(["+", "-"])
    spark = (
        f"{column.spark} {sign} INTERVAL {count} {unit}"
        if rng.random() < 0.5
        else f"{column.spark} {sign} INTERVAL '{count}' {unit}"
    )
    duck = f"({column.duckdb} {sign} INTERVAL {count} {unit})"
    size = {"DAY": DAY, "HOUR": DAY // 24, "MINUTE": 60_000_000, "SECOND": 1_000_000, "MONTH": 30 * DAY, "YEAR": 365 * DAY}[
        unit
    ] * count
    shift = size if sign == "+" else -size
    if column.type == "date":
        return Domain(
            Said(spark, f"CAST({duck} AS DATE)"),
            lambda: date((rng.choice(column.pool) * DAY + shift) // DAY + rng.randint(-2, 2), rng),
        )
    if column.type == "timestamp":
        return Domain(
            Said(spark, duck), lambda: timestamp(rng.choice(column.pool) + shift + rng.choice([0, 0, 1, DAY]), zone, rng)
        )
    return Domain(Said(spark, duck), lambda: timestamp_ntz(rng.choice(column.pool) + shift + rng.choice([0, 0, 1, DAY]), rng))


def _date_field(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word, top = rng.choice(
        [("quarter", 4), ("day", 31), ("dayofmonth", 31), ("dayofweek", 7), ("dayofyear", 366), ("weekofyear", 53)]
    )
    duck = f"(dayofweek({column.duckdb}) + 1)" if word == "dayofweek" else f"{word}({column.duckdb})"
    return Domain(Said(f"{word}({column.spark})", duck), lambda: integer(rng.randint(1, top)))


def _time_field(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["hour", "minute", "second"])
    return Domain(Said(f"{word}({column.spark})", f"{word}({column.duckdb})"), lambda: integer(rng.randint(0, 59)))


def _days_between(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    base = date_text(rng.choice(_days(column)))
    said = Said(f"datediff({column.spark}, DATE '{base}')", f"(CAST({column.duckdb} AS DATE) - DATE '{base}')")
    return Domain(said, lambda: integer(rng.choice(_days(column)) - rng.choice(_days(column)) + rng.randint(-1, 1)))


def _last_day(column: ColumnSpec, _zone: str, rng: Random) -> Domain | None:
    if not _is_roomy(column):
        return None
    return Domain(
        Said(f"last_day({column.spark})", f"last_day({column.duckdb})"),
        lambda: date(rng.choice(_days(column)) + rng.randint(0, 30), rng),
    )


def _wrapped(exact: str, bits: int) -> str:
    half, whole = 2 ** (bits - 1), 2**bits
    return f"(((({exact}) + {half}) % {whole} + {whole}) % {whole} - {half})"


def _int64(value: int) -> int:
    return max(-(2**63) + 1, min(2**63 - 1, value))


def _difference(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.choice([0, 7, 100])
    duck = _wrapped(f"{k} - CAST({column.duckdb} AS HUGEINT)", _WIDTH[column.type])
    return Domain(Said(f"{k} - {column.spark}", duck), lambda: integer(_int64(k - rng.choice(column.pool) + rng.randint(-1, 1))))


def _product(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.choice([0, 1, 2, 3, 10, -2])
    duck = _wrapped(f"{k} * CAST({column.duckdb} AS HUGEINT)", _WIDTH[column.type])
    return Domain(Said(f"{column.spark} * {k}", duck), lambda: integer(_int64(k * rng.choice(column.pool) + rng.randint(-1, 1))))


def _quotient(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.choice([2, 3, 10, -4])
    said = Said(f"{column.spark} / {k}", f"(CAST({column.duckdb} AS DOUBLE) / CAST({k} AS DOUBLE))")
    return Domain(said, lambda: double(float(rng.choice(column.pool)) / k, rng))


def _absolute(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    bits = {"byte": 8, "short": 16, "integer": 32, "long": 64}[column.type]
    duck = _wrapped(f"abs(CAST({column.duckdb} AS HUGEINT))", bits)
    return Domain(Said(f"abs({column.spark})", duck), lambda: integer(_int64(abs(rng.choice(column.pool)) + rng.randint(-1, 1))))


def _extreme(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word, k = rng.choice(["greatest", "least"]), rng.choice(column.pool)
    said = Said(f"{word}({column.spark}, {k})", f"{word}(CAST({column.duckdb} AS HUGEINT), ({k})::HUGEINT)")
    return Domain(said, lambda: integer(_int64(rng.choice(column.pool))))


def _double_product(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k, op = rng.choice([2.0, 0.1, -3.0]), rng.choice(["*", "/", "-"])
    said = Said(f"{column.spark} {op} {k!r}D", f"({column.duckdb} {op} CAST('{k!r}' AS DOUBLE))")
    return Domain(said, lambda: double(float(rng.choice(column.pool)) * (1 if op == "-" else 0.5), rng))


def _is_nan(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    said = Said(f"isnan({column.spark})", f"coalesce(isnan({column.duckdb}), FALSE)")
    return Domain(said, lambda: Said("true", "TRUE") if rng.random() < 0.5 else Said("false", "FALSE"))


def _affix(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word, duck = rng.choice([("endswith", "ends_with"), ("contains", "contains"), ("startswith", "starts_with")])
    piece = string(str(rng.choice(column.pool))[: rng.randint(0, 3)])
    said = Said(f"{word}({column.spark}, {piece.spark})", f"{duck}({column.duckdb}, {piece.duckdb})")
    return Domain(said, lambda: Said("true", "TRUE") if rng.random() < 0.5 else Said("false", "FALSE"))


def _trimmed(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    return Domain(
        Said(f"trim({column.spark})", f"trim({column.duckdb}, ' ')"), lambda: string(str(rng.choice(column.pool)).strip(" "))
    )


def _null_if(column: ColumnSpec, zone: str, rng: Random) -> Domain | None:
    base = domain_of(column, zone, rng)
    gone = base.literal()
    if column.type == "binary" or (gone.spark.startswith("'") and column.type != "string"):
        return None
    return Domain(
        Said(f"nullif({base.column.spark}, {gone.spark})", f"nullif({base.column.duckdb}, {gone.duckdb})"), base.literal
    )


def crossed_columns(left: ColumnSpec, right: ColumnSpec) -> tuple[str, str] | None:
    """How DuckDB must read two columns of different types so that it compares them as Spark does; None when nobody should."""
    types = {left.type, right.type}
    exact = {t for t in types if t in INTEGERS or t.startswith("decimal")}
    reals = types & {"float", "double"}
    if WIDEST in types:
        return (left.duckdb, right.duckdb) if len(types) == 1 else None
    if exact | reals == types:
        if reals and any(t.startswith("decimal") for t in exact):
            return None
        common = "DOUBLE" if reals else WIDE
    elif types <= set(_TIMES):
        common = "TIMESTAMPTZ" if "timestamp" in types else "TIMESTAMP" if "timestamp_ntz" in types else "DATE"
    elif len(types) == 1:
        return left.duckdb, right.duckdb
    else:
        return None
    return f"CAST({left.duckdb} AS {common})", f"CAST({right.duckdb} AS {common})"
