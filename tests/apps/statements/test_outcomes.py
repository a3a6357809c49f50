"""Steps 3 to 5 without Spark: from counts of rows to the files that a statement affects and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lakeprune.apps.statements.assignments import assignments_of
from lakeprune.apps.statements.merge import effects as merging
from lakeprune.apps.statements.merge.clauses import MergeClause, clauses_of
from lakeprune.apps.statements.merge.effects import Counts, FileCounts
from lakeprune.apps.statements.merge.merge import Merge
from lakeprune.apps.statements.model import Candidate, Certainty, Fate, effects_of
from lakeprune.apps.statements.update_delete import update_delete as by_condition
from lakeprune.apps.statements.update_delete.update_delete import Delete, Update
from lakeprune.errors import UsageError
from lakeprune.report.amount import Amount


def candidate(key: str, live: int | None = 10, certainty: Certainty = Certainty.UNDECIDED) -> Candidate:
    return Candidate(key, key, 100, live, certainty)


UPDATE, DELETE = Update("a > 1", assignments_of("a = 1")), Delete("a > 1")
FILES = (candidate("none"), candidate("some"), candidate("every"), candidate("full", 7, Certainty.FULL))
COUNTED = {"none": (10, 0), "some": (10, 4), "every": (10, 10)}


@pytest.mark.parametrize(
    ("statement", "in_part", "fates"),
    [
        (UPDATE, Fate.REWRITE, {"some": Fate.REWRITE, "every": Fate.REWRITE, "full": Fate.REWRITE}),
        (UPDATE, Fate.VECTOR, {"some": Fate.VECTOR, "every": Fate.REWRITE, "full": Fate.REWRITE}),
        (DELETE, Fate.REWRITE, {"some": Fate.REWRITE, "every": Fate.REMOVE, "full": Fate.REMOVE}),
        (DELETE, Fate.VECTOR, {"some": Fate.VECTOR, "every": Fate.REMOVE, "full": Fate.REMOVE}),
    ],
)
def test_a_file_is_rewritten_removed_or_given_a_vector_by_what_matches(
    statement: by_condition.ByCondition, in_part: Fate, fates: dict[str, Fate]
) -> None:
    outcome = by_condition.outcome_of(statement, FILES, COUNTED, in_part)
    assert {file.key: file.fate for file in outcome.touched} == fates
    assert outcome.effects.changed == 4 + 10 + 7
    assert outcome.effects.copied == (6 if in_part is Fate.REWRITE else 0)
    assert not outcome.is_empty


def test_an_update_counts_updated_rows_and_a_delete_deleted_ones() -> None:
    effects = by_condition.outcome_of(UPDATE, FILES, COUNTED, Fate.REWRITE).effects
    assert (effects.updated, effects.deleted, effects.written) == (21, 0, 27)
    assert effects.rewritten == effects.touched == Amount(3, 300, 27)
    effects = by_condition.outcome_of(DELETE, FILES, COUNTED, Fate.REWRITE).effects
    assert (effects.updated, effects.deleted, effects.written) == (0, 21, 6)
    assert effects.write_amplification == 6 / 21


def test_rows_that_the_log_does_not_record_are_unknown_and_not_zero() -> None:
    outcome = by_condition.outcome_of(DELETE, (candidate("full", None, Certainty.FULL),), {}, Fate.REWRITE)
    assert (outcome.effects.deleted, outcome.effects.changed, outcome.effects.write_amplification) == (None, None, None)
    assert outcome.effects.touched == Amount(1, 100, 0, 1)
    assert not outcome.is_empty


def test_where_no_row_matches_there_is_nothing_to_commit() -> None:
    outcome = by_condition.outcome_of(DELETE, FILES[:1], COUNTED, Fate.REWRITE)
    assert (outcome.touched, outcome.is_empty) == ((), True)
    assert outcome.effects == effects_of([])


def clauses(*given: tuple[str, Any]) -> tuple[MergeClause, ...]:
    return clauses_of(given)


SET = ("when_matched_update", "all")
INSERT = ("when_not_matched_insert", "all")
DROP = ("when_matched_delete", True)
OTHERS = ("when_not_matched_by_source_delete", "AND t.a > 1")
IDLE = FileCounts(live=10, matched=2, acting=0, updated=0, deleted=0, ambiguous=0)
CHANGED = FileCounts(live=10, matched=4, acting=3, updated=2, deleted=1, ambiguous=0)
EMPTIED = FileCounts(live=10, matched=10, acting=10, updated=0, deleted=10, ambiguous=0)
APART = FileCounts(live=10, matched=0, acting=0, updated=0, deleted=0, ambiguous=0)
COUNTS = Counts({"idle": IDLE, "changed": CHANGED, "emptied": EMPTIED, "apart": APART}, inserted=5)


@pytest.mark.parametrize(
    ("given", "uses_vectors", "touched"),
    [
        ([SET], False, ["changed", "emptied"]),
        ([SET, INSERT], False, ["idle", "changed", "emptied"]),
        ([INSERT], False, []),
        ([SET, OTHERS], False, ["idle", "changed", "emptied", "apart"]),
        ([SET], True, ["changed", "emptied"]),
        ([SET, INSERT], True, ["changed", "emptied"]),
        ([SET, OTHERS], True, ["changed", "emptied"]),
    ],
)
def test_the_clauses_of_a_merge_decide_which_files_delta_touches(
    given: Sequence[tuple[str, Any]], uses_vectors: bool, touched: list[str]
) -> None:
    files = [candidate(key) for key in COUNTS.files]
    outcome = merging.outcome_of(clauses(*given), files, COUNTS, uses_vectors=uses_vectors)
    assert [file.key for file in outcome.touched] == touched
    fates = {"changed": Fate.VECTOR if uses_vectors else Fate.REWRITE, "emptied": Fate.REMOVE}
    assert all(file.fate is fates.get(file.key, Fate.REWRITE) for file in outcome.touched)
    assert (outcome.effects.updated, outcome.effects.deleted, outcome.effects.inserted) == (2, 11, 5)


def test_a_merge_that_rewrites_files_but_changes_no_row_has_nothing_to_commit() -> None:
    counts = Counts({"idle": IDLE}, inserted=0)
    outcome = merging.outcome_of(clauses(SET, INSERT), [candidate("idle")], counts, uses_vectors=False)
    assert len(outcome.touched) == 1
    assert outcome.is_empty


@pytest.mark.parametrize(
    ("given", "refused", "lossy"),
    [
        ([SET], 3, 0),
        ([SET, INSERT], 3, 0),
        ([DROP], 0, 0),  # a row that goes twice is gone
        ([DROP, INSERT], 0, 3),  # and here costs other rows, where there is a change data feed
        ([("when_matched_delete", "AND s.a = 1")], 3, 0),
        ([DROP, SET], 3, 0),
        ([INSERT], 0, 0),
    ],
)
def test_a_target_row_with_several_source_rows_is_refused_unless_it_only_goes(
    given: Sequence[tuple[str, Any]], refused: int, lossy: int
) -> None:
    counts = Counts({"x": FileCounts(10, 4, 4, 4, 0, ambiguous=3)}, inserted=0)
    assert merging.ambiguous_rows(clauses(*given), counts) == (refused, lossy)


@pytest.mark.parametrize(("kind", "given"), [(Delete, (5,)), (Update, (None,)), (Merge, ("s", " ", ())), (Merge, ("s", 1, ()))])
def test_a_condition_that_is_not_text_is_refused(kind: type, given: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError, match="LP251"):
        kind(*given)
