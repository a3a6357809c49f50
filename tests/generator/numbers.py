"""Functions of numbers, in both languages wherever the two can be made to agree exactly.

Integer arithmetic wraps here, as Spark does with ANSI mode off: with ANSI mode on such a row is an error, and no answer is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.generator.literals import WIDE, Domain, Value, double, integer
from tests.generator.nodes import UNJUDGED, Said

_WIDTH = {"byte": 32, "short": 32, "integer": 32, "long": 64}  # of `column + 3`: the literal is an int
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_SUM = {"byte": "integer", "short": "integer", "integer": "integer", "long": "long"}


def plus(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.choice([1, 2, 7, 100, 2**31 - 1])
    sign, spark = rng.choice([(1, f"{value.spark} + {k}"), (1, f"{k} + {value.spark}"), (-1, f"{value.spark} - {k}")])
    duck = _wrapped(f"CAST({value.duckdb} AS HUGEINT) + ({sign * k})", _WIDTH[value.type])
    return Domain(Said(spark, duck), lambda: _near(value, rng, lambda v: v + sign * k), _SUM[value.type])


def minus_from(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.choice([0, 7, 100])
    duck = _wrapped(f"{k} - CAST({value.duckdb} AS HUGEINT)", _WIDTH[value.type])
    return Domain(Said(f"{k} - {value.spark}", duck), lambda: _near(value, rng, lambda v: k - v), _SUM[value.type])


def times(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.choice([0, 1, 2, 3, 10, -2])
    duck = _wrapped(f"{k} * CAST({value.duckdb} AS HUGEINT)", _WIDTH[value.type])
    return Domain(Said(f"{value.spark} * {k}", duck), lambda: _near(value, rng, lambda v: k * v), _SUM[value.type])


def divided(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.choice([2, 3, 10, -4])
    said = Said(f"{value.spark} / {k}", f"(CAST({value.duckdb} AS DOUBLE) / CAST({k} AS DOUBLE))")
    return Domain(said, lambda: double(float(rng.choice(value.pool)) / k, rng), "double")


def plus_double(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.choice([1.0, 0.1, 2.5])
    said = Said(f"{value.spark} + {k!r}D", f"(CAST({value.duckdb} AS DOUBLE) + CAST('{k!r}' AS DOUBLE))")
    return Domain(said, lambda: double(float(rng.choice(value.pool)) + k, rng), "double")


def negated(value: Value, _zone: str, rng: Random) -> Domain:
    duck = _wrapped(f"-CAST({value.duckdb} AS HUGEINT)", _BITS[value.type])
    return Domain(Said(f"-{value.spark}", duck), lambda: _near(value, rng, lambda v: -v), value.type)


def absolute(value: Value, _zone: str, rng: Random) -> Domain:
    duck = _wrapped(f"abs(CAST({value.duckdb} AS HUGEINT))", _BITS[value.type])
    return Domain(Said(f"abs({value.spark})", duck), lambda: _near(value, rng, abs), value.type)


def remainder(value: Value, _zone: str, rng: Random) -> Domain:
    k = rng.randint(2, 9)
    said = Said(f"{value.spark} % {k}", f"(CAST({value.duckdb} AS HUGEINT) % {k})")
    return Domain(said, lambda: integer(rng.randint(-k, k)), _SUM[value.type])


def extreme(value: Value, _zone: str, rng: Random) -> Domain:
    word, k = rng.choice(["greatest", "least"]), rng.choice(value.pool)
    said = Said(f"{word}({value.spark}, {k})", f"{word}(CAST({value.duckdb} AS HUGEINT), ({k})::HUGEINT)")
    return Domain(said, lambda: integer(_int64(rng.choice(value.pool))))


def widened(value: Value, _zone: str, rng: Random) -> Domain:
    target, kind = rng.choice([("bigint", "long"), ("decimal(20,0)", ""), ("double", "double")])
    if target == "double":
        said = Said(f"cast({value.spark} as double)", f"CAST({value.duckdb} AS DOUBLE)")
        return Domain(said, lambda: double(float(rng.choice(value.pool)) + rng.choice([0, 0.5]), rng), kind)
    said = Said(f"cast({value.spark} as {target})", f"CAST({value.duckdb} AS HUGEINT)")
    return Domain(said, lambda: _near(value, rng, int), kind)


def narrowed(value: Value, _zone: str, rng: Random) -> Domain:
    """A cast that may overflow, round or truncate."""
    targets = [("smallint", "short"), ("int", "integer"), ("bigint", "long"), ("decimal(9,1)", ""), ("decimal(20,6)", "")]
    target, kind = rng.choice([*targets, ("float", "float"), ("double", "double")])
    said = Said(f"cast({value.spark} as {target})", UNJUDGED)
    return Domain(said, lambda: integer(_clamped(float(rng.choice(value.pool))) + rng.choice([0, 1, -1])), kind)


def rounded_integer(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"{rng.choice(['floor', 'ceil'])}({value.spark})", f"CAST({value.duckdb} AS HUGEINT)")
    return Domain(said, lambda: _near(value, rng, int), "long")


def rounded(value: Value, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["floor", "ceil"])
    c, top = value.duckdb, 2**63
    # Spark goes through Java's long: NaN becomes 0 and everything else is clamped.
    limits = f"WHEN {c} >= {top}::DOUBLE THEN {top - 1}::HUGEINT WHEN {c} < {-top}::DOUBLE THEN ({-top})::HUGEINT"
    duck = f"CASE WHEN isnan({c}) THEN 0::HUGEINT {limits} ELSE CAST({word}({c}) AS HUGEINT) END"
    said = Said(f"{word}({value.spark})", duck)
    return Domain(said, lambda: integer(_clamped(rng.choice(value.pool)) + rng.choice([0, 0, 1, -1])), "long")


def double_product(value: Value, _zone: str, rng: Random) -> Domain:
    k, op = rng.choice([2.0, 0.1, -3.0, 1e300]), rng.choice(["*", "/", "-"])
    said = Said(f"{value.spark} {op} {k!r}D", f"({value.duckdb} {op} CAST('{k!r}' AS DOUBLE))")
    return Domain(said, lambda: double(float(rng.choice(value.pool)) * (1 if op == "-" else 0.5), rng), "double")


def double_sign(value: Value, _zone: str, rng: Random) -> Domain:
    spark, duck = rng.choice([("-{}", "(-({}))"), ("abs({})", "abs({})"), ("2.5D - {}", "(CAST('2.5' AS DOUBLE) - ({}))")])
    said = Said(spark.format(value.spark), duck.format(value.duckdb))
    return Domain(said, lambda: double(-float(rng.choice(value.pool)), rng), "double")


def is_nan(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"isnan({value.spark})", f"coalesce(isnan({value.duckdb}), FALSE)")
    return Domain(said, lambda: Said("true", "TRUE") if rng.random() < 0.5 else Said("false", "FALSE"), "boolean")


def float_as_double(value: Value, _zone: str, rng: Random) -> Domain:
    said = Said(f"cast({value.spark} as double)", f"CAST({value.duckdb} AS DOUBLE)")
    return Domain(said, lambda: double(rng.choice(value.pool), rng), "double")


def rounded_decimal(value: Value, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["floor", "ceil"])
    said = Said(f"{word}({value.spark})", f"CAST({word}({value.duckdb}) AS {WIDE})")
    return Domain(said, lambda: _wide_integer(int(rng.choice(value.pool)) + rng.choice([0, 1, -1])))


def decimal_sum(value: Value, _zone: str, rng: Random) -> Domain | None:
    if value.type == "decimal(38,10)":
        return None
    k = rng.choice([1, 7])
    spark, duck = rng.choice([("{} + {k}", "({} + {k})"), ("{k} - {}", "({k} - {})"), ("-{} + 0.05", "(0.05 - {})")])
    wide = f"CAST({value.duckdb} AS {WIDE})"
    said = Said(spark.format(value.spark, k=k), duck.format(wide, k=k))
    return Domain(said, lambda: _wide_integer(int(rng.choice(value.pool)) + k))


def decimal_as_integer(value: Value, _zone: str, rng: Random) -> Domain | None:
    if value.type == "decimal(38,10)":
        return None
    said = Said(f"cast({value.spark} as bigint)", f"CAST(trunc({value.duckdb}) AS HUGEINT)")
    return Domain(said, lambda: integer(int(rng.choice(value.pool)) + rng.choice([0, 1, -1])), "long")


def _near(value: Value, rng: Random, function: Callable[[int], int]) -> Said:
    return integer(_int64(function(rng.choice(value.pool)) + rng.choice([0, 0, 1, -1])))


def _int64(value: int) -> int:
    return max(-(2**63) + 1, min(2**63 - 1, value))


def _clamped(value: float) -> int:
    return int(max(-1e15, min(1e15, value)) // 1)


def _wide_integer(value: int) -> Said:
    kept = value if abs(value) < 10**27 else 1
    return Said(str(kept), f"CAST('{kept}' AS {WIDE})")


def _wrapped(exact: str, bits: int) -> str:
    half, whole = 2 ** (bits - 1), 2**bits
    return f"(((({exact}) + {half}) % {whole} + {whole}) % {whole} - {half})"
