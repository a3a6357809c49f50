"""Why a file was kept and what dropped it, in words: one table for every text and page."""

from __future__ import annotations

from lakeprune.render.printable import shortened
from lakeprune.report.attribution import Attribution
from lakeprune.report.verdict import CONSTANT, Keeps
from lakeprune.skipping.ladder import Ladder

# In the order of a clause's numbers. What a table cell says, and what stands before the text of a clause.
_KEPT = {
    Keeps.RANGES_OVERLAP: ("ranges overlap", "ranges overlap with"),
    Keeps.NULL_COUNT: ("null count leaves it open", "the null count leaves it open for"),
    Keeps.PARTITION_TEXT_UNREADABLE: ("partition value unreadable", "the recorded partition value cannot be read for"),
    Keeps.EVALUATION_FAILED: ("evaluation failed", "it could not be evaluated:"),
    Keeps.MISSING_STATISTIC: ("statistic missing", "a statistic is missing for"),
    Keeps.NAN_POSSIBLE: ("NaN possible", "NaN cannot be excluded for"),
    Keeps.NOT_DECIDABLE: ("not decidable from metadata", "metadata cannot decide"),
    Keeps.ALL_ROWS_MATCH: ("all rows match", "every row satisfies"),
}
KEPT = {why: cell for why, (cell, _) in _KEPT.items()}


def dropped_by(credit: str, ladder: Ladder) -> str:
    """The evidence that a credit stands for.

    >>> from lakeprune.formats.delta.ladder import EVIDENCE
    >>> [dropped_by(credit, EVIDENCE.ladder) for credit in ("partition", "joint", "constant")]
    ['partition values', 'partition values and statistics together', 'the condition itself']
    """
    if credit == CONSTANT:
        return "the condition itself"
    known = {rung.name: rung.evidence for rung in ladder}
    return known.get(credit) or " and ".join(known.values()) + " together"


def left_by(numbers: Attribution) -> str:
    """What left the candidates; nothing when all files are."""
    if numbers.candidates == numbers.total:
        return ""
    return "left by the condition itself" if numbers.credits[CONSTANT].files else "left by partition pruning"


def because(why: Keeps, clause: str) -> str:
    """
    >>> because(Keeps.MISSING_STATISTIC, "age > 40")
    'a statistic is missing for age > 40'
    """
    return f"{_KEPT[why][1]} {shortened(clause)}"
