"""The report for pull requests and step summaries: answer, gates, why, phases, clauses; files in a block that opens.

GitHub's Markdown. Everything from a table or a user passes through cells.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lakeprune.render.markdown.cells import block, code, table, words
from lakeprune.render.phrases import KEPT, details, headline
from lakeprune.report.amount import bytes_text, percent_text, size_text
from lakeprune.report.document import View
from lakeprune.report.model import Diagnosis, FileReport, Report

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport

_MOST_FILES = 100  # in a summary without a limit of its own


def markdown_chunks(report: Report, view: View) -> Iterator[str]:
    """The report, its files last."""
    yield _text(_report(report))
    if view.verbose:
        yield from _files(report, replace(view, limit=_MOST_FILES) if view.limit is None else view)


def frame_chunks(report: DataFrameReport, view: View) -> Iterator[str]:
    """Scan by scan."""
    yield f"## {len(report.sections)} {'scan' if len(report.sections) == 1 else 'scans'}\n\n"
    if report.query is not None:
        yield _text([block(report.query)])
    for number, section in enumerate(report.sections, 1):
        yield f"\n## Scan {number}: {words(section.scan.location)}\n\n"
        if section.report is not None:
            yield from markdown_chunks(section.report, view)


def _report(report: Report) -> list[list[str]]:
    version = "" if report.version is None else f", version {report.version}"
    first, *others = headline(report)
    return [
        [f"### {words(first)}"],
        [words(line) for line in others],
        [f"{words(report.facts.title)} {code(report.table)}{version}"],
        [] if report.predicate is None else block(report.predicate),
        _gates(report),
        *(_diagnosis(each) for each in report.diagnoses or ()),
        _phases(report),
        _clauses(report),
    ]


def _text(blocks: list[list[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _gates(report: Report) -> list[str]:
    if not report.assertions:
        return []
    rows = [
        (words(each.name), "pass" if each.passed else "**FAIL**", words(details(each) if each.passed else each.message))
        for each in report.assertions
    ]
    return table(("gate", "result", "details"), rows)


def _diagnosis(found: Diagnosis) -> list[str]:
    lines = [f"**{words(found.code)}** ({found.severity.value}): {words(found.message)}", "", f"Fix: {words(found.suggestion)}"]
    return lines if found.rewrite is None else [*lines, "", *block(found.rewrite)]


def _phases(report: Report) -> list[str]:
    if not report.phases:
        return []
    rows = [
        (
            words(phase.name),
            f"{phase.input_files:,}",
            f"{phase.output_files:,}",
            percent_text(phase.pruned_files, phase.input_files),
            bytes_text(phase.after),
        )
        for phase in report.phases
    ]
    return table(("phase", "files before", "files after", "pruned", "bytes left"), rows)


def _clauses(report: Report) -> list[str]:
    if len(report.clauses) < 2:
        return []
    rows = []
    for each in report.clauses:
        kept = [f"{amount.files:,} {KEPT[why]}" for why, amount in each.credit.kept.items() if amount.files]
        drops = (f"{each.credit.drops_any.files:,}", f"{each.credit.drops_alone.files:,}")
        rows.append((code(each.clause.text), *drops, words(", ".join(kept))))
    return table(("clause", "drops", "of them alone", "keeps"), rows)


def _files(report: Report, view: View) -> Iterator[str]:
    which = "Files" if view.which == "all" else f"{view.which.capitalize()} files"
    yield f"\n<details><summary>{which}</summary>\n\n"
    rows = [_file(file) for file in report.listed(view)]
    yield "\n".join(table(("file", "bytes", "verdict", "why"), rows)) + "\n"
    if (more := report.unlisted(view)) > 0:
        yield f"\n{more:,} more: the JSON document has them all.\n"
    yield "\n</details>\n"


def _file(file: FileReport) -> tuple[str, ...]:
    why = f"dropped by {file.credit}" if file.credit is not None else "" if file.reason is None else KEPT[file.reason]
    clause = "" if file.clause is None else f": {code(file.clause)}"
    return code(file.path), size_text(file.size_bytes), "kept" if file.kept else "dropped", f"{words(why)}{clause}"
