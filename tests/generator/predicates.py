"""Random predicates over columns, from the whole language."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.generator.columns import ColumnSpec
from tests.generator.conditions import boolean, column_comparison, condition, like, odd_like, struct_null_test
from tests.generator.functions import Made, function_of, partition_leaf
from tests.generator.literals import domain_of
from tests.generator.nodes import SUFFIXES, Junction, Leaf, Negation, Node, Said, Test

_CONSTANTS = (Said("TRUE", "TRUE"), Said("false", "FALSE"), Said("1 = 2", "1 = 2"), Said("NULL IS NULL", "TRUE"))


def random_predicate(columns: Sequence[ColumnSpec], zone: str, rng: Random, depth: int = 3, *, judged: bool = True) -> Node:
    """A predicate over some of these columns; about half are single leaves. Without a judge also what DuckDB cannot say."""
    dice = rng.random()
    if depth == 0 or dice < 0.5:
        return Leaf(_leaf(columns, zone, rng, judged=judged))
    if dice < 0.75:
        count = rng.choice([2, 2, 3])
        word = rng.choice(["AND", "OR"])
        if rng.random() < 0.35:  # conditions on one column, which merge into ranges
            column = rng.choice(columns)
            return Junction(word, tuple(Leaf(_simple(column, zone, rng)) for _ in range(count)))
        return Junction(word, tuple(random_predicate(columns, zone, rng, depth - 1, judged=judged) for _ in range(count)))
    part = random_predicate(columns, zone, rng, depth - 1, judged=judged)
    return Negation(part) if dice < 0.88 else Test(part, rng.choice(SUFFIXES))


def _leaf(columns: Sequence[ColumnSpec], zone: str, rng: Random, *, judged: bool) -> Said:
    dice = rng.random()
    if dice < 0.03:
        return rng.choice(_CONSTANTS)
    if dice < 0.12:
        pairs = ((rng.choice(columns), rng.choice(columns)) for _ in range(6))
        crossed = next((leaf for left, right in pairs if (leaf := column_comparison(left, right, rng)) is not None), None)
        if crossed is not None:
            return crossed
    if dice < (0.38 if judged else 0.75):
        made = _of_function(rng.choice(columns), zone, rng, judged=judged)
        if made is not None:
            return made
    partition = [column for column in columns if column.is_partition]
    if dice < 0.45 and partition:
        made = partition_leaf(partition, rng)
        if made is not None:
            return made
    return _simple(rng.choice(columns), zone, rng)


def _of_function(column: ColumnSpec, zone: str, rng: Random, *, judged: bool) -> Said | None:
    if not judged and column.type == "string" and rng.random() < 0.3:
        return odd_like(column, rng)
    domain = function_of(column, zone, rng, judged=judged)
    if domain is None:
        return None
    value = Made(domain.column.spark, domain.column.duckdb, domain.type, column.pool)
    if domain.type == "boolean" and rng.random() < 0.5:
        return boolean(value, rng)
    if domain.type == column.type == "string" and rng.random() < 0.25:
        return like(value, rng)
    return condition(domain, rng)


def _simple(column: ColumnSpec, zone: str, rng: Random) -> Said:
    """A condition on the column itself."""
    dice = rng.random()
    if column.type == "string" and dice < 0.3:
        return like(column, rng)
    if column.type == "boolean" and dice < 0.27:
        return boolean(column, rng)
    if len(column.path) > 1 and dice < 0.05:
        return struct_null_test(column, rng)
    return condition(domain_of(column, zone, rng), rng)
