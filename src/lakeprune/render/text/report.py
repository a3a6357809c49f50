"""The report for readers: the answer, why, then the layout that users of delta-explain know, and what did the work.

Lines that delta-explain prints as well keep its words and its plain digits: pipelines read them.

Everything that comes from a table or a user is made printable first: a path or predicate with control characters must not
speak to the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.phrases import because, differing, dropped_by, gate_lines, headline, notes
from lakeprune.render.printable import printable, shortened
from lakeprune.render.text.clause_table import clause_table
from lakeprune.report.amount import (
    Amount,
    bytes_text,
    counted,
    files_text,
    percent_text,
    rows_text,
    size_text,
    unread_text,
    unsure_rows_text,
)
from lakeprune.report.buckets import Bucket
from lakeprune.report.document import View
from lakeprune.report.model import FileReport, Phase, Report
from lakeprune.report.row_groups import RowGroups
from lakeprune.report.verdict import CONSTANT, JOINT, ROW_GROUPS, Keeps
from lakeprune.skipping.ladder import Ladder, Level
from lakeprune.skipping.verdict import Verdict


def text_chunks(report: Report, view: View) -> Iterator[str]:
    """The report as text, piece by piece; files come last. On a terminal a funnel of bars follows the head."""
    blocks = [
        _answer(report),
        _funnel(report, view.width),
        _diagnoses(report),
        _header(report),
        _analysis(report),
        _snapshot(report),
        *(_phase(number, phase) for number, phase in enumerate(report.phases, 1)),
        _total(report),
        clause_table(report),
        _notes(report),
        gate_lines(report.assertions),
        _traffic(report) if view.verbose else [],
    ]
    yield "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
    if view.verbose:
        yield from _files(report, view)


def about(table: str, version: int | None, title: str = "Delta table") -> list[str]:
    """The first lines of every text."""
    return [f"{title}: {printable(table)}", *([] if version is None else [f"Version:     {version}"])]


def _answer(report: Report) -> list[str]:
    """What is read, what the format's own engine reads where that differs, and why."""
    first, *others = headline(report)
    lines = [first]
    for line, engine in zip(others, differing(report), strict=False):
        lines += [line, *(f"  {reason}" for reason in engine.why)]
    return lines


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
        share = percent_text(coverage.covered_files, coverage.candidate_files)
        counts = f"{coverage.covered_files}/{coverage.candidate_files} candidate files ({share})"
        warning = "  <- incomplete" if coverage.covered_files < coverage.candidate_files else ""
        lines.append(f"    {printable(coverage.column)} [{coverage.requirement.value}]: {counts}{warning}")
    lines.append(f"  unsplittable:   {_or_dash(report.text_of(Bucket.UNSPLITTABLE))}")
    if (unknown := report.text_of(Bucket.NOT_EVALUATED)) is not None:
        lines.append(f"  not evaluated:  {shortened(unknown)}  (Spark does, exactly, and may read fewer files)")
    lines.append(f"  confidence:     {report.confidence.value}")
    return lines


def _or_dash(text: str | None) -> str:
    return "-" if text is None else shortened(text)


def _snapshot(report: Report) -> list[str]:
    total = report.numbers.total
    lines = [f"Files in snapshot: {total.files}"]
    if total.files:
        unknown = f"  ({unsure})" if (unsure := unsure_rows_text(total)) else ""
        lines += [f"Bytes:             {_bytes(total)}", f"Live rows:         {rows_text(total)}{unknown}"]
    if (missing := report.numbers.read - report.numbers.with_stats) > 0:
        lines.append(f"Without stats:     {files_text(missing)}")
    return lines


def _phase(number: int, phase: Phase) -> list[str]:
    pruned = percent_text(phase.pruned_files, phase.input_files)
    return [
        f"Phase {number}: {phase.name} [{phase.confidence.value}]",
        f"  predicate:       {shortened(phase.predicate)}",
        *_containers(phase),
        f"  files remaining: {phase.output_files}  (-{phase.pruned_files}, {pruned} pruned)",
        f"  bytes remaining: {bytes_text(phase.after)}  {_bytes_share(phase.before, phase.after)}",
    ]


