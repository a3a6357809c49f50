"""Why a file was kept and what dropped it, in words: one table for every text and page."""

from __future__ import annotations

from lakeprune.render.printable import shortened
from lakeprune.report.verdict import Credit, Keeps

# In the order of a clause's numbers. What a table cell says, and what stands before the text of a clause.
_KEPT = {
    Keeps.RANGES_OVERLAP: ("ranges overlap", "ranges overlap with"),
    Keeps.MISSING_STATISTIC: ("statistic missing", "a statistic is missing for"),
    Keeps.NAN_POSSIBLE: ("NaN possible", "NaN cannot be excluded for"),
    Keeps.NOT_DECIDABLE: ("not decidable from metadata", "metadata cannot decide"),
    Keeps.ALL_ROWS_MATCH: ("all rows match", "every row satisfies"),
}
KEPT = {why: cell for why, (cell, _) in _KEPT.items()}
DROPPED_BY = {
    Credit.PARTITION: "partition values",
    Credit.STATISTICS: "statistics",
    Credit.JOINT: "partition values and statistics together",
}


def because(why: Keeps, clause: str) -> str:
    """
    >>> because(Keeps.MISSING_STATISTIC, "age > 40")
    'a statistic is missing for age > 40'
    """
    return f"{_KEPT[why][1]} {shortened(clause)}"
