"""Every row of every leaf's truth table, through the SQL front-end and both engines."""

from __future__ import annotations

import pytest

from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.lower import evidence_columns, lower
from lakeprune.skipping.mask import Mask, conjunction
from lakeprune.skipping.plan import Bit
from tests.skipping.cases import LEAVES, Case, all_cases
from tests.skipping.containers import SqlEngine, judge_by_reference

CASES = all_cases()
PROFILE = Profile(now=0)


@pytest.fixture(scope="module")
def sql_engine() -> SqlEngine:
    return SqlEngine()


def lowered(case: Case) -> tuple[Mask, dict[str, Column]]:
    schema = Schema(tuple(Field(name, name, type_) for name, type_ in case.types.items()))
    bound = bind(parse_predicate(case.predicate, PROFILE), schema, PROFILE, case.predicate)
    clauses = split(bound, PROFILE)
    columns = {c.path[0]: c for clause in clauses for c in evidence_columns(clause.predicate)}
    return conjunction([lower(clause.predicate) for clause in clauses]), columns


def verdict(letters: frozenset[str]) -> str:
    return "DROP" if "T" not in letters else "FULL" if letters == {"T"} else "KEEP"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_of_a_truth_table_holds_on_both_engines(case: Case, sql_engine: SqlEngine) -> None:
    mask, columns = lowered(case)
    bits = [Bit(fact) for fact in (mask.can_true, mask.can_false, mask.can_null, mask.not_true)]
    domains = {Seen(column): case.domains[name] for name, column in columns.items()}
    for found in (judge_by_reference(bits, domains), sql_engine.judge(bits, domains)):
        letters = frozenset(letter for letter, flag in zip("TFN", found, strict=False) if flag)
        assert letters == case.mask
        assert verdict(letters) == case.verdict
        assert found[3] == bool(letters & {"F", "N"})


def test_every_leaf_with_a_table_has_rows() -> None:
    assert {case.leaf for case in CASES} == set(LEAVES)
    assert len(CASES) >= 69


def test_masks_of_the_tables_are_consistent_with_their_verdicts() -> None:
    for case in CASES:
        assert verdict(case.mask) == case.verdict, case