def _containers(phase: Phase) -> list[str]:
    """What a phase that drops other containers than files leaves of them."""
    if phase.level is Level.FILE:
        return []
    before, after = phase.input_containers, phase.output_containers
    share = percent_text(before - after, before)
    return [f"  {phase.level.value.replace('_', ' ')}s remaining: {after}  (-{before - after}, {share} pruned)"]


def _share(before: int, after: int, *, at_least: bool = False) -> str:
    return f"({'at least ' if at_least else ''}{percent_text(before - after, before)} pruned)"


def _bytes_share(before: Amount, after: Amount) -> str:
    if before.files_without_bytes and not after.files:
        return "(100% pruned)"
    if before.files_without_bytes and before.bytes == after.bytes:
        return "(of an unknown total)"
    return _share(before.bytes, after.bytes, at_least=bool(before.files_without_bytes))


def _bytes(amount: Amount) -> str:
    return f"{bytes_text(amount)}{_unread(amount)}"


def _unread(amount: Amount) -> str:
    return f"; {unread_text(amount)}" if amount.files_without_bytes else ""


def _total(report: Report) -> list[str]:
    if report.predicate is None:
        return []
    total, kept, joint = report.numbers.total, report.numbers.kept, report.numbers.credits[JOINT]
    is_limit = report.text_of(Bucket.NOT_EVALUATED) is not None
    lines = [
        f"Total reduction: {total.files} -> {kept.files} files {_share(total.files, kept.files, at_least=is_limit)}",
        f"  bytes:         {bytes_text(total)} -> {bytes_text(kept)} {_bytes_share(total, kept)}{_unread(total)}",
        f"  live rows:     {rows_text(total)} -> {rows_text(kept)}{_rows_share(total, kept)}",
    ]
    if joint.files:
        lines.append(f"  joint:         {files_text(joint.files)} dropped by {dropped_by(JOINT, report.facts.evidence.ladder)}")
    for assumption in report.assumptions:
        kept_by = "--nan-policy strict keeps them"
        lines.append(f"  assumed:       {files_text(assumption.files)} dropped on: {printable(assumption.message)}; {kept_by}")
    if report.numbers.empty.files:
        lines.append(f"  empty:         {files_text(report.numbers.empty.files)} dropped for having no live row")
    if (groups := report.row_groups) is not None:
        lines += _row_groups(groups)
    if report.numbers.full.files:
        full = report.numbers.full
        lines.append(f"  full match:    {full.files:,} of {files_text(kept.files)}: every row satisfies the predicate")
    return lines


def _rows_share(total: Amount, kept: Amount) -> str:
    """The share of rows that is pruned; none can be given between upper bounds."""
    unsure = unsure_rows_text(kept)
    if total.files_with_bounded_rows:
        return f" ({unsure})" if unsure else ""
    return f" {_share(total.rows, kept.rows)}{f', {unsure}' if unsure else ''}"


def _row_groups(groups: RowGroups) -> list[str]:
    """What is left of the row groups, and of the bytes of the predicate's own columns in them."""
    read = f"in {files_text(groups.footers_read)}"
    if groups.is_sample:
        read += f", a sample of {groups.files}"
    total, kept = groups.total, groups.kept
    share = _share(total.row_groups, kept.row_groups)
    lines = [f"  row groups:    {total.row_groups:,} -> {kept.row_groups:,} {share}, {read}"]
    lines.append(f"    bytes:       {size_text(total.bytes)} -> {size_text(kept.bytes)} {_share(total.bytes, kept.bytes)}")
    if groups.needed_columns:
        before, after = groups.needed_bytes_total, groups.needed_bytes_kept
        names = printable(", ".join(groups.needed_columns))
        lines.append(f"    needed:      {size_text(before)} -> {size_text(after)} {_share(before, after)} of {shortened(names)}")
    if groups.full.row_groups:
        lines.append(
            f"    full match:  {groups.full.row_groups} of {counted(kept.row_groups, 'row group')}{_with_deletes(groups)}"
        )
    return lines


