"""The report for readers: the layout that users of delta-explain know, then what did the work, what did not, and why.

Everything that comes from a table or a user is made printable first: a path or predicate with control characters must not
speak to the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.phrases import because, dropped_by
from lakeprune.render.printable import printable, shortened
from lakeprune.render.text.clause_table import clause_table
from lakeprune.report.amount import Amount, files_text, percent_text, size_text
from lakeprune.report.buckets import Bucket
from lakeprune.report.document import View
from lakeprune.report.model import FileReport, Phase, Report
from lakeprune.report.verdict import CONSTANT, JOINT, Keeps
from lakeprune.skipping.ladder import Ladder
from lakeprune.skipping.verdict import Verdict


def text_chunks(report: Report, view: View) -> Iterator[str]:
    """The report as text, piece by piece; files come last. On a terminal a funnel of bars follows the head."""
    blocks = [
        _header(report),
        _funnel(report, view.width),
        _analysis(report),
        _snapshot(report),
        *(_phase(number, phase) for number, phase in enumerate(report.phases, 1)),
        _total(report),
        clause_table(report),
        _notes(report),
        _diagnoses(report),
        _gates(report),
        _traffic(report) if view.verbose else [],
    ]
    yield "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
    if view.verbose:
        yield from _files(report, view.limit)


def about(table: str, version: int | None, title: str = "Delta table") -> list[str]:
    """The first lines of every text."""
    return [f"{title}: {printable(table)}", *([] if version is None else [f"Version:     {version}"])]


def _header(report: Report) -> list[str]:
    lines = about(report.table, report.facts.version, report.facts.title)
    if report.predicate is not None:
        lines.append(f"Predicate:   {shortened(report.predicate)}")
    if report.session.timezone is not None:
        lines.append(f"Time zone:   {printable(report.session.timezone)}")
    if report.session.now is not None:
        lines.append(f"Now:         {report.session.now}")
    return lines


def _funnel(report: Report, width: int | None) -> list[str]:
    if width is None:
        return []
    from lakeprune.render.text.terminal import funnel

    return funnel(report, width)


def _analysis(report: Report) -> list[str]:
    if report.predicate is None:
        return []
    lines = ["Predicate Analysis:", f"  partition-safe: {_or_dash(report.text_of(Bucket.PARTITION_SAFE))}"]
    if (exact := report.text_of(Bucket.PARTITION_EXACT)) is not None:
        lines.append(f"  partition-exact: {shortened(exact)}")
    lines.append(f"  stats-safe:     {_or_dash(report.text_of(Bucket.STATS_SAFE))}")
    if report.numbers.coverage:
        lines.append("  stats coverage:")
    for coverage in report.numbers.coverage:
        share = percent_text(coverage.covered, coverage.candidates)
        counts = f"{coverage.covered}/{coverage.candidates} candidate files ({share})"
        warning = "  <- incomplete" if coverage.covered < coverage.candidates else ""
        lines.append(f"    {printable(coverage.column)} [{coverage.requirement.value}]: {counts}{warning}")
    lines.append(f"  unsplittable:   {_or_dash(report.text_of(Bucket.UNSPLITTABLE))}")
    lines.append(f"  confidence:     {report.confidence.value}")
    return lines


def _or_dash(text: str | None) -> str:
    return "-" if text is None else shortened(text)


def _snapshot(report: Report) -> list[str]:
    total = report.numbers.total
    lines = [f"Files in snapshot: {total.files}"]
    if total.files:
        unknown = f"  (without {files_text(total.files_without_rows)} of unknown length)" if total.files_without_rows else ""
        lines += [f"Bytes:             {size_text(total.bytes)}", f"Live rows:         {total.rows}{unknown}"]
    if (missing := total.files - report.numbers.with_stats) > 0:
        lines.append(f"Without stats:     {files_text(missing)}")
    return lines


def _phase(number: int, phase: Phase) -> list[str]:
    return [
        f"Phase {number}: {phase.name} [{phase.confidence.value}]",
        f"  predicate:       {shortened(phase.predicate)}",
        f"  files remaining: {phase.after.files}  {_loss(phase.before.files, phase.after.files)}",
        f"  bytes remaining: {size_text(phase.after.bytes)}  {_share(phase.before.bytes, phase.after.bytes)}",
    ]


def _loss(before: int, after: int) -> str:
    return f"(-{before - after}, {percent_text(before - after, before)} pruned)"


def _share(before: int, after: int) -> str:
    return f"({percent_text(before - after, before)} pruned)"


def _total(report: Report) -> list[str]:
    if report.predicate is None:
        return []
    total, kept, joint = report.numbers.total, report.numbers.kept, report.numbers.credits[JOINT]
    lines = [
        f"Total reduction: {total.files} -> {kept.files} files {_share(total.files, kept.files)}",
        f"  bytes:         {size_text(total.bytes)} -> {size_text(kept.bytes)} {_share(total.bytes, kept.bytes)}",
        f"  live rows:     {total.rows} -> {kept.rows} {_share(total.rows, kept.rows)}{_unknown(kept)}",
    ]
    if joint.files:
        lines.append(f"  joint:         {files_text(joint.files)} dropped by {dropped_by(JOINT, report.facts.evidence.ladder)}")
    if report.numbers.empty.files:
        lines.append(f"  empty:         {files_text(report.numbers.empty.files)} dropped for having no live row")
    if report.numbers.full.files:
        full = report.numbers.full
        lines.append(f"  full match:    {full.files} of {files_text(kept.files)}: every row satisfies the predicate")
    return lines


def _unknown(amount: Amount) -> str:
    return f", without {files_text(amount.files_without_rows)} of unknown length" if amount.files_without_rows else ""


def _notes(report: Report) -> list[str]:
    notes = [f"  [{note.code}] {printable(note.message)}" for note in report.facts.notes]
    notes += [f"  {printable(note)}" for note in report.facts.features.notes]
    if report.session.nan_policy != "guard":
        notes.append(f"  [NAN_POLICY] {report.session.nan_policy}: the table's writers are trusted to keep NaN in the maximum")
    return ["Notes:", *notes] if notes else []


def _diagnoses(report: Report) -> list[str]:
    if report.diagnoses is None:
        return []
    if not report.diagnoses:
        return ["Why: nothing to say: no diagnosis applies to this predicate on this table."]
    lines = ["Why:"]
    for diagnosis in report.diagnoses:
        lines.append(f"  [{diagnosis.code}] {diagnosis.severity.value}: {printable(diagnosis.message)}")
        lines.append(f"      fix: {printable(diagnosis.suggestion)}" + (":" if diagnosis.rewrite is not None else ""))
        if diagnosis.rewrite is not None:
            lines.append(f"           {printable(diagnosis.rewrite)}")
    return lines


def _gates(report: Report) -> list[str]:
    if not report.assertions:
        return []
    lines = []
    for assertion in report.assertions:
        details = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in assertion.details.items())
        lines.append(f"  {'pass' if assertion.passed else 'FAIL'}  {assertion.name}  ({details})")
    return ["Gates:", *lines]


def _traffic(report: Report) -> list[str]:
    traffic = report.traffic
    if traffic is None:
        return []
    requests = f"{traffic.requests} request{'' if traffic.requests == 1 else 's'}, {size_text(traffic.bytes)}"
    return [f"Fetched: {requests}; from the cache: {files_text(traffic.cached_files)}, {size_text(traffic.cached_bytes)}"]


def _files(report: Report, limit: int | None) -> Iterator[str]:
    yield "\nFiles:\n"
    for file in report.listing(limit):
        parts = _file(file) if report.predicate is None else [*_file(file), _why(file, report.facts.evidence.ladder)]
        yield "  ".join(parts) + "\n"
    if limit is not None and limit < (total := report.numbers.total.files):
        more = total - limit
        yield f"  ... and {more} more file{'' if more == 1 else 's'} (raise --limit to see them)\n"


def _file(file: FileReport) -> list[str]:
    label = "[DROPPED]" if file.verdict is Verdict.DROP else "[KEPT   ]"
    records = "" if file.records is None else f"  {file.records} records"
    parts = [f"  {label} {printable(file.path)}", f"({size_text(file.size)}{records})"]
    if file.partition:
        values = ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in file.partition.items())
        parts.append(f"partition({printable(values)})")
    if file.bounds:
        ranges = ", ".join(f"{name}: {_bound(known.min)}..{_bound(known.max)}" for name, known in file.bounds.items())
        parts.append(f"stats({printable(ranges)})")
    if not file.has_stats:
        parts.append("[no stats]")
    return parts


def _bound(value: object) -> str:
    return "" if value is None else str(value)


def _why(file: FileReport, ladder: Ladder) -> str:
    if file.credit is not None:
        names = {CONSTANT: "the condition itself", JOINT: " and ".join(rung.name for rung in ladder) + " together"}
        by = names.get(file.credit, file.credit)
        return f"dropped by {by}: " + ("no live row" if file.clause is None else shortened(file.clause))
    if file.keeps is None or file.clause is None or file.keeps is Keeps.ALL_ROWS_MATCH:
        return "kept: all rows match"
    return f"kept: {because(file.keeps, file.clause)}"
