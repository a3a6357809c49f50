"""Conditions on a value: comparisons, lists, ranges, null tests and patterns, and two columns compared."""

from __future__ import annotations

from random import Random

from tests.generator.columns import ColumnSpec
from tests.generator.literals import NULL, WIDE, WIDEST, Domain, Value, duckdb_text, spark_text
from tests.generator.nodes import UNJUDGED, Said
from tests.generator.times import TIMES
from tests.generator.values import INTEGERS

_OPERATORS = {"=": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED = {"=": "=", "!=": "!=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def condition(domain: Domain, rng: Random) -> Said:
    """Any condition that takes literals of the domain."""
    return rng.choice([_comparison] * 5 + [_in] * 2 + [_between] * 2 + [_null_safe, _null_test])(domain, rng)


def _comparison(domain: Domain, rng: Random) -> Said:
    op = rng.choice(list(_OPERATORS))
    literal = NULL if rng.random() < 0.03 else domain.literal()
    duck = f"{domain.column.duckdb} {_OPERATORS[op]} {literal.duckdb}"
    if rng.random() < 0.25:
        return Said(f"{literal.spark} {_MIRRORED[op]} {domain.column.spark}", duck)
    return Said(f"{domain.column.spark} {op} {literal.spark}", duck)


def _null_safe(domain: Domain, rng: Random) -> Said:
    literal = NULL if rng.random() < 0.25 else domain.literal()
    spark, same = rng.choice([("<=>", True), ("IS DISTINCT FROM", False), ("IS NOT DISTINCT FROM", True)])
    word = "IS NOT DISTINCT FROM" if same else "IS DISTINCT FROM"
    return Said(f"{domain.column.spark} {spark} {literal.spark}", f"{domain.column.duckdb} {word} {literal.duckdb}")


def _in(domain: Domain, rng: Random) -> Said:
    count = rng.choice([1, 2, 3, 4, 9, 14, 40])
    literals = [NULL if rng.random() < 0.03 else domain.literal() for _ in range(count)]
    word = rng.choice(["IN", "NOT IN"])
    return Said(
        f"{domain.column.spark} {word} ({', '.join(x.spark for x in literals)})",
        f"{domain.column.duckdb} {word} ({', '.join(x.duckdb for x in literals)})",
    )


def _between(domain: Domain, rng: Random) -> Said:
    low, high = domain.literal(), domain.literal()
    word = rng.choice(["BETWEEN", "BETWEEN", "NOT BETWEEN"])
    return Said(
        f"{domain.column.spark} {word} {low.spark} AND {high.spark}",
        f"{domain.column.duckdb} {word} {low.duckdb} AND {high.duckdb}",
    )


def _null_test(domain: Domain, rng: Random) -> Said:
    word = rng.choice(["IS NULL", "IS NOT NULL"])
    return Said(f"{domain.column.spark} {word}", f"({domain.column.duckdb}) {word}")


def struct_null_test(column: ColumnSpec, rng: Random) -> Said:
    """Of the column or of a struct that it lies in."""
    depth = rng.randint(1, len(column.path))
    part = ColumnSpec(column.path[:depth], column.physical[:depth], column.type)
    word = rng.choice(["IS NULL", "IS NOT NULL"])
    return Said(f"{part.spark} {word}", f"{part.duckdb} {word}")


def boolean(value: Value, rng: Random) -> Said:
    """A value that is a condition itself."""
    suffix = rng.choice(["", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE", "= TRUE", "<> FALSE"])
    return Said(f"{value.spark} {suffix}".strip(), f"{value.duckdb} {suffix}".strip())


def like(value: Value, rng: Random) -> Said:
    """A pattern that starts as some value of the pool does."""
    start = str(rng.choice(value.pool))[: rng.choice([0, 1, 2, 31, 32, 33, 100])]
    if rng.random() < 0.15:
        return Said(f"startswith({value.spark}, {spark_text(start)})", f"starts_with({value.duckdb}, {duckdb_text(start)})")
    escape = rng.choice(["\\", "\\", "!", "/"])
    fixed = "".join(escape + c if c in ("%", "_", escape) else c for c in start)
    pattern = fixed + rng.choice(["%", "%", "%", "", "_", "%z", "_%", "%%", "%\n%"])
    if rng.random() < 0.15:
        pattern = "%" + pattern
    word = rng.choice(["LIKE", "LIKE", "NOT LIKE"])
    tail = "" if escape == "\\" and rng.random() < 0.8 else f" ESCAPE {spark_text(escape)}"
    return Said(
        f"{value.spark} {word} {spark_text(pattern)}{tail}",
        f"{value.duckdb} {word} {duckdb_text(pattern)} ESCAPE {duckdb_text(escape)}",
    )


def odd_like(value: Value, rng: Random) -> Said:
    """A pattern of wildcards and escapes in any order, a regular expression perhaps; some of them are errors."""
    pattern = spark_text("".join(rng.choice("ab%_\\é") for _ in range(rng.randint(0, 4))))
    word = rng.choice(["LIKE", "LIKE", "ILIKE", "RLIKE", "startswith"])
    if word == "startswith":
        return Said(f"startswith({value.spark}, {pattern})", UNJUDGED)
    escape = " ESCAPE 'b'" if word != "RLIKE" and rng.random() < 0.5 else ""
    return Said(f"{value.spark} {word} {pattern}{escape}", UNJUDGED)


def column_comparison(left: ColumnSpec, right: ColumnSpec, rng: Random) -> Said | None:
    """Two columns compared, of one type or of types that Spark brings together."""
    sides = _brought_together(left, right)
    if left == right or sides is None:
        return None
    op = rng.choice([*_OPERATORS, "<=>"])
    word = "IS NOT DISTINCT FROM" if op == "<=>" else _OPERATORS[op]
    return Said(f"{left.spark} {op} {right.spark}", f"{sides[0]} {word} {sides[1]}")


def _brought_together(left: ColumnSpec, right: ColumnSpec) -> tuple[str, str] | None:
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
    elif types <= set(TIMES):
        common = "TIMESTAMPTZ" if "timestamp" in types else "TIMESTAMP" if "timestamp_ntz" in types else "DATE"
    elif len(types) == 1:
        return left.duckdb, right.duckdb
    else:
        return None
    return f"CAST({left.duckdb} AS {common})", f"CAST({right.duckdb} AS {common})"
