"""Expressions over partition columns, evaluated on the distinct partition values and joined back to the files.

In: the exact expressions of some plans. Out: one `Lookup` per expression: a small relation of the distinct texts and the truth
values they can give. The loop is over distinct partition values, never over files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from msgspec import Struct

from lakeprune.engines.engine import Engine, Row, Truth
from lakeprune.formats.relation import Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed, SparkFails
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import Column, Exact, Opaque, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.skipping.plan import Lift, Plan
from lakeprune.values.types import Scalar

UNKNOWN: frozenset[bool | None] = frozenset({True, False, None})
Candidates = tuple[Scalar, ...] | None  # every value a text can stand for, None when that is not known
_Values = tuple[Row, list[Candidates]]  # texts as recorded with their missing marks, and what each can stand for


class Truths(Struct, frozen=True):
    """The truth values that an expression can have on a partition, and why nothing is known when it could be any."""

    values: frozenset[bool | None]
    doubt: Lift = Lift.NOTHING


class Lookup(Struct, frozen=True):
    exact: Exact
    number: int
    relation: str

    def join(self, relation: Relation) -> str:
        """The join that gives every file the columns e{n}_t, e{n}_f, e{n}_n, and what is in doubt."""
        n = self.number
        tests = []
        for i, column in enumerate(self.exact.columns):
            text, missing = relation.text(column), relation.is_missing(column)
            tests.append(f"files.{text} IS NOT DISTINCT FROM e{n}.e{n}_k{i} AND files.{missing} = e{n}.e{n}_m{i}")
        return f"LEFT JOIN {self.relation} AS e{n} ON {' AND '.join(tests)}"


def exact_lookups(
    engine: Engine, snapshot: Snapshot, profile: Profile, plans: Sequence[Plan], within: frozenset[int] | None = None
) -> list[Lookup]:
    """A lookup for every distinct exact expression of the plans. The values of the same columns are asked for once.

    `within` are the groups whose containers are looked at.
    """
    exacts = dict.fromkeys(exact for plan in plans for exact in plan.exacts)
    asked = dict.fromkeys(exact.columns for exact in exacts)
    values = {columns: _distinct_values(engine, snapshot, profile, columns, within) for columns in asked}
    schema = snapshot.facts.schema
    return [_lookup(engine, schema, profile, exact, values[exact.columns], number) for number, exact in enumerate(exacts)]


def possible_truths(exact: Exact, values: Sequence[Candidates], profile: Profile) -> Truths:
    """Every truth value the expression can have, given every value each column could have (None: not readable)."""
    if any(candidates is None for candidates in values):
        return Truths(UNKNOWN, Lift.UNREADABLE)
    truths: set[bool | None] = set()
    for choice in product(*(candidates or () for candidates in values)):
        try:
            truth = evaluate(exact.predicate, dict(zip(exact.columns, choice, strict=True)), profile)
        except EvaluationFailed:
            return Truths(UNKNOWN, Lift.FAILED)
        if truth is not None and not isinstance(truth, bool):
            return Truths(UNKNOWN, Lift.FAILED)
        truths.add(truth)
    return Truths(frozenset(truths))


class Failures(Struct, frozen=True):
    """Why an expression has no value for some partition value, by the first message of each kind."""

    certain: str | None = None  # Spark in ANSI mode ends a query that has the expression as its whole predicate
    doubtful: str | None = None  # lakeprune cannot evaluate it; Spark may


def failures(engine: Engine, snapshot: Snapshot, profile: Profile, exact: Exact) -> Failures:
    """What goes wrong when the expression is evaluated on the partition values; nothing of what an engine evaluates."""
    found = Failures()
    for _, values in [] if _is_engines(exact) else _distinct_values(engine, snapshot, profile, exact.columns):
        for choice in product(*(candidates or () for candidates in values)):
            try:
                evaluate(exact.predicate, dict(zip(exact.columns, choice, strict=True)), profile)
            except SparkFails as failure:
                found = Failures(found.certain or str(failure), found.doubtful)
            except EvaluationFailed as failure:
                found = Failures(found.certain, found.doubtful or str(failure))
    return found


def _is_engines(exact: Exact) -> bool:
    """Whether some part of it is evaluated by the engine."""
    return any(isinstance(node, Opaque) for node in nodes(exact.predicate))


def _truths(
    engine: Engine, schema: Schema, exact: Exact, values: Sequence[Sequence[Candidates]], profile: Profile
) -> list[Truths]:
    if _is_engines(exact):
        from lakeprune.programs.engine_truths import MEANINGS, engine_truths

        return [
            Truths(UNKNOWN, Lift.UNREADABLE) if found is None else Truths(UNKNOWN, Lift.FAILED) if Truth.FAILED in found
            else Truths(frozenset(MEANINGS[truth] for truth in found))
            for found in engine_truths(engine, exact, values, profile)
        ]  # fmt: skip
    found = [possible_truths(exact, candidates, profile) for candidates in values]
    failed = [number for number, truths in enumerate(found) if truths.doubt is Lift.FAILED]
    if failed:
        from lakeprune.programs.engine_truths import MEANINGS, truths_of_failed

        answers = truths_of_failed(engine, schema, exact, [values[number] for number in failed], profile)
        for number, answer in zip(failed, answers, strict=True):
            if answer is not None:
                found[number] = Truths(frozenset(MEANINGS[truth] for truth in answer))
    return found


def _lookup(engine: Engine, schema: Schema, profile: Profile, exact: Exact, values: Sequence[_Values], number: int) -> Lookup:
    keys = [(f"e{number}_k{i}", f"e{number}_m{i}") for i in range(len(exact.columns))]
    names = [name for pair in keys for name in pair] + [f"e{number}_{name}" for name in ("t", "f", "n", "unreadable", "failed")]
    types = ["STRING", "BOOLEAN"] * len(keys) + ["BOOLEAN"] * 5
    rows = []
    truths = _truths(engine, schema, exact, [candidates for _, candidates in values], profile)
    for (row, _), found in zip(values, truths, strict=True):
        known = [truth in found.values for truth in (True, False, None)]
        rows.append((*row, *known, found.doubt is Lift.UNREADABLE, found.doubt is Lift.FAILED))
    return Lookup(exact, number, engine.lookup(names, types, rows))


def _distinct_values(
    engine: Engine, snapshot: Snapshot, profile: Profile, columns: tuple[Column, ...], within: frozenset[int] | None = None
) -> list[_Values]:
    relation = snapshot.relation(engine, Needs(partition_texts=columns, within=within), profile)
    picked = ", ".join(f"{relation.text(column)}, {relation.is_missing(column)}" for column in columns)
    parsed: list[dict[str | None, Candidates]] = [{} for _ in columns]
    found = []
    for row in engine.query(f"SELECT DISTINCT {picked} FROM {relation.source} AS files"):
        values: list[Candidates] = []
        for i, column in enumerate(columns):
            text, missing = row[2 * i], row[2 * i + 1]
            known = parsed[i]
            if text not in known:
                known[text] = snapshot.partition_values(text, column, profile)
            values.append(None if missing else known[text])
        found.append((row, values))
    return found
