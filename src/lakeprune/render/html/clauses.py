"""The clause table: which conjunct did the work, which did not, and why; and how far statistics cover what is asked."""

from __future__ import annotations

from lakeprune.render.html.words import code, number, plain_list, plural, words
from lakeprune.render.phrases import KEPT, left_by
from lakeprune.report.amount import percent_text
from lakeprune.report.buckets import Bucket
from lakeprune.report.model import ClauseReport, Report
from lakeprune.report.verdict import Requirement

_MOST_CLAUSES = 60
_MOST_REASONS = 3
_MOST_COLUMNS = 40
_EVIDENCE = {
    Bucket.PARTITION_SAFE: "partition values",
    Bucket.PARTITION_EXACT: "partition values, evaluated",
    Bucket.STATS_SAFE: "statistics",
    Bucket.UNSPLITTABLE: "mixed",
    Bucket.NOT_EVALUATED: "partition values, which lakeprune cannot evaluate",
}
_HEAD = (
    '<tr><th scope="col">#</th><th scope="col">Clause</th><th scope="col">Evidence</th>'
    '<th scope="col" class="num"><abbr title="files it drops by itself">Drops</abbr></th>'
    '<th scope="col" class="num"><abbr title="files credited to it: no earlier evidence drops them">First</abbr></th>'
    '<th scope="col" class="num"><abbr title="files that no other clause drops">Alone</abbr></th>'
    '<th scope="col">Keeps</th></tr>'
)


def clauses(report: Report) -> str:
    """The table with its remarks."""
    shown = report.clauses[:_MOST_CLAUSES]
    rows = "".join(_row(index, clause) for index, clause in enumerate(shown, 1))
    more = len(report.clauses) - len(shown)
    rest = f'<p class="remark">{plural(more, "more clause")}: the JSON document has them all.</p>' if more else ""
    left = report.numbers.candidates.files
    of = left_by(report.numbers) or "of the table"
    intro = f"Drops count all files; what a clause keeps is counted among the {plural(left, 'file')} {of}."
    table = f'<table id="clause-table"><thead>{_HEAD}</thead><tbody>{rows}</tbody></table>'
    region = f'<div class="scroll" tabindex="0" role="region" aria-label="Clauses">{table}</div>'
    return f'<p class="remark">{intro}</p>{region}{rest}{_coverage(report)}'


def _row(index: int, report: ClauseReport) -> str:
    clause, credit = report.clause, report.credit
    remarks = []
    if clause.rewritten is not None:
        remarks.append(f'<p class="remark">read as {code(clause.rewritten)}</p>')
    remarks += [
        f'<p class="remark"><span class="tag">{reason.code.value}</span> {words(reason.message)}</p>'
        for reason in clause.reasons[:_MOST_REASONS]
    ]
    if credit.drops_assumed.files:
        dropped = plural(credit.drops_assumed.files, "file")
        remarks.append(
            f'<p class="remark"><span class="tag">NAN_ABSENT</span> {dropped} dropped on the assumption that no NaN is hidden</p>'
        )
    counts = (credit.drops_any.files, credit.drops_first.files, credit.drops_alone.files)
    cells = "".join(f'<td class="num">{number(count)}</td>' for count in counts)
    kept = plain_list(f"{number(credit.kept[why].files)} {phrase}" for why, phrase in KEPT.items() if credit.kept[why].files)
    keeps = kept or '<span class="muted">none</span>'
    return (
        f'<tr id="clause-{index}"><td class="muted">{index}</td><th scope="row">{code(clause.text)}{"".join(remarks)}</th>'
        f"<td>{_EVIDENCE[report.bucket]}</td>{cells}<td>{keeps}</td></tr>"
    )


def _coverage(report: Report) -> str:
    items = []
    for coverage in report.numbers.coverage[:_MOST_COLUMNS]:
        what = "minimum and maximum" if coverage.requirement is Requirement.MIN_MAX else "null count"
        share = percent_text(coverage.covered_files, coverage.candidate_files)
        warning = ' class="warn"' if coverage.covered_files < coverage.candidate_files else ""
        items.append(
            f"<li{warning}>{code(coverage.column, 80)} {what}: {coverage.covered_files:,} of "
            f"{plural(coverage.candidate_files, 'file')} ({share})</li>"
        )
    return f'<h3>Statistics the clauses need</h3><ul class="plain">{"".join(items)}</ul>' if items else ""
