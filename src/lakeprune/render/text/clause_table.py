"""Which clause did the work, which did not, and why: one line per clause, with its reasons beneath."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.phrases import KEPT, left_by
from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import files_text
from lakeprune.report.model import ClauseReport, Report
from lakeprune.skipping.ladder import Level

_WIDEST = 60


def clause_table(report: Report) -> list[str]:
    """A table of clauses; nothing for a predicate without any."""
    if not report.clauses:
        return []
    if len(report.clauses) == 1:
        return _alone(report, report.clauses[0])
    texts = [_fitted(clause.clause.text) for clause in report.clauses]
    width = max(len("clause"), *map(len, texts))
    numbers = report.numbers
    left = f"{files_text(numbers.candidates.files)} {left_by(numbers)}".rstrip()
    by_manifest = numbers.counted_at is Level.MANIFEST
    lines = [
        "Clauses (drops: files it drops by itself; first: credited to it; alone: no other clause drops them):",
        *(["  (files in manifests that were not read count as their manifest; --exhaustive counts each)"] if by_manifest else []),
        f"  {'clause':<{width}}  {'drops':>8}  {'first':>8}  {'alone':>8}  keeps, of {left}",
    ]
    for text, clause in zip(texts, report.clauses, strict=True):
        credit = clause.credit
        counts = (credit.drops_any.files, credit.drops_first.files, credit.drops_alone.files)
        cells = "  ".join(f"{count:>8,}" for count in counts)
        lines.append(f"  {text:<{width}}  {cells}  {_kept(clause)}".rstrip())
        lines.extend(f"      {remark}" for remark in _remarks(clause))
    return lines


def _alone(report: Report, clause: ClauseReport) -> list[str]:
    """One clause: the phases and the total have its numbers already."""
    left = f"{files_text(report.numbers.candidates.files)} {left_by(report.numbers)}".rstrip()
    return [f"Keeps, of {left}: {_kept(clause)}", *(f"  {remark}" for remark in _remarks(clause))]


def _fitted(text: str) -> str:
    line = shortened(text)
    return line if len(line) <= _WIDEST else line[: _WIDEST - 3] + "..."


def _kept(clause: ClauseReport) -> str:
    kept = clause.credit.kept
    counts = [f"{kept[why].files:,} {phrase}" for why, phrase in KEPT.items() if kept[why].files]
    return ", ".join(counts) or "none"


def _remarks(clause: ClauseReport) -> Iterator[str]:
    if clause.clause.rewritten is not None:
        yield f"read as: {shortened(clause.clause.rewritten)}"
    if clause.credit.drops_assumed.files:
        yield f"[NAN_ABSENT] {files_text(clause.credit.drops_assumed.files)} dropped on the assumption that no NaN is hidden"
    for reason in clause.clause.reasons:
        yield f"[{reason.code.value}] {printable(reason.message)}"
