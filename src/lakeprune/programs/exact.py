"""Expressions over partition columns, evaluated on the distinct partition values and joined back to the files.

In: the exact expressions of some plans. Out: one `Lookup` per expression: a small relation of the distinct texts and the truth
values they can give. The loop is over distinct partition values, never over files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from msgspec import Struct

from lakeprune.engines.engine import Engine, Needs, Row
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.tree import Column, Exact, Profile
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import Scalar

UNKNOWN: frozenset[bool | None] = frozenset({True, False, None})
Candidates = tuple[Scalar, ...] | None  # every value a text can stand for, None when that cannot be told
_Values = tuple[Row, list[Candidates]]  # texts as recorded with their missing marks, and what each can stand for


class Lookup(Struct, frozen=True):
    exact: Exact
    number: int
    relation: str

    def join(self, texts: Sequence[Column]) -> str:
        """The join that gives every file the columns e{n}_t, e{n}_f, e{n}_n."""
        n = self.number
        tests = []
        for i, column in enumerate(self.exact.columns):
            j = texts.index(column)
            tests.append(f"files.p{j} IS NOT DISTINCT FROM e{n}.e{n}_k{i} AND files.p{j}_missing = e{n}.e{n}_m{i}")
        return f"LEFT JOIN {self.relation} AS e{n} ON {' AND '.join(tests)}"


def exact_lookups(engine: Engine, snapshot: Snapshot, profile: Profile, plans: Sequence[Plan]) -> list[Lookup]:
    """A lookup for every distinct exact expression of the plans. The values of the same columns are asked for once."""
    exacts = dict.fromkeys(exact for plan in plans for exact in plan.exacts)
    asked = dict.fromkeys(exact.columns for exact in exacts)
    values = {columns: _distinct_values(engine, snapshot, profile, columns) for columns in asked}
    return [_lookup(engine, profile, exact, values[exact.columns], number) for number, exact in enumerate(exacts)]


def possible_truths(exact: Exact, values: Sequence[Candidates], profile: Profile) -> frozenset[bool | None]:
    """Every truth value the expression can have, given every value each column could have (None: cannot be told)."""
    if any(candidates is None for candidates in values):
        return UNKNOWN
    truths: set[bool | None] = set()
    for choice in product(*(candidates or () for candidates in values)):
        try:
            truth = evaluate(exact.predicate, dict(zip(exact.columns, choice, strict=True)), profile)
        except EvaluationFailed:
            return UNKNOWN
        if truth is not None and not isinstance(truth, bool):
            return UNKNOWN
        truths.add(truth)
    return frozenset(truths)


def _lookup(engine: Engine, profile: Profile, exact: Exact, values: Sequence[_Values], number: int) -> Lookup:
    keys = [(f"e{number}_k{i}", f"e{number}_m{i}") for i in range(len(exact.columns))]
    names = [name for pair in keys for name in pair] + [f"e{number}_{letter}" for letter in "tfn"]
    types = ["STRING", "BOOLEAN"] * len(keys) + ["BOOLEAN"] * 3
    rows = []
    for row, candidates in values:
        truths = possible_truths(exact, candidates, profile)
        rows.append((*row, True in truths, False in truths, None in truths))
    return Lookup(exact, number, engine.lookup(names, types, rows))


def _distinct_values(engine: Engine, snapshot: Snapshot, profile: Profile, columns: tuple[Column, ...]) -> list[_Values]:
    picked = ", ".join(f"p{i}, p{i}_missing" for i in range(len(columns)))
    files = snapshot.files_sql(engine, Needs(partition_texts=columns), profile)
    parsed: list[dict[str | None, Candidates]] = [{} for _ in columns]
    found = []
    for row in engine.query(f"SELECT DISTINCT {picked} FROM ({files}) AS files"):
        values: list[Candidates] = []
        for i, column in enumerate(columns):
            text, missing = row[2 * i], row[2 * i + 1]
            known = parsed[i]
            if text not in known:
                known[text] = snapshot.partition_values(text, column, profile)
            values.append(None if missing else known[text])
        found.append((row, values))
    return found
