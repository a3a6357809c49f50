"""Gates: what a pipeline demands of a report, and whether it got it. A failed gate is a value, never an exception.

    min_pruning         at least PCT percent of the files are dropped
    min_bytes_pruning   at least PCT percent of the bytes are dropped
    max_files           at most N files are left to read
    max_bytes           at most SIZE bytes are left to read
    stats_complete      with a predicate: every file with rows carries each statistic that its clauses need;
                        without: every file carries statistics
    full_attribution    every clause can be decided from metadata, and none mixes partition and data columns

A table without files has nothing to read, so no predicate can prune it badly: the pruning gates pass on it, with an actual value
of 100 and a note. Comparisons are exact; only the message rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.report.amount import Amount, percent, size_text
from lakeprune.report.attribution import Attribution


class Gates(Struct, frozen=True):
    """What was demanded; None and False demand nothing."""

    min_pruning: float | None = None
    min_bytes_pruning: float | None = None
    max_files: int | None = None
    max_bytes: int | None = None
    assert_stats: bool = False
    require_full_attribution: bool = False


class Assertion(Struct, frozen=True):
    """One demand and its outcome. `details` are the fields its JSON entry has beside name and result."""

    name: str
    passed: bool
    details: dict[str, float | int | str]
    message: str  # what to tell when it failed


def check_gates(gates: Gates, *, has_predicate: bool) -> None:
    """Refuse demands that cannot be meant: a share outside 0..100, a pruning gate without a predicate."""
    for name in ("min_pruning", "min_bytes_pruning"):
        share = getattr(gates, name)
        if share is not None and not (_is_number(share) and 0 <= share <= 100):
            raise UsageError("LP211", f"{name} is {share!r}, which is no percentage", fix="give a number from 0 to 100")
        if share is not None and not has_predicate:
            raise UsageError("LP212", f"{name} needs a predicate: without one nothing is pruned", fix="add --where PREDICATE")
    for name in ("max_files", "max_bytes"):
        limit = getattr(gates, name)
        if limit is not None and not (_is_number(limit) and limit >= 0):
            raise UsageError("LP211", f"{name} is {limit!r}, which no table can meet", fix="give a number, 0 or more")
    if gates.require_full_attribution and not has_predicate:
        raise UsageError("LP212", "require_full_attribution needs a predicate", fix="add --where PREDICATE")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def judge(gates: Gates, numbers: Attribution, unattributed: Sequence[str], *, has_predicate: bool) -> tuple[Assertion, ...]:
    """One assertion per demand, in a fixed order; `unattributed` are the clauses metadata cannot decide."""
    found = judge_amounts(gates, numbers.total, numbers.kept)
    if gates.assert_stats:
        found.append(_stats_complete(numbers, has_predicate=has_predicate))
    if gates.require_full_attribution:
        told = f"{len(unattributed)} clause(s) cannot be fully attributed: {'; '.join(unattributed)}"
        found.append(Assertion("full_attribution", not unattributed, {"unattributed_clauses": len(unattributed)}, told))
    return tuple(found)


def judge_amounts(gates: Gates, total: Amount, kept: Amount) -> list[Assertion]:
    """The demands on how much is left to read."""
    found = []
    if gates.min_pruning is not None:
        found.append(_at_least("min_pruning", "total", gates.min_pruning, (total.files - kept.files, total.files)))
    if gates.min_bytes_pruning is not None:
        found.append(_at_least("min_bytes_pruning", "bytes", gates.min_bytes_pruning, (total.bytes - kept.bytes, total.bytes)))
    if gates.max_files is not None:
        told = f"{kept.files} file(s) to read are above the limit of {gates.max_files}"
        found.append(_at_most("max_files", gates.max_files, kept.files, told))
    if gates.max_bytes is not None:
        told = f"{size_text(kept.bytes)} ({kept.bytes} bytes) to read are above the limit of {gates.max_bytes} bytes"
        found.append(_at_most("max_bytes", gates.max_bytes, kept.bytes, told))
    return found


def _at_least(name: str, label: str, threshold: float, share: tuple[int, int]) -> Assertion:
    part, whole = share
    if whole <= 0:
        details: dict[str, float | int | str] = {"threshold": float(threshold), "actual": 100.0, "note": "nothing to read"}
        return Assertion(name, True, details, "")
    actual = percent(part, whole)
    passed = Fraction(100 * part, whole) >= Fraction(str(threshold))
    for digits in range(1, 5):
        shown, wanted = f"{actual:.{digits}f}%", f"{threshold:.{digits}f}%"
        if shown != wanted:
            break
    told = f"{label} pruning {shown} is below threshold {wanted}"
    return Assertion(name, passed, {"threshold": float(threshold), "actual": actual}, told)


def _at_most(name: str, limit: int, actual: int, told: str) -> Assertion:
    return Assertion(name, actual <= limit, {"threshold": limit, "actual": actual}, told)


def _stats_complete(numbers: Attribution, *, has_predicate: bool) -> Assertion:
    missing = numbers.lacking_statistics if has_predicate else numbers.total.files - numbers.with_stats
    needed = sorted({f"{c.column} [{c.requirement.value}]" for c in numbers.coverage})
    which = f" that the predicate needs: {', '.join(needed)}" if has_predicate else ""
    return Assertion("stats_complete", not missing, {"missing_count": missing}, f"{missing} file(s) missing statistics{which}")
