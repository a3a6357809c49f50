"""The pruning summary: what a predicate leaves at every level of a table, in nine numbers that dashboards can plot.

In: a report. Out: `Summary`, the same for every format and every document. A level that the format does not have, that nobody
asked for or that is not known is None: 0 is a count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.report.amount import Amount

if TYPE_CHECKING:
    from lakeprune.report.model import Report


class Summary(Struct, frozen=True):
    """What is there and what has to be read. null: the format has no such level, or the number is not known."""

    manifests_total: int | None
    manifests_kept: int | None
    files_total: int
    files_kept: int
    row_groups_total: int | None  # of the files that evidence about files leaves; null for a sample of them
    row_groups_kept: int | None
    bytes_total: int | None
    bytes_kept: int | None
    planning_ms: int  # from opening the table until its containers were counted


def summary_of(report: Report) -> Summary:
    """The summary of a report."""
    total, kept, manifests = report.numbers.total, report.numbers.kept, report.numbers.manifests
    groups = None if report.row_groups is None or report.row_groups.is_sample else report.row_groups
    return Summary(
        manifests_total=None if manifests is None else manifests.total,
        manifests_kept=None if manifests is None else manifests.kept,
        files_total=total.files,
        files_kept=kept.files,
        row_groups_total=None if groups is None else groups.total.row_groups,
        row_groups_kept=None if groups is None else groups.kept.row_groups,
        bytes_total=_bytes(total),
        bytes_kept=_bytes(kept),
        planning_ms=report.planning_ms,
    )


def _bytes(amount: Amount) -> int | None:
    return None if amount.files_without_bytes else amount.bytes
