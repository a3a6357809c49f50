"""A predicate that can be said in two languages: Spark SQL, which lakeprune reads, and DuckDB SQL, which decides the truth.

Both texts of a leaf are written by hand, side by side, so that no translator shared with lakeprune can hide an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

UNJUDGED = "error('DuckDB has no equal')"  # what has no exact equal in DuckDB: asking it is an error, never an answer


class Said(NamedTuple):
    """One expression in both languages."""

    spark: str
    duckdb: str


@dataclass(frozen=True)
class Leaf:
    said: Said


@dataclass(frozen=True)
class Junction:
    word: str  # AND, OR
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Negation:
    part: Node


@dataclass(frozen=True)
class Test:
    """`(part) IS NULL` and its relatives."""

    part: Node
    suffix: str


Node = Leaf | Junction | Negation | Test
SUFFIXES = ("IS NULL", "IS NOT NULL", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE")


def say(node: Node) -> Said:
    match node:
        case Leaf(said):
            return said
        case Junction(word, parts):
            each = [say(part) for part in parts]
            return Said(*(f" {word} ".join(f"({text})" for text in texts) for texts in zip(*each, strict=True)))
        case Negation(part):
            return Said(*(f"NOT ({text})" for text in say(part)))
        case Test(part, suffix):
            return Said(*(f"({text}) {suffix}" for text in say(part)))


def shuffled(node: Node, rng: Random) -> Node:
    """The same predicate with the operands of every AND and OR in another order."""
    match node:
        case Junction(word, parts):
            moved = [shuffled(part, rng) for part in parts]
            rng.shuffle(moved)
            return Junction(word, tuple(moved))
        case Negation(part):
            return Negation(shuffled(part, rng))
        case Test(part, suffix):
            return Test(shuffled(part, rng), suffix)
        case _:
            return node
