"""Conditions on a function of a column, in both languages, wherever the two can be made to agree exactly.

Integer arithmetic wraps here, as Spark does with ANSI mode off: with ANSI mode on such a row is an error, and no answer is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.soundness.columns import ColumnSpec
from tests.soundness.literals import (
    WIDE,
    WIDEST,
    Domain,
    date,
    domain_of,
    double,
    duckdb_text,
    integer,
    string,
    timestamp,
    timestamp_ntz,
)
from tests.soundness.more_expressions import more_makers
from tests.soundness.nodes import Said
from tests.soundness.texts import date_text
from tests.soundness.values import DECIMALS, INTEGERS

_OPS = ("=", "<>", "<", "<=", ">", ">=")
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_WIDTH = {"byte": 32, "short": 32, "integer": 32, "long": 64}  # of `column + 3`: the literal is an int
Maker = Callable[[ColumnSpec, str, Random], Domain | None]


def expression_leaf(column: ColumnSpec, zone: str, rng: Random) -> Said | None:
    """A comparison, IN, BETWEEN or null test on a function of the column; None when there is none for its type."""
    makers: list[Maker] = [_coalesced, _conditional]
    if column.type in ("date", "timestamp", "timestamp_ntz"):
        makers += [_year, _month, _truncated, _day, _shifted_day] * 2
    if column.type == "timestamp":
        makers += [_unix_time] * 2
    if column.type == "string":
        makers += [_prefix] * 3 + [_letter_case, _length, _joined]
    if column.type in INTEGERS:
        makers += [_sum] * 3 + [_negated, _widened_integer, _remainder]
    if column.type == "double":
        makers += [_rounded, _double_sum]
    if column.type in DECIMALS and column.type != WIDEST:
        makers += [_rounded_decimal, _decimal_sum, _decimal_as_integer]
    if column.type == "float":
        makers += [_float_as_double]
    domain = rng.choice([*makers, *more_makers(column)])(column, zone, rng)
    return None if domain is None else _condition(domain, rng)


def partition_leaf(columns: Sequence[ColumnSpec], rng: Random) -> Said | None:
    """An expression over several partition columns, or a pattern on one."""
    texts = [c for c in columns if c.type == "string" and _is_plain(c)]
    numbers = [c for c in columns if c.type in ("integer", "long")]
    if len(texts) > 1 or (texts and numbers):
        left, right = texts[0], (texts[1] if len(texts) > 1 else numbers[0])
        value = f"{rng.choice(texts[0].pool)}-{rng.choice(right.pool)}"
        spark = f"concat({left.spark}, '-', {right.spark}) = {string(value).spark}"
        return Said(spark, f"({left.duckdb} || '-' || CAST({right.duckdb} AS VARCHAR)) = {duckdb_text(value)}")
    if texts:
        column = rng.choice(texts)
        piece = str(rng.choice(column.pool))[:1]
        if piece.isalnum() and piece.isascii():
            return rng.choice([
                Said(f"{column.spark} LIKE '%{piece}%'", f"{column.duckdb} LIKE '%{piece}%'"),
                Said(f"{column.spark} RLIKE '{piece}+'", f"regexp_matches({column.duckdb}, '{piece}+')"),
                Said(f"{column.spark} ILIKE '{piece}%'", f"{column.duckdb} ILIKE '{piece}%'"),
            ])  # fmt: skip
    if numbers:
        column = numbers[0]
        k = rng.randint(2, 5)
        return Said(f"{column.spark} % {k} = {k - 1}", f"CAST({column.duckdb} AS HUGEINT) % {k} = {k - 1}")
    return None


def _condition(domain: Domain, rng: Random) -> Said:
    column = domain.column
    dice = rng.random()
    if dice < 0.6:
        op, literal = rng.choice(_OPS), domain.literal()
        if rng.random() < 0.2:
            return Said(f"{literal.spark} {op} {column.spark}", f"{literal.duckdb} {op} {column.duckdb}")
        return Said(f"{column.spark} {op} {literal.spark}", f"{column.duckdb} {op} {literal.duckdb}")
    if dice < 0.75:
        low, high, word = domain.literal(), domain.literal(), rng.choice(["BETWEEN", "NOT BETWEEN"])
        return Said(
            f"{column.spark} {word} {low.spark} AND {high.spark}", f"{column.duckdb} {word} {low.duckdb} AND {high.duckdb}"
        )
    if dice < 0.9:
        options, word = [domain.literal() for _ in range(rng.randint(1, 4))], rng.choice(["IN", "NOT IN"])
        return Said(
            f"{column.spark} {word} ({', '.join(o.spark for o in options)})",
            f"{column.duckdb} {word} ({', '.join(o.duckdb for o in options)})",
        )
    suffix = rng.choice(["IS NULL", "IS NOT NULL"])
    return Said(f"{column.spark} {suffix}", f"({column.duckdb}) {suffix}")


def _is_plain(column: ColumnSpec) -> bool:
    return all(str(v).isascii() for v in column.pool)


def _of(column: ColumnSpec, rng: Random) -> int:
    value = rng.choice(column.pool)
    return int(value) if column.type == "date" else int(value // 86_400_000_000)


def _year(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    def literal() -> Said:
        return integer(max(1, int(date_text(_of(column, rng))[:4]) + rng.choice([0, 0, -1, 1])))

    return Domain(Said(f"year({column.spark})", f"year({column.duckdb})"), literal)


def _month(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    return Domain(Said(f"month({column.spark})", f"month({column.duckdb})"), lambda: integer(rng.randint(1, 12)))


def _truncated(column: ColumnSpec, zone: str, rng: Random) -> Domain | None:
    unit = rng.choice(_UNITS)
    if column.type == "date":
        unit = rng.choice(["year", "quarter", "month", "week"])
        word = {"year": "YEAR", "quarter": "QUARTER", "month": "MM", "week": "WEEK"}[unit]
        made = Said(f"trunc({column.spark}, '{word}')", f"CAST(date_trunc('{unit}', {column.duckdb}) AS DATE)")
        return Domain(made, lambda: _cut_date(_of(column, rng), unit, rng))
    said = Said(f"date_trunc('{unit.upper()}', {column.spark})", f"date_trunc('{unit}', {column.duckdb})")
    if column.type == "timestamp_ntz":
        return Domain(said, lambda: timestamp_ntz(_cut_micros(rng.choice(column.pool), unit, rng), rng))
    return Domain(said, lambda: timestamp(_cut_micros(rng.choice(column.pool), unit, rng), zone, rng))


def _cut_date(days: int, unit: str, rng: Random) -> Said:
    text = date_text(days)
    cut = {"year": f"{text[:4]}-01-01", "month": f"{text[:7]}-01"}.get(unit, text)
    return Said(f"DATE '{cut}'", f"DATE '{cut}'") if rng.random() < 0.7 else date(days, rng)


def _cut_micros(micros: int, unit: str, rng: Random) -> int:
    size = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}.get(unit, 86_400_000_000)
    return micros // size * size if rng.random() < 0.7 else micros


def _day(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    spark = rng.choice(["to_date({})", "date({})", "cast({} as date)"]).format(column.spark)
    return Domain(Said(spark, f"CAST({column.duckdb} AS DATE)"), lambda: date(_of(column, rng) + rng.choice([0, 0, 1, -1]), rng))


def _shifted_day(column: ColumnSpec, _zone: str, rng: Random) -> Domain | None:
    if column.type != "date" or min(column.pool) < -700000 or max(column.pool) > 2900000:
        return None
    days = rng.randint(-40, 40)
    spark = rng.choice([f"date_add({column.spark}, {days})", f"date_sub({column.spark}, {-days})"])
    return Domain(
        Said(spark, f"({column.duckdb} + ({days}))"), lambda: date(_of(column, rng) + days + rng.choice([0, 1, -1]), rng)
    )


def _unix_time(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    micros = f"epoch_us({column.duckdb})"
    seconds = f"CAST(({micros} - ((({micros} % 1000000) + 1000000) % 1000000)) // 1000000 AS HUGEINT)"
    spark = rng.choice(["unix_timestamp({})", "unix_timestamp({})", "cast({} as bigint)"]).format(column.spark)
    return Domain(Said(spark, seconds), lambda: integer(rng.choice(column.pool) // 1_000_000 + rng.choice([0, 0, 1, -1])))


def _prefix(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    size = rng.choice([0, 1, 2, 3, 31, 32, 33])
    spark = rng.choice(
        [f"substr({column.spark}, 1, {size})", f"left({column.spark}, {size})", f"substring({column.spark}, 1, {size})"]
    )

    def literal() -> Said:
        value = str(rng.choice(column.pool))
        return string(value[: rng.choice([size, size, size, size + 1, max(0, size - 1)])])

    return Domain(Said(spark, f"substring({column.duckdb}, 1, {size})"), literal)


def _letter_case(column: ColumnSpec, _zone: str, rng: Random) -> Domain | None:
    if not _is_plain(column):
        return None
    word = rng.choice(["lower", "upper"])
    return Domain(
        Said(f"{word}({column.spark})", f"{word}({column.duckdb})"), lambda: string(getattr(str(rng.choice(column.pool)), word)())
    )


def _length(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    return Domain(Said(f"length({column.spark})", f"length({column.duckdb})"), lambda: integer(len(rng.choice(column.pool))))


def _joined(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    said = Said(f"concat({column.spark}, 'x')", f"({column.duckdb} || 'x')")
    return Domain(said, lambda: string(str(rng.choice(column.pool)) + rng.choice(["x", "x", "y"])))


def _wrapped(exact: str, bits: int) -> str:
    half, whole = 2 ** (bits - 1), 2**bits
    return f"(((({exact}) + {half}) % {whole} + {whole}) % {whole} - {half})"


def _sum(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.choice([1, 2, 7, 100, 2**31 - 1])
    sign, spark = rng.choice([(1, f"{column.spark} + {k}"), (1, f"{k} + {column.spark}"), (-1, f"{column.spark} - {k}")])
    duck = _wrapped(f"CAST({column.duckdb} AS HUGEINT) + ({sign * k})", _WIDTH[column.type])
    return Domain(Said(spark, duck), lambda: integer(_int64(rng.choice(column.pool) + sign * k + rng.choice([0, 0, 1, -1]))))


def _negated(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    bits = {"byte": 8, "short": 16, "integer": 32, "long": 64}[column.type]
    duck = _wrapped(f"-CAST({column.duckdb} AS HUGEINT)", bits)
    return Domain(Said(f"-{column.spark}", duck), lambda: integer(_int64(-rng.choice(column.pool) + rng.choice([0, 1, -1]))))


def _int64(value: int) -> int:
    return max(-(2**63) + 1, min(2**63 - 1, value))


def _widened_integer(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    target = rng.choice(["bigint", "decimal(20,0)", "double"])
    if target == "double":
        said = Said(f"cast({column.spark} as double)", f"CAST({column.duckdb} AS DOUBLE)")
        return Domain(said, lambda: double(float(rng.choice(column.pool)) + rng.choice([0, 0.5]), rng))
    said = Said(f"cast({column.spark} as {target})", f"CAST({column.duckdb} AS HUGEINT)")
    return Domain(said, lambda: integer(_int64(rng.choice(column.pool) + rng.choice([0, 1, -1]))))


def _remainder(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.randint(2, 9)
    said = Said(f"{column.spark} % {k}", f"(CAST({column.duckdb} AS HUGEINT) % {k})")
    return Domain(said, lambda: integer(rng.randint(-k, k)))


def _rounded(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["floor", "ceil"])
    c, top = column.duckdb, 2**63
    # Spark goes through Java's long: NaN becomes 0 and everything else is clamped.
    limits = f"WHEN {c} >= {top}::DOUBLE THEN {top - 1}::HUGEINT WHEN {c} < {-top}::DOUBLE THEN ({-top})::HUGEINT"
    duck = f"CASE WHEN isnan({c}) THEN 0::HUGEINT {limits} ELSE CAST({word}({c}) AS HUGEINT) END"
    return Domain(
        Said(f"{word}({column.spark})", duck), lambda: integer(_clamped(rng.choice(column.pool)) + rng.choice([0, 0, 1, -1]))
    )


def _clamped(value: float) -> int:
    return int(max(-1e15, min(1e15, value)) // 1)


def _double_sum(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    k = rng.choice([1.0, 0.1, 2.5])
    said = Said(f"{column.spark} + {k!r}D", f"({column.duckdb} + CAST('{k!r}' AS DOUBLE))")
    return Domain(said, lambda: double(rng.choice(column.pool) + k, rng))


def _rounded_decimal(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["floor", "ceil"])
    said = Said(f"{word}({column.spark})", f"CAST({word}({column.duckdb}) AS {WIDE})")
    return Domain(said, lambda: _wide_integer(int(rng.choice(column.pool)) + rng.choice([0, 1, -1])))


def _wide_integer(value: int) -> Said:
    kept = value if abs(value) < 10**27 else 1
    return Said(str(kept), f"CAST('{kept}' AS {WIDE})")


def _decimal_sum(column: ColumnSpec, _zone: str, rng: Random) -> Domain | None:
    if column.type == "decimal(38,10)":
        return None
    k = rng.choice([1, 7])
    said = Said(f"{column.spark} + {k}", f"(CAST({column.duckdb} AS {WIDE}) + {k})")
    return Domain(said, lambda: _wide_integer(int(rng.choice(column.pool)) + k))


def _decimal_as_integer(column: ColumnSpec, _zone: str, rng: Random) -> Domain | None:
    if column.type == "decimal(38,10)":
        return None
    said = Said(f"cast({column.spark} as bigint)", f"CAST(trunc({column.duckdb}) AS HUGEINT)")
    return Domain(said, lambda: integer(int(rng.choice(column.pool)) + rng.choice([0, 1, -1])))


def _float_as_double(column: ColumnSpec, _zone: str, rng: Random) -> Domain:
    said = Said(f"cast({column.spark} as double)", f"CAST({column.duckdb} AS DOUBLE)")
    return Domain(said, lambda: double(rng.choice(column.pool), rng))


def _coalesced(column: ColumnSpec, zone: str, rng: Random) -> Domain | None:
    if column.type == "binary":
        return None
    base = domain_of(column, zone, rng)
    fallback = base.literal()
    if fallback.spark.startswith("'") and column.type != "string":
        return None  # a bare string would make the result a string
    spark = rng.choice(["coalesce({}, {})", "nvl({}, {})", "ifnull({}, {})"]).format(base.column.spark, fallback.spark)
    return Domain(Said(spark, f"coalesce({base.column.duckdb}, {fallback.duckdb})"), base.literal)


def _conditional(column: ColumnSpec, zone: str, rng: Random) -> Domain | None:
    base = domain_of(column, zone, rng)
    op, literal = rng.choice(_OPS), base.literal()
    test = Said(f"{base.column.spark} {op} {literal.spark}", f"{base.column.duckdb} {op} {literal.duckdb}")
    a, b = rng.sample([1, 2, 3], 2)
    spark = rng.choice([f"if({test.spark}, {a}, {b})", f"CASE WHEN {test.spark} THEN {a} ELSE {b} END"])
    said = Said(spark, f"CASE WHEN {test.duckdb} THEN {a}::HUGEINT ELSE {b}::HUGEINT END")
    return Domain(said, lambda: integer(rng.randint(1, 3)))
