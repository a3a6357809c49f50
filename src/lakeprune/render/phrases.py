"""What every text and page says in the same words: why a file was kept, what dropped it, gates, notes."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.planning.session import NAN_NOTES
from lakeprune.render.printable import shortened
from lakeprune.report.amount import bytes_text, files_text, percent_text, size_text
from lakeprune.report.attribution import Attribution
from lakeprune.report.buckets import Bucket
from lakeprune.report.engines import EngineRead
from lakeprune.report.gates import Assertion
from lakeprune.report.model import Report
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
_READS = {"modelled": "reads", "planned": "plans"}
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
    if numbers.credits[CONSTANT].files:
        return "left by the condition itself"
    above = numbers.manifests
    return "left by partition pruning" if above is None or above.kept == above.total else "left by manifest and partition pruning"


def differing(report: Report) -> list[EngineRead]:
    """The engines that read something else than what metadata allows."""
    return [engine for engine in report.engines if engine.files != report.numbers.kept.files]


def headline(report: Report) -> list[str]:
    """The answer, in a line or two: what is read, and what an engine reads where that differs."""
    total, kept = report.numbers.total, report.numbers.kept
    if not total.files:
        return ["The table has no files: nothing to read"]
    if report.predicate is None:
        return [f"Reads all {files_text(total.files)}, {bytes_text(total)}: no predicate"]
    share = percent_text(total.files - kept.files, total.files)
    at_least = "at least " if report.text_of(Bucket.NOT_EVALUATED) is not None else ""
    engines = differing(report)
    verb = "Metadata allows" if engines else "Reads"
    lines = [f"{verb} {kept.files:,} of {files_text(total.files)}, {bytes_text(kept)}, {at_least}{share} pruned"]
    for engine in engines:
        pruned = percent_text(total.files - engine.files, total.files)
        size = size_text(engine.bytes)
        lines.append(f"{engine.name} {engine.version} {_READS[engine.basis]} {files_text(engine.files)}, {size}, {pruned} pruned")
    return lines


def two_counts(report: Report, engine: EngineRead) -> str:
    """What metadata allows and what an engine reads."""
    allowed = f"metadata allows {report.numbers.kept.files:,} of {report.numbers.total.files:,}"
    return f"{allowed}; {engine.name} {engine.version} {_READS[engine.basis]} {engine.files:,}"


def gate_lines(assertions: Sequence[Assertion]) -> list[str]:
    """Every gate with its outcome, under a heading; nothing without any."""
    if not assertions:
        return []
    return ["Gates:", *(f"  {'pass' if each.passed else 'FAIL'}  {each.name}  ({details(each)})" for each in assertions)]


def details(assertion: Assertion) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in assertion.details.items())


def notes(report: Report) -> list[tuple[str | None, str]]:
    """What a reader should know about how the table was read: codes and messages."""
    noted: list[tuple[str | None, str]] = [(note.code, note.message) for note in report.facts.notes]
    noted += [(None, note) for note in report.facts.features.notes]
    if note := NAN_NOTES.get(report.session.nan_policy):
        noted.append(("NAN_POLICY", f"{report.session.nan_policy}: {note}"))
    return noted


def because(why: Keeps, clause: str) -> str:
    """
    >>> because(Keeps.MISSING_STATISTIC, "age > 40")
    'a statistic is missing for age > 40'
    """
    return f"{_KEPT[why][1]} {shortened(clause)}"
