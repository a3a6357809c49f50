"""Credits, blame and coverage on hand-made patterns: every number is counted by hand or must add up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeprune.programs.patterns import Pattern
from lakeprune.report.attribution import attribute
from lakeprune.report.verdict import CONSTANT, JOINT, Keeps
from lakeprune.skipping.verdict import Verdict
from tests.builders.patterns import (
    HAS_X,
    IN_GERMANY,
    MATCHES,
    MAY_MATCH,
    NAN_POSSIBLE,
    NO_NAME,
    NOT_BY_BOTH,
    NOT_BY_PARTITION,
    NOT_BY_STATISTICS,
    OUTCOMES,
    OVER_40,
    STATISTIC_MISSING,
    files,
    plan,
)

CLAUSES = (IN_GERMANY, OVER_40, NO_NAME)


@st.composite
def patterns(draw: st.DrawFn) -> list[Pattern]:
    groups = []
    for _ in range(draw(st.integers(0, 8))):
        outcomes = draw(st.tuples(*(st.sampled_from(OUTCOMES) for _ in CLAUSES)))
        rows = draw(st.none() | st.integers(0, 50))
        groups.append(files(draw(st.integers(1, 9)), *outcomes, rows=rows, known=draw(st.booleans()), empty=draw(st.booleans())))
    return groups


@given(patterns())
def test_credits_and_kept_files_are_all_files(groups: list[Pattern]) -> None:
    found = attribute(plan(*CLAUSES), groups)
    assert sum(found.credits.values(), start=found.kept) == found.total
    assert found.total.files == sum(group.files for group in groups)
    assert found.total.files_without_rows == sum(group.files_without_rows for group in groups)
    assert found.full.files <= found.kept.files


@given(patterns())
def test_first_credits_are_all_drops_that_are_not_due_to_emptiness(groups: list[Pattern]) -> None:
    found = attribute(plan(*CLAUSES), groups)
    first = sum((clause.drops_first for clause in found.clauses), start=found.empty)
    assert first == found.total - found.kept


@given(patterns())
def test_a_clause_drops_alone_only_what_it_is_credited_for(groups: list[Pattern]) -> None:
    found = attribute(plan(*CLAUSES), groups)
    for clause in found.clauses:
        assert clause.drops_alone.files <= clause.drops_first.files <= clause.drops_any.files


@given(patterns())
def test_every_file_left_by_partition_pruning_is_dropped_or_kept_with_a_reason_by_each_clause(groups: list[Pattern]) -> None:
    found = attribute(plan(*CLAUSES), groups)
    candidates = [group for group in groups if group.signature.verdict is not Verdict.DROP or group.signature.is_left_by([0])]
    for index, clause in enumerate(found.clauses):
        dropped = sum(group.files for group in candidates if not group.signature.outcomes[index].can_true)
        assert dropped + sum(amount.files for amount in clause.kept.values()) == found.candidates.files


def test_the_least_evidence_gets_the_credit() -> None:
    found = attribute(
        plan(IN_GERMANY, OVER_40),
        [
            files(4, NOT_BY_PARTITION, NOT_BY_STATISTICS),
            files(1, MATCHES, NOT_BY_STATISTICS),
            files(2, MAY_MATCH, NOT_BY_BOTH),
            files(3, MATCHES, MAY_MATCH),
        ],
    )
    assert {credit: amount.files for credit, amount in found.credits.items()} == {
        CONSTANT: 0,
        "partition": 4,
        "statistics": 1,
        JOINT: 2,
    }
    country, age = found.clauses
    assert (country.drops_any.files, country.drops_first.files, country.drops_alone.files) == (4, 4, 0)
    assert (age.drops_any.files, age.drops_first.files, age.drops_alone.files) == (7, 3, 3)


def test_a_file_without_live_rows_is_dropped_even_when_every_clause_matches() -> None:
    found = attribute(plan(OVER_40), [files(2, MATCHES, rows=0, empty=True), files(1, MATCHES)])
    assert (found.kept.files, found.full.files, found.empty.files) == (1, 1, 2)
    assert found.credits["statistics"].files == 2


def test_without_clauses_every_file_is_a_full_match() -> None:
    found = attribute(plan(), [files(3)])
    assert (found.kept.files, found.full.files) == (3, 3)


def test_kept_files_are_told_apart_by_what_stood_in_the_way() -> None:
    found = attribute(
        plan(OVER_40, HAS_X),
        [
            files(1, MAY_MATCH, MAY_MATCH),
            files(2, STATISTIC_MISSING, MAY_MATCH, known=False),
            files(4, NAN_POSSIBLE, MAY_MATCH),
            files(8, MATCHES, MAY_MATCH),
        ],
    )
    age, like = found.clauses
    assert {because: amount.files for because, amount in age.kept.items() if amount.files} == {
        Keeps.RANGES_OVERLAP: 1,
        Keeps.MISSING_STATISTIC: 2,
        Keeps.NAN_POSSIBLE: 4,
        Keeps.ALL_ROWS_MATCH: 8,
    }
    assert like.kept[Keeps.NOT_DECIDABLE].files == 15


def test_coverage_counts_the_files_that_partition_pruning_left() -> None:
    groups = [
        files(5, NOT_BY_PARTITION, MAY_MATCH, MAY_MATCH, known=False),
        files(3, MATCHES, MAY_MATCH, MAY_MATCH),
        files(1, MATCHES, STATISTIC_MISSING, MAY_MATCH, known=False),
    ]
    found = attribute(plan(IN_GERMANY, OVER_40, NO_NAME), groups)
    shown = [(c.column, c.requirement.value, c.covered_files, c.candidate_files) for c in found.coverage]
    assert shown == [("age", "min_max", 3, 4), ("name", "null_count", 3, 4)]
    assert found.lacking_statistics == 6


def test_a_partition_value_in_doubt_is_not_exact() -> None:
    assert attribute(plan(IN_GERMANY), [files(1, MATCHES)]).partition_is_exact
    assert not attribute(plan(IN_GERMANY), [files(1, MAY_MATCH)]).partition_is_exact
