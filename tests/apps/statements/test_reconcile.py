"""Step 7 without Spark: a commit beside its plan, and every way in which they can differ."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.model import Fate, Touched, effects_of
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.apps.statements.reconcile import NAMED, Reconciliation, reconcile
from lakeprune.formats.commit import Commit, FileAction
from tests.builders.documents import plan

TOUCHED = (
    Touched("old", "old", 10, 10, 4, Fate.REWRITE),
    Touched("gone", "gone", 10, 7, 7, Fate.REMOVE),
    Touched("hid", "hid", 10, 9, 3, Fate.VECTOR),
)
PLAN = plan(touched=TOUCHED, effects=effects_of(TOUCHED, deleted=14))
METRICS = {"numDeletedRows": "14", "numCopiedRows": "6", "numAddedChangeFiles": "0", "numRemovedFiles": "99"}


def action(path: str, rows: int | None = 10, hidden: int = 0) -> FileAction:
    return FileAction(path, 10, rows, hidden, hidden > 0)


def commit(**changes: Any) -> Commit:
    """What PLAN leads to: one file written anew, one removed, one with three more rows hidden."""
    made: dict[str, Any] = {
        "version": 8,
        "operation": "DELETE",
        "read_version": 7,
        "metrics": METRICS,
        "added": (action("new", 6), action("hid", 10, 4)),
        "removed": (action("old"), action("gone", 7), action("hid", 10, 1)),
        "change_files": 0,
    }
    return Commit(**{**made, **changes})


def checked(found: Commit, planned: StatementPlan = PLAN) -> Reconciliation:
    return reconcile(planned, found, {each.path: each.path for each in (*found.added, *found.removed)})


def test_a_commit_that_did_what_was_planned_passes_every_check() -> None:
    found = checked(commit())
    assert found.passed, found.differences
    assert {check.name: check.found for check in found.checks} == {
        "files removed": 2,
        "files given a deletion vector": 1,
        "rows written to new files": 6,
        "rows hidden by deletion vectors": 3,
        "numCopiedRows": 6,
        "numDeletedRows": 14,
        "numAddedChangeFiles": 0,
    }, "numRemovedFiles counts otherwise where there are deletion vectors"


@pytest.mark.parametrize(
    ("changes", "name", "expected", "found"),
    [
        ({"removed": (action("old"), action("hid", 10, 1))}, "files removed", 2, 1),
        ({"removed": (action("old"), action("gone"), action("other"), action("hid", 10, 1))}, "files removed", 2, 3),
        ({"added": (action("new", 6),)}, "files given a deletion vector", 1, 0),
        ({"added": (action("new", 5), action("hid", 10, 4))}, "rows written to new files", 6, 5),
        ({"added": (action("new", 6), action("hid", 10, 5))}, "rows hidden by deletion vectors", 3, 4),
        ({"metrics": {"numDeletedRows": "13"}}, "numDeletedRows", 14, 13),
        ({"change_files": 2}, "numAddedChangeFiles", 2, 0),
    ],
)
def test_every_difference_is_found(changes: dict[str, Any], name: str, expected: int, found: int) -> None:
    differences = {check.name: (check.expected, check.found) for check in checked(commit(**changes)).differences}
    assert differences[name] == (expected, found)


def test_files_that_differ_are_named_and_all_are_counted() -> None:
    others = tuple(action(f"other-{number:02}") for number in range(30))
    (check,) = checked(commit(removed=(*others, action("old"), action("hid", 10, 1)))).differences
    assert (check.expected, check.found) == (2, 31)
    assert check.details[:2] == ("expected, not found: gone", "found, not expected: other-00")
    assert len(check.details) == NAMED


def test_numbers_that_either_side_does_not_know_are_not_compared() -> None:
    unknown = (Touched("gone", "gone", 10, None, None, Fate.REMOVE),)
    planned = plan(touched=unknown, effects=effects_of(unknown, deleted=None))
    found = checked(commit(added=(), removed=(action("gone", None),), metrics={"numDeletedRows": "14"}), planned)
    assert found.passed
    assert "numDeletedRows" not in {check.name for check in found.checks}
    uncounted = checked(commit(added=(action("new", None), action("hid", 10, 4))))
    assert "rows written to new files" not in {check.name for check in uncounted.checks}
    assert uncounted.passed


def test_every_statement_has_its_own_names_for_delta_s_numbers() -> None:
    touched = (Touched("old", "old", 10, 10, 4, Fate.REWRITE),)
    planned = plan(touched=touched, effects=effects_of(touched, updated=3, deleted=1, inserted=5))
    metrics = {
        "numTargetRowsCopied": "6",
        "numTargetRowsInserted": "5",
        "numTargetRowsUpdated": "3",
        "numTargetRowsDeleted": "2",
        "numTargetFilesRemoved": "1",
        "numSourceRows": "77",
    }
    found = checked(commit(added=(action("new", 14),), removed=(action("old"),), metrics=metrics), planned)
    assert [check.name for check in found.differences] == ["numTargetRowsDeleted"]
    assert {check.name for check in found.checks} >= metrics.keys() - {"numSourceRows"}
