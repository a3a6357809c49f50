"""Steps 6 and 7 without Spark: what happens when the table moves, a conflict comes, Spark fails, or somebody else was first."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.execution import Conflict, Execution, execute
from lakeprune.apps.statements.model import Fate, Status, Touched, effects_of
from lakeprune.errors import StatementError, UsageError
from lakeprune.formats.commit import Commit, FileAction
from lakeprune.report.gates import Assertion
from tests.builders.documents import plan

FILE = Touched("part-1", "part-1", 10, 5, 5, Fate.REMOVE)
REFUSED = (Assertion("max_rows", False, {"threshold": 1, "actual": 5}, "5 row(s) to change are above the limit of 1"),)


class Lake:
    """A table that a statement is executed on: its versions, and what each attempt to write leads to."""

    def __init__(self, *attempts: Exception | None, newest: int = 7, **plans: Any) -> None:
        self.attempts, self.newest = list(attempts), newest
        self.plans: dict[int, dict[str, Any]] = {int(version[1:]): changes for version, changes in plans.items()}
        self.commits: dict[str, Commit] = {}
        self.is_written = True  # whether an attempt that did not fail leaves a commit
        self.read_version = 7
        self.written: list[str] = []

    def planned(self, version: int | None = None) -> Any:
        at = self.newest if version is None else version
        made: dict[str, Any] = {"version": at, "touched": (FILE,), "effects": effects_of((FILE,), deleted=5), "guards": ()}
        return _Planned(self, plan(**{**made, **self.plans.get(at, {})}))


class _Planned:
    """What `execute` needs of a PlannedStatement, over a Lake."""

    def __init__(self, lake: Lake, values: Any) -> None:
        self._lake, self._values = lake, values

    def __getattr__(self, name: str) -> Any:
        return getattr(self._values, name)

    def newest_version(self) -> int:
        return self._lake.newest

    def again(self, version: int | None = None) -> Any:
        return self._lake.planned(version)

    def write(self, mark: str) -> None:
        self._lake.written.append(self._values.condition)
        failure = self._lake.attempts.pop(0) if self._lake.attempts else None
        if (failure is None or "after the commit" in str(failure)) and self._lake.is_written:
            removed = (FileAction("part-1", 10, 5, 0, False),)
            commit = Commit(self._lake.newest + 1, "DELETE", self._lake.read_version, {"numDeletedRows": "5"}, (), removed, 0)
            self._lake.commits[mark] = commit
        if failure is not None:
            raise failure

    def commit_marked(self, mark: str) -> Commit | None:
        return self._lake.commits.get(mark)

    def keys_of(self, paths: list[str]) -> dict[str, str]:
        return {path: path for path in paths}


def run(lake: Lake, retry: int = 0, planned: Any = None) -> Execution:
    return execute(lake.planned() if planned is None else planned, retry)


def test_a_statement_that_commits_as_planned_passes() -> None:
    lake = Lake()
    done = run(lake)
    assert (done.status, done.passed, done.attempts, done.notes) == (Status.COMMITTED, True, 1, ())
    assert lake.written == ["year(day) = 2024 AND id > 3"], "the strengthened condition"


def test_nothing_is_written_where_nothing_matches_or_a_guard_refuses() -> None:
    empty, guarded = Lake(v7={"is_empty": True}), Lake(v7={"guards": REFUSED})
    assert [(done.status, done.passed, done.attempts) for done in (run(empty), run(guarded))] == [
        (Status.NOTHING_MATCHES, True, 0),
        (Status.GUARDED, False, 0),
    ]
    assert empty.written == guarded.written == []


def test_a_conflict_is_a_value_and_is_tried_again_as_often_as_asked() -> None:
    conflict = Conflict("ConcurrentAppendException", "files were added")
    done = run(Lake(conflict))
    assert (done.status, done.conflict) == (Status.CONFLICT, "ConcurrentAppendException: files were added")
    lake = Lake(conflict, conflict)
    done = run(lake, retry=2)
    assert (done.status, done.attempts, len(lake.written)) == (Status.COMMITTED, 3, 3)
    assert done.notes[0] == "attempt 1 met a conflict and wrote nothing: ConcurrentAppendException: files were added"
    assert run(Lake(conflict, conflict), retry=1).status is Status.CONFLICT


def test_a_table_that_moved_is_planned_afresh_and_the_guards_are_asked_again() -> None:
    lake = Lake(v8={"guards": REFUSED})
    planned, lake.newest = lake.planned(), 8
    done = run(lake, planned=planned)
    assert (done.status, done.plan.version) == (Status.GUARDED, 8)
    assert done.notes == ("the table moved from version 7 to 8: planned afresh, the same files are to be changed",)
    lake = Lake(v8={"touched": ()})
    planned, lake.newest = lake.planned(), 8
    assert "other files are to be changed" in run(lake, planned=planned).notes[0]


def test_a_commit_that_spark_failed_after_is_found_by_its_mark() -> None:
    done = run(Lake(StatementError("LP410", "lost after the commit")))
    assert (done.status, done.passed) == (Status.COMMITTED, True)
    assert "the commit was written, then Spark reported" in done.notes[0]
    with pytest.raises(StatementError, match="LP410"):
        run(Lake(StatementError("LP410", "the disk is full")))


def test_a_statement_that_others_made_needless_ends_without_a_commit() -> None:
    lake = Lake(v8={"is_empty": True})
    lake.is_written = False
    planned = lake.planned()
    lake.attempts = [None]
    real = lake.planned

    def moved(version: int | None = None) -> Any:
        lake.newest = 8
        return real(version)

    lake.planned = moved  # type: ignore[method-assign]  # somebody else commits while ours is being written
    done = run(lake, planned=planned)
    assert done.status is Status.NOTHING_MATCHES
    assert done.notes == ("by version 8 somebody else had changed every row that matched",)


def test_a_commit_that_is_nowhere_is_an_error_and_never_taken_for_done() -> None:
    lake = Lake()
    lake.is_written = False
    with pytest.raises(StatementError, match="LP412"):
        run(lake)


def test_a_commit_is_checked_against_the_version_that_delta_read() -> None:
    lake = Lake(v6={"touched": (), "effects": effects_of(())})
    lake.read_version = 6
    done = run(lake)
    assert not done.passed
    assert done.notes == ("Delta's transaction read version 6: the commit is checked against a plan of that version",)


def test_a_guard_that_the_version_delta_read_breaks_is_a_difference() -> None:
    lake = Lake(v6={"guards": REFUSED})
    lake.read_version = 6
    done = run(lake)
    assert done.reconciliation is not None
    assert [check.name for check in done.reconciliation.differences] == ["guard max_rows"]


@pytest.mark.parametrize("retry", [-1, 1.5, "2", True])
def test_retries_are_a_whole_number(retry: Any) -> None:
    with pytest.raises(UsageError, match="LP252"):
        run(Lake(), retry=retry)
