"""Random predicates over a table's columns, from the whole language."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.soundness.columns import ColumnSpec
from tests.soundness.expressions import expression_leaf, partition_leaf
from tests.soundness.literals import NULL, domain_of, duckdb_text, spark_text
from tests.soundness.more_expressions import crossed_columns
from tests.soundness.nodes import SUFFIXES, Junction, Leaf, Negation, Node, Said, Test
from tests.soundness.tables import Table

_OPERATORS = {"=": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED = {"=": "=", "!=": "!=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def random_predicate(table: Table, rng: Random, depth: int = 3) -> Node:
    """A predicate whose columns all belong to the table; about half are single leaves."""
    dice = rng.random()
    if depth == 0 or dice < 0.5:
        return random_leaf(table, rng)
    if dice < 0.75:
        count = rng.choice([2, 2, 3])
        if rng.random() < 0.35:  # conditions on one column, which merge into ranges
            column = rng.choice(table.columns)
            return Junction(rng.choice(["AND", "OR"]), tuple(_simple_leaf(column, table, rng) for _ in range(count)))
        return Junction(rng.choice(["AND", "OR"]), tuple(random_predicate(table, rng, depth - 1) for _ in range(count)))
    if dice < 0.88:
        return Negation(random_predicate(table, rng, depth - 1))
    return Test(random_predicate(table, rng, depth - 1), rng.choice(SUFFIXES))


def random_leaf(table: Table, rng: Random) -> Node:
    dice = rng.random()
    if dice < 0.03:
        return Leaf(
            rng.choice([Said("TRUE", "TRUE"), Said("false", "FALSE"), Said("1 = 2", "1 = 2"), Said("NULL IS NULL", "TRUE")])
        )
    if dice < 0.12:
        crossed = next((leaf for _ in range(6) if (leaf := _column_leaf(table, rng)) is not None), None)
        if crossed is not None:
            return crossed
    if dice < 0.32:
        made = expression_leaf(rng.choice(table.columns), table.zone, rng)
        if made is not None:
            return Leaf(made)
    if dice < 0.4 and table.partition_columns:
        made = partition_leaf(table.partition_columns, rng)
        if made is not None:
            return Leaf(made)
    return _simple_leaf(rng.choice(table.columns), table, rng)


def _simple_leaf(column: ColumnSpec, table: Table, rng: Random) -> Node:
    makers: list[Callable[[ColumnSpec, str, Random], Said]] = (
        [_comparison] * 5 + [_in] * 2 + [_between] * 2 + [_null_test, _null_safe]
    )
    if column.type == "string":
        makers += [_like] * 5
    if column.type == "boolean":
        makers += [_boolean] * 4
    return Leaf(rng.choice(makers)(column, table.zone, rng))


def _comparison(column: ColumnSpec, zone: str, rng: Random) -> Said:
    domain = domain_of(column, zone, rng)
    op = rng.choice(list(_OPERATORS))
    literal = NULL if rng.random() < 0.03 else domain.literal()
    duck = f"{domain.column.duckdb} {_OPERATORS[op]} {literal.duckdb}"
    if rng.random() < 0.25:
        return Said(f"{literal.spark} {_MIRRORED[op]} {domain.column.spark}", duck)
    return Said(f"{domain.column.spark} {op} {literal.spark}", duck)


def _null_safe(column: ColumnSpec, zone: str, rng: Random) -> Said:
    domain = domain_of(column, zone, rng)
    literal = NULL if rng.random() < 0.25 else domain.literal()
    spark, same = rng.choice([("<=>", True), ("IS DISTINCT FROM", False), ("IS NOT DISTINCT FROM", True)])
    word = "IS NOT DISTINCT FROM" if same else "IS DISTINCT FROM"
    return Said(f"{domain.column.spark} {spark} {literal.spark}", f"{domain.column.duckdb} {word} {literal.duckdb}")


def _in(column: ColumnSpec, zone: str, rng: Random) -> Said:
    domain = domain_of(column, zone, rng)
    count = rng.choice([1, 2, 3, 4, 9, 14, 40])
    literals = [NULL if rng.random() < 0.03 else domain.literal() for _ in range(count)]
    word = rng.choice(["IN", "NOT IN"])
    return Said(
        f"{domain.column.spark} {word} ({', '.join(x.spark for x in literals)})",
        f"{domain.column.duckdb} {word} ({', '.join(x.duckdb for x in literals)})",
    )


def _between(column: ColumnSpec, zone: str, rng: Random) -> Said:
    domain = domain_of(column, zone, rng)
    low, high = domain.literal(), domain.literal()
    word = rng.choice(["BETWEEN", "BETWEEN", "NOT BETWEEN"])
    return Said(
        f"{domain.column.spark} {word} {low.spark} AND {high.spark}",
        f"{domain.column.duckdb} {word} {low.duckdb} AND {high.duckdb}",
    )


def _null_test(column: ColumnSpec, _zone: str, rng: Random) -> Said:
    depth = rng.randint(1, len(column.path))  # sometimes a whole struct
    part = ColumnSpec(column.path[:depth], column.physical[:depth], column.type)
    word = rng.choice(["IS NULL", "IS NOT NULL"])
    return Said(f"{part.spark} {word}", f"{part.duckdb} {word}")


def _boolean(column: ColumnSpec, _zone: str, rng: Random) -> Said:
    suffix = rng.choice(["", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE", "= TRUE", "<> FALSE"])
    return Said(f"{column.spark} {suffix}".strip(), f"{column.duckdb} {suffix}".strip())


def _like(column: ColumnSpec, _zone: str, rng: Random) -> Said:
    value: str = rng.choice(column.pool)
    start = value[: rng.choice([0, 1, 2, 31, 32, 33, 100])]
    if rng.random() < 0.15:
        return Said(f"startswith({column.spark}, {spark_text(start)})", f"starts_with({column.duckdb}, {duckdb_text(start)})")
    escape = rng.choice(["\\", "\\", "!", "/"])
    fixed = "".join(escape + c if c in ("%", "_", escape) else c for c in start)
    pattern = fixed + rng.choice(["%", "%", "%", "", "_", "%z", "_%", "%%", "%\n%"])
    if rng.random() < 0.15:
        pattern = "%" + pattern
    word = rng.choice(["LIKE", "LIKE", "NOT LIKE"])
    tail = "" if escape == "\\" and rng.random() < 0.8 else f" ESCAPE {spark_text(escape)}"
    return Said(
        f"{column.spark} {word} {spark_text(pattern)}{tail}",
        f"{column.duckdb} {word} {duckdb_text(pattern)} ESCAPE {duckdb_text(escape)}",
    )


def _column_leaf(table: Table, rng: Random) -> Node | None:
    """Two columns compared, of one type or of types that Spark brings together."""
    left, right = rng.choice(table.columns), rng.choice(table.columns)
    sides = crossed_columns(left, right)
    if left == right or sides is None:
        return None
    op = rng.choice([*_OPERATORS, "<=>"])
    word = "IS NOT DISTINCT FROM" if op == "<=>" else _OPERATORS[op]
    return Leaf(Said(f"{left.spark} {op} {right.spark}", f"{sides[0]} {word} {sides[1]}"))
