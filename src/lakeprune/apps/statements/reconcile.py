"""Step 7: the commit read back and compared with the plan, file by file and number by number.

In: a plan, the commit, how its paths are compared. Out: a `Reconciliation`: every check with what was expected and what was
found, and the files that differ. Files and rows come from the commit's own actions; Delta's operationMetrics are checked too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.apps.statements.model import Effects, Fate, total
from lakeprune.formats.commit import Commit
from lakeprune.report.document import Outcome, outcome

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

NAMED = 20  # differing files that are named; all are counted


class Check(Struct, frozen=True):
    """One comparison. `details` names what differs."""

    name: str
    expected: int
    found: int
    passed: bool
    details: tuple[str, ...] = ()

    @property
    def result(self) -> Outcome:
        return outcome(self.passed)


class Reconciliation(Struct, frozen=True):
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def result(self) -> Outcome:
        return outcome(self.passed)

    @property
    def differences(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)


def reconcile(plan: StatementPlan, commit: Commit, keys: Mapping[str, str]) -> Reconciliation:
    """Whether the commit did what was planned; `keys` gives every path of the commit as paths are compared."""
    return Reconciliation((*_files(plan, commit, keys), *_rows(plan, commit, keys), *_metrics(plan.effects, commit)))


def _files(plan: StatementPlan, commit: Commit, keys: Mapping[str, str]) -> Iterator[Check]:
    added = {keys[action.path] for action in commit.added}
    removed = {keys[action.path] for action in commit.removed}
    yield _same_files("files removed", plan.keys(Fate.REWRITE, Fate.REMOVE), removed - added)
    yield _same_files("files given a deletion vector", plan.keys(Fate.VECTOR), removed & added)


def _same_files(name: str, expected: frozenset[str], found: set[str]) -> Check:
    missing, unexpected = sorted(expected - found), sorted(found - expected)
    details = [f"expected, not found: {key}" for key in missing] + [f"found, not expected: {key}" for key in unexpected]
    return Check(name, len(expected), len(found), not details, tuple(details[:NAMED]))


def _rows(plan: StatementPlan, commit: Commit, keys: Mapping[str, str]) -> Iterator[Check]:
    """The rows that the actions themselves record, where they and the plan do."""
    before = {keys[action.path]: action for action in commit.removed}
    written = total([action.rows for action in commit.added if keys[action.path] not in before])
    if written is not None and plan.effects.written is not None:
        yield _same("rows written to new files", plan.effects.written, written)
    hidden = sum(action.hidden - before[key].hidden for action in commit.added if (key := keys[action.path]) in before)
    expected = sum(file.matching or 0 for file in plan.touched if file.fate is Fate.VECTOR)
    yield _same("rows hidden by deletion vectors", expected, hidden)


def _metrics(effects: Effects, commit: Commit) -> Iterator[Check]:
    """Delta's own numbers, as far as it reports them and the plan knows them. Each statement has names of its own for them."""
    removed = None if effects.vectors.files else effects.rewritten.files + effects.removed.files
    expected = {
        "numCopiedRows": effects.copied,
        "numTargetRowsCopied": effects.copied,
        "numTargetRowsInserted": effects.inserted,
        "numTargetRowsUpdated": effects.updated,
        "numTargetRowsDeleted": effects.deleted,
        "numUpdatedRows": effects.updated,
        "numDeletedRows": effects.deleted,
        "numRemovedFiles": removed,
        "numTargetFilesRemoved": removed,
        "numAddedChangeFiles": commit.change_files,
        "numTargetChangeFilesAdded": commit.change_files,
    }
    for name, number in expected.items():
        reported = commit.metrics.get(name)
        if number is not None and reported is not None:
            yield _same(name, number, int(reported))


def _same(name: str, expected: int, found: int) -> Check:
    return Check(name, expected, found, expected == found)
