"""Step 7: the commit read back and held against the plan, file by file and number by number.

In: a plan, the commit. Out: a `Reconciliation`: every check with what was expected and what was found, and the files that differ.
Files and rows are taken from the commit's own actions; Delta's operationMetrics are checked beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.apps.statements.candidates import keys_of
from lakeprune.apps.statements.model import Fate, Operation, total
from lakeprune.formats.commit import Commit, FileAction

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


class Reconciliation(Struct, frozen=True):
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def differences(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)


def reconcile(plan: StatementPlan, commit: Commit) -> Reconciliation:
    """Whether the commit did what the plan said."""
    keys = keys_of(plan.target.planner, [action.path for action in (*commit.added, *commit.removed)])
    return Reconciliation((*_files(plan, commit, keys), *_rows(plan, commit, keys), *_metrics(plan, commit)))


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
    """What the actions themselves say about rows, where they and the plan do."""
    removed = {keys[action.path]: action for action in commit.removed}
    written = total([action.rows for action in commit.added if keys[action.path] not in removed])
    if written is not None and plan.effects.written is not None:
        yield _same("rows written to new files", plan.effects.written, written)
    hidden = sum(_newly_hidden(action, removed[key]) for action in commit.added if (key := keys[action.path]) in removed)
    expected = sum(file.matching or 0 for file in plan.touched if file.fate is Fate.VECTOR)
    yield _same("rows hidden by deletion vectors", expected, hidden)


def _newly_hidden(after: FileAction, before: FileAction) -> int:
    return after.hidden - before.hidden


def _metrics(plan: StatementPlan, commit: Commit) -> Iterator[Check]:
    """Delta's own numbers, as far as it reports them and the plan knows them."""
    effects = plan.effects
    expected: dict[str, int | None] = {"numCopiedRows": effects.copied, "numTargetRowsCopied": effects.copied}
    if plan.statement.operation is Operation.MERGE:
        expected["numTargetRowsInserted"] = effects.inserted
        expected["numTargetRowsUpdated"] = effects.updated
        expected["numTargetRowsDeleted"] = effects.deleted
    if plan.statement.operation is Operation.UPDATE:
        expected["numUpdatedRows"] = effects.updated
    if plan.statement.operation is Operation.DELETE:
        expected["numDeletedRows"] = effects.deleted
    if not effects.vectors.files:
        expected |= dict.fromkeys(("numRemovedFiles", "numTargetFilesRemoved"), effects.rewritten.files + effects.removed.files)
    expected |= dict.fromkeys(("numAddedChangeFiles", "numTargetChangeFilesAdded"), commit.change_files)
    for name, number in expected.items():
        told = commit.metrics.get(name)
        if number is not None and told is not None:
            yield _same(name, number, int(told))


def _same(name: str, expected: int, found: int) -> Check:
    return Check(name, expected, found, expected == found)
