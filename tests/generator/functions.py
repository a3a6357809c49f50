"""A function of a column, or a function of that: in both languages wherever the two can be made to agree exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.generator import numbers, times
from tests.generator.literals import WIDEST, Domain, Value, domain_of, duckdb_text, integer, own_literal, string
from tests.generator.nodes import UNJUDGED, Said
from tests.generator.values import DECIMALS, INTEGERS, in_zone, pool

Maker = Callable[[Value, str, Random], Domain | None]
_OPS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Made:
    """A value that a function made: the argument of the next one."""

    spark: str
    duckdb: str
    type: str
    pool: tuple[Any, ...]


def function_of(column: Value, zone: str, rng: Random, *, judged: bool) -> Domain | None:
    """A value made of the column by one function or two; None when there is none for its type."""
    domain = rng.choice(_makers(column, judged=judged))(column, zone, rng)
    if domain is None or not domain.type or rng.random() < (0.8 if judged else 0.5):
        return domain
    if domain.type in times.TIMES and (column.type not in times.TIMES or not times.is_roomy(column)):
        return domain
    values = column.pool if domain.type == column.type else tuple(in_zone(pool(domain.type, rng), domain.type, zone))
    inside = Made(f"({domain.column.spark})", domain.column.duckdb, domain.type, values)
    return rng.choice(_makers(inside, judged=judged))(inside, zone, rng) or domain


def _makers(value: Value, *, judged: bool) -> Sequence[Maker]:
    makers: list[Maker] = [_coalesced, _conditional, _branches, _null_if]
    if value.type in times.TIMES:
        makers += [times.year, times.month, times.truncated, times.day, times.moved] * 2
        makers += [times.date_field, times.days_between, times.last_day, times.shifted_day]
    if value.type in ("timestamp", "timestamp_ntz"):
        makers += [times.time_field]
    if value.type == "timestamp":
        makers += [times.unix_time] * 2
    if value.type == "string":
        makers += [_prefix] * 3 + [_letter_case, _length, _joined, _affix, _trimmed]
    if value.type in INTEGERS:
        makers += [numbers.plus] * 3 + [numbers.negated, numbers.widened, numbers.remainder, numbers.minus_from, numbers.times]
        makers += [numbers.divided, numbers.absolute, numbers.extreme, numbers.plus_double, numbers.rounded_integer]
    if value.type == "double":
        makers += [numbers.rounded, numbers.plus_double, numbers.double_product, numbers.double_sign, numbers.is_nan]
    if value.type == "float":
        makers += [numbers.float_as_double, numbers.is_nan]
    if value.type in DECIMALS and value.type != WIDEST:
        makers += [numbers.rounded_decimal, numbers.decimal_sum, numbers.decimal_as_integer]
    return makers if judged else [*makers, *_unjudged(value)]


def _unjudged(value: Value) -> Sequence[Maker]:
    """What has no exact equal in DuckDB."""
    if value.type in times.TIMES:
        return [times.truncated_otherwise, times.as_another_time, times.shifted_month, times.unix_time, times.time_field]
    if value.type in INTEGERS or value.type in DECIMALS or value.type in ("float", "double"):
        return [numbers.narrowed] * 2
    return [_substring] if value.type == "string" else []


def partition_leaf(columns: Sequence[Value], rng: Random) -> Said | None:
    """An expression over several partition columns, or a pattern on one."""
    texts = [c for c in columns if c.type == "string" and _is_plain(c)]
    integers = [c for c in columns if c.type in ("integer", "long")]
    if len(texts) > 1 or (texts and integers):
        left, right = texts[0], (texts[1] if len(texts) > 1 else integers[0])
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
    if integers:
        column = integers[0]
        k = rng.randint(2, 5)
        return Said(f"{column.spark} % {k} = {k - 1}", f"CAST({column.duckdb} AS HUGEINT) % {k} = {k - 1}")
    return None


def _is_plain(value: Value) -> bool:
    return all(str(v).isascii() for v in value.pool)


def _coalesced(value: Value, zone: str, rng: Random) -> Domain | None:
    base, own = domain_of(value, zone, rng), own_literal(value, zone, rng)
    word = rng.choice(["coalesce", "nvl", "ifnull"])
    if own is not None and rng.random() < 0.5:
        said = Said(f"{word}({value.spark}, {own.spark})", f"coalesce({value.duckdb}, {own.duckdb})")
        return Domain(Said(said.spark, _as_in(base, value, said.duckdb)), base.literal)
    fallback = base.literal()
    if value.type == "binary" or (fallback.spark.startswith("'") and value.type != "string"):
        return None  # a bare string would make the result a string
    return Domain(
        Said(f"{word}({base.column.spark}, {fallback.spark})", f"coalesce({base.column.duckdb}, {fallback.duckdb})"), base.literal
    )


def _as_in(domain: Domain, value: Value, duckdb: str) -> str:
    """A text in place of the value, read by DuckDB as the domain reads the value."""
    return domain.column.duckdb.replace(value.duckdb, f"({duckdb})", 1)


def _test(value: Value, zone: str, rng: Random) -> Said:
    base = domain_of(value, zone, rng)
    op, literal = rng.choice(_OPS), base.literal()
    return Said(f"{base.column.spark} {op} {literal.spark}", f"{base.column.duckdb} {op} {literal.duckdb}")


def _conditional(value: Value, zone: str, rng: Random) -> Domain:
    test = _test(value, zone, rng)
    a, b = rng.sample([1, 2, 3], 2)
    spark = rng.choice([f"if({test.spark}, {a}, {b})", f"CASE WHEN {test.spark} THEN {a} ELSE {b} END"])
    said = Said(spark, f"CASE WHEN {test.duckdb} THEN {a}::HUGEINT ELSE {b}::HUGEINT END")
    return Domain(said, lambda: integer(rng.randint(1, 3)), "integer")


def _branches(value: Value, zone: str, rng: Random) -> Domain | None:
    """The value itself in some rows, another one in others: under one condition or two."""
    one, other = own_literal(value, zone, rng), own_literal(value, zone, rng)
    if one is None or other is None:
        return None
    base, first, second = domain_of(value, zone, rng), _test(value, zone, rng), _test(value, zone, rng)
    if rng.random() < 0.5:
        spark = f"if({first.spark}, {one.spark}, {value.spark})"
        duck = f"CASE WHEN {first.duckdb} THEN {one.duckdb} ELSE {value.duckdb} END"
    else:
        tail = rng.choice([other, Said("NULL", "NULL")])
        spark = f"CASE WHEN {first.spark} THEN {one.spark} WHEN {second.spark} THEN {value.spark} ELSE {tail.spark} END"
        duck = f"CASE WHEN {first.duckdb} THEN {one.duckdb} WHEN {second.duckdb} THEN {value.duckdb} ELSE {tail.duckdb} END"
    return Domain(Said(spark, _as_in(base, value, duck)), base.literal)


def _null_if(value: Value, zone: str, rng: Random) -> Domain | None:
    base = domain_of(value, zone, rng)
    gone = base.literal()
    if value.type == "binary" or (gone.spark.startswith("'") and value.type != "string"):
        return None
    said = Said(f"nullif({base.column.spark}, {gone.spark})", f"nullif({base.column.duckdb}, {gone.duckdb})")
    return Domain(said, base.literal)


def _prefix(value: Value, _zone: str, rng: Random) -> Domain:
    size = rng.choice([0, 1, 2, 3, 31, 32, 33])
    spark = rng.choice(["substr({}, 1, {})", "left({}, {})", "substring({}, 1, {})"]).format(value.spark, size)

    def literal() -> Said:
        return string(str(rng.choice(value.pool))[: rng.choice([size, size, size, size + 1, max(0, size - 1)])])

    return Domain(Said(spark, f"substring({value.duckdb}, 1, {size})"), literal, "string")


def _substring(value: Value, _zone: str, rng: Random) -> Domain:
    start, size = rng.choice([0, 1, 2, -2]), rng.randint(0, 3)
    said = Said(f"substring({value.spark}, {start}, {size})", UNJUDGED)
    return Domain(said, lambda: string(str(rng.choice(value.pool))[max(0, start - 1) :][:size]), "string")


def _letter_case(value: Value, _zone: str, rng: Random) -> Domain | None:
    if not _is_plain(value):
        return None
    word = rng.choice(["lower", "upper"])
    said = Said(f"{word}({value.spark})", f"{word}({value.duckdb})")
    return Domain(said, lambda: string(getattr(str(rng.choice(value.pool)), word)()), "string")


def _length(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"length({value.spark})", f"length({value.duckdb})")
    return Domain(said, lambda: integer(len(rng.choice(value.pool))), "integer")


def _joined(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"concat({value.spark}, 'x')", f"({value.duckdb} || 'x')")
    return Domain(said, lambda: string(str(rng.choice(value.pool)) + rng.choice(["x", "x", "y"])), "string")


def _affix(value: Value, _zone: str, rng: Random) -> Domain:
    word, duck = rng.choice([("endswith", "ends_with"), ("contains", "contains"), ("startswith", "starts_with")])
    piece = string(str(rng.choice(value.pool))[: rng.randint(0, 3)])
    said = Said(f"{word}({value.spark}, {piece.spark})", f"{duck}({value.duckdb}, {piece.duckdb})")
    return Domain(said, lambda: Said("true", "TRUE") if rng.random() < 0.5 else Said("false", "FALSE"), "boolean")


def _trimmed(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"trim({value.spark})", f"trim({value.duckdb}, ' ')")
    return Domain(said, lambda: string(str(rng.choice(value.pool)).strip(" ")), "string")
