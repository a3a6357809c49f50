"""What row groups add to a report: how many are left, their bytes, and the files that lose all of theirs.

In: what the row groups of one question are. Out: `RowGroups`, a part of the report and its document, and the patterns of files
with the lost ones apart. Counted are the row groups of the files that evidence about files leaves: others are never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.snapshot import Note
from lakeprune.programs.patterns import Pattern, Signature
from lakeprune.report.amount import Amount, counted, files_text
from lakeprune.report.attribution import attribute
from lakeprune.report.verdict import BLOOM, Keeps
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.programs.row_groups import Asked, Found


class RowGroupAmount(Struct, frozen=True):
    """Row groups, the compressed bytes of all their columns, and their live rows; files with deletes do not tell those."""

    row_groups: int
    bytes: int
    rows: int
    row_groups_without_rows: int


class RowGroupClause(Struct, frozen=True):
    """What one conjunct did: any, dropped by it by itself; first, credited to it; alone, kept if it were not there."""

    text: str
    dropped_any: RowGroupAmount
    dropped_first: RowGroupAmount
    dropped_alone: RowGroupAmount
    kept_missing_statistic: RowGroupAmount


class RowGroups(Struct, frozen=True):
    """The row groups of the files that evidence about files leaves. `needed_bytes_*` are those of the predicate's own columns."""

    files: int
    footers_read: int  # fewer than files: a sample, or files whose footers cannot be read
    is_sample: bool
    files_dropped: int  # that lose all of their row groups
    total: RowGroupAmount
    kept: RowGroupAmount
    full: RowGroupAmount  # the part of `kept` whose every live row satisfies the predicate
    credits: dict[str, RowGroupAmount]  # of what is dropped: by each rung, joint, and bloom where filters are consulted
    needed_columns: list[str]
    needed_bytes_total: int
    needed_bytes_kept: int
    clauses: list[RowGroupClause]


class RowGroupFile(Struct, frozen=True):
    """One row group of a listed file: [start, end) are its bytes in the file."""

    id: int
    kept: bool
    start: int
    end: int
    bytes: int  # of all its column chunks
    needed_bytes: int  # of those of the predicate's columns
    rows: int  # deleted ones included
    verdict: Verdict
    credit: str | None
    clause: str | None
    reason: Keeps | None


def row_groups_of(found: Found, columns: Sequence[str], asked: Asked) -> RowGroups:
    """The numbers of one question's row groups."""
    numbers = attribute(found.plan, found.patterns, more=BLOOM if asked.bloom else None)
    return RowGroups(
        files=found.files,
        footers_read=found.files_read,
        is_sample=asked.sample is not None and found.files_read < found.files,
        files_dropped=sum(pattern.files for pattern in found.lost),
        total=_amount(numbers.total),
        kept=_amount(numbers.kept),
        full=_amount(numbers.full),
        credits={name: _amount(amount) for name, amount in numbers.credits.items()},
        needed_columns=list(columns),
        needed_bytes_total=found.needed.total,
        needed_bytes_kept=found.needed.kept,
        clauses=[
            RowGroupClause(
                clause.text,
                _amount(credit.drops_any),
                _amount(credit.drops_first),
                _amount(credit.drops_alone),
                _amount(credit.kept[Keeps.MISSING_STATISTIC]),
            )
            for clause, credit in zip(found.plan.clauses, numbers.clauses, strict=True)
        ],
    )


def without_lost(patterns: Sequence[Pattern], lost: Sequence[Pattern]) -> list[Pattern]:
    """The patterns of files, those that lose all row groups apart."""
    found: dict[Signature, Pattern] = {}
    above = [pattern for pattern in patterns if pattern.level is Level.MANIFEST]
    for pattern in patterns:
        if pattern.level is Level.FILE:
            _add(found, pattern, 1)
    for pattern in lost:
        _add(found, pattern, 1)
        _add(found, replace(pattern, signature=replace(pattern.signature, lost=None)), -1)
    assert all(pattern.files >= 0 for pattern in found.values()), "only files that are left can lose their row groups"
    return [*above, *(pattern for pattern in found.values() if pattern.files)]


def row_group_notes(groups: RowGroups, with_bloom: int, unread: dict[str, str], *, is_bloom_asked: bool) -> list[Note]:
    """What to know of how they were looked at."""
    notes = []
    if groups.is_sample:
        sampled = f"of {groups.footers_read} of {files_text(groups.files)}"
        notes.append(Note("row_groups_sampled", f"row groups were looked at {sampled}, chosen by path; the other files are kept"))
    for why in dict.fromkeys(unread.values()):
        several = [key for key, reason in unread.items() if reason == why]
        kept = f"{files_text(len(several))} kept without a look at row groups: {why}; {several[0]}"
        notes.append(Note("footers_not_read", kept))
    if with_bloom:
        have = f"{counted(with_bloom, 'row group')} left {'has' if with_bloom == 1 else 'have'} Bloom filters of its columns"
        why = "on Spark only footers are read; --bloom without Spark does" if is_bloom_asked else "--bloom does for = and IN"
        notes.append(Note("bloom_filters_not_consulted", f"{have}, which were not consulted; {why}"))
    return notes


def _add(found: dict[Signature, Pattern], pattern: Pattern, sign: int) -> None:
    before = found.get(pattern.signature, Pattern(pattern.signature, 0, 0, 0, 0)).sums
    added = (one + sign * other for one, other in zip(before, pattern.sums, strict=True))
    found[pattern.signature] = Pattern(pattern.signature, *added)


def _amount(amount: Amount) -> RowGroupAmount:
    return RowGroupAmount(amount.files, amount.bytes, amount.rows, amount.files_without_rows)
