"""What is known of the rows that a scan gives, before any of them is read.

In: the summary of its files. Out: counts and bounds, each marked exact or not. Nothing is exact as soon as a residual remains:
some of the rows that were counted may still be filtered out. Bounds and null counts are not exact either where a limit takes some
of the rows, or rows of a file are deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.predicate.tree import Column
from lakeprune.programs.scan import Asked, bound_type
from lakeprune.programs.scan_forms import name_of
from lakeprune.programs.scan_summary import ColumnSummary, ScanSummary
from lakeprune.values.types import INTEGRAL_KINDS, Kind

_RECORDED_EXACTLY = INTEGRAL_KINDS | {Kind.BOOLEAN, Kind.DATE, Kind.DECIMAL}  # others are rounded, truncated, or hide NaN


class Count(Struct, frozen=True):
    value: int | None  # null when unknown
    exact: bool


class Bound(Struct, frozen=True):
    """A bound as text. Where it is not exact, no value lies beyond it."""

    value: str | None  # null when unknown
    exact: bool


class ColumnStatistics(Struct, frozen=True):
    name: str
    type: str  # of the bounds
    min: Bound
    max: Bound
    nulls: Count


class ScanStatistics(Struct, frozen=True):
    """Statistics of the result. Counts that are not exact are those of the files: the result has at most as many."""

    rows: Count
    bytes: Count
    columns: tuple[ColumnStatistics, ...]

    def column(self, name: str) -> ColumnStatistics:
        """The statistics of one column; KeyError when it has none."""
        found = {column.name: column for column in self.columns}
        return found[name]


def statistics_of(summary: ScanSummary, asked: Asked, projected: Sequence[str], *, is_tight: bool) -> ScanStatistics:
    """What the summary says; `is_tight`: bounds without deleted rows are those of the values. Only of projected columns."""
    is_filtered = any(summary.residual)
    is_whole = not is_filtered and asked.limit is None
    rows = None if summary.files_without_rows else summary.rows
    if asked.limit is not None and rows is not None:
        rows = min(rows, asked.limit)
    is_counted = not summary.files_without_rows
    has_all = is_whole and not summary.files_with_vector
    columns = [
        _column(column, found, has_exact_bounds=is_whole and is_counted, has_exact_nulls=is_whole and is_counted)
        for column, found in zip(asked.partitions, summary.partitions, strict=True)
        if column.path[0] in projected
    ]
    columns += [
        _column(
            column,
            found,
            has_exact_bounds=has_all and is_tight and column.type.kind in _RECORDED_EXACTLY,
            has_exact_nulls=has_all,
        )
        for column, found in zip(asked.statistics, summary.columns, strict=True)
    ]
    is_exact = not is_filtered and is_counted
    return ScanStatistics(Count(rows, is_exact and rows is not None), Count(summary.bytes, is_whole), tuple(columns))


def _column(column: Column, found: ColumnSummary, *, has_exact_bounds: bool, has_exact_nulls: bool) -> ColumnStatistics:
    low, high = (Bound(end, has_exact_bounds and end is not None) for end in (found.low, found.high))
    kind = str(bound_type(column.type))
    return ColumnStatistics(name_of(column), kind, low, high, Count(found.nulls, has_exact_nulls and found.nulls is not None))