def _with_deletes(groups: RowGroups) -> str:
    count = groups.full.row_groups_without_rows
    return f", {count} of them with deleted rows that are not counted" if count else ""


def _notes(report: Report) -> list[str]:
    lines = [(f"  [{code}] " if code else "  ") + printable(message) for code, message in notes(report)]
    return ["Notes:", *lines] if lines else []


def _diagnoses(report: Report) -> list[str]:
    if report.diagnoses is None or report.predicate is None:
        return []
    if not report.diagnoses:
        return ["Why: no findings: no diagnosis applies to this predicate on this table."]
    lines = ["Why:"]
    for diagnosis in report.diagnoses:
        lines.append(f"  [{diagnosis.code}] {diagnosis.severity.value}: {printable(diagnosis.message)}")
        ends = diagnosis.rewrite is None or diagnosis.suggestion.endswith("?")
        lines.append(f"      fix: {printable(diagnosis.suggestion)}" + ("" if ends else ":"))
        if diagnosis.rewrite is not None:
            lines.append(f"           {printable(diagnosis.rewrite)}")
    return lines


def _traffic(report: Report) -> list[str]:
    traffic = report.traffic
    if traffic is None:
        return []
    requests = f"{counted(traffic.requests, 'request')}, {size_text(traffic.bytes)}"
    return [f"Fetched: {requests}; from the cache: {files_text(traffic.cached_files)}, {size_text(traffic.cached_bytes)}"]


def _files(report: Report, view: View) -> Iterator[str]:
    which = "" if view.which == "all" else f" {view.which}"
    yield f"\nFiles{which}:\n"
    for file in report.listed(view):
        parts = _file(file) if report.predicate is None else [*_file(file), _why(file, report.facts.evidence.ladder)]
        yield "\n".join(["  ".join(parts), *_groups(file)]) + "\n"
    if (more := report.unlisted(view)) > 0:
        yield f"  ... and {counted(more, 'more file')} (raise --limit to see them)\n"


def _file(file: FileReport) -> list[str]:
    label = "[DROPPED]" if file.verdict is Verdict.DROP else "[KEPT   ]"
    records = "" if file.num_records is None else f"  {file.num_records} records"
    parts = [f"  {label} {printable(file.path)}", f"({size_text(file.size_bytes)}{records})"]
    if file.partition_values:
        values = ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in file.partition_values.items())
        parts.append(f"partition({printable(values)})")
    if file.bounds:
        ranges = ", ".join(f"{name}: {_bound(known.min)}..{_bound(known.max)}" for name, known in file.bounds.items())
        parts.append(f"stats({printable(ranges)})")
    if not file.has_stats:
        parts.append("[no stats]")
    return parts


def _count(file: FileReport) -> int:
    return len(file.row_groups) if isinstance(file.row_groups, list) else 0


def _groups(file: FileReport) -> list[str]:
    """The row groups that are left of a file, by number and by bytes."""
    if not isinstance(file.row_groups, list) or file.verdict is Verdict.DROP:
        return []
    kept = [f"{group.id} [{group.start}, {group.end})" for group in file.row_groups if group.kept]
    return [f"            row groups {len(kept)} of {_count(file)}: {', '.join(kept)}"]


def _bound(value: object) -> str:
    return "" if value is None else str(value)


def _why(file: FileReport, ladder: Ladder) -> str:
    if file.credit is not None:
        names = {CONSTANT: "the condition itself", JOINT: " and ".join(rung.name for rung in ladder) + " together"}
        by = names.get(file.credit, file.credit)
        assumed = f", if no NaN is hidden in {printable(', '.join(file.assumes))}" if file.assumes else ""
        if file.credit == ROW_GROUPS:
            return f"dropped by its row groups: none of {counted(_count(file), 'row group')} is left{assumed}"
        return f"dropped by {by}: " + ("no live row" if file.clause is None else shortened(file.clause)) + assumed
    if file.reason is None or file.clause is None or file.reason is Keeps.ALL_ROWS_MATCH:
        return "kept: all rows match"
    return f"kept: {because(file.reason, file.clause)}"
