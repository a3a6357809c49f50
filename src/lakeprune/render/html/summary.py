"""The head of the page: table, predicate and the answer in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.render.html.findings import gates
from lakeprune.render.html.frame import heading
from lakeprune.render.html.words import code, number, plural, size, sizes_of, words
from lakeprune.render.phrases import differing
from lakeprune.report.amount import percent_text
from lakeprune.report.model import Report


def summary(report: Report) -> str:
    """Table, version, predicate, answer."""
    facts = report.facts
    return (
        heading(f"report · {table_of(facts, ' · ')}{_written(facts)}", report.table, report.predicate)
        + ('<p class="muted">without a predicate</p>' if report.predicate is None else "")
        + answer(report)
        + gates(report)
        + _session(report)
    )


def table_of(facts: SnapshotFacts, separator: str) -> str:
    """What is explained: the kind of table and its version, if it has versions."""
    return separator.join([words(facts.title), *([] if facts.version is None else [f"version {facts.version}"])])


def _written(facts: SnapshotFacts) -> str:
    """When this version was committed, where that is known."""
    if facts.written_at is None:
        return ""
    try:
        moment = datetime.fromtimestamp(facts.written_at / 1000, UTC)
    except (OverflowError, ValueError, OSError):  # a time that no calendar has
        return ""
    return f" · written {moment:%Y-%m-%d %H:%M} UTC"


def answer(report: Report) -> str:
    """How much has to be read, as a sentence."""
    total, kept = report.numbers.total, report.numbers.kept
    if not total.files:
        return '<p class="answer">The table has no files.</p>'
    saved = percent_text(total.files - kept.files, total.files)
    pruned = (
        f' <span class="muted">{saved} of the files are pruned, {_confidence(report)}.</span>'
        if report.predicate is not None
        else ""
    )
    assumed = "".join(
        f'<p class="muted">{plural(each.files, "file")} dropped on the assumption: {words(each.message)}.</p>'
        for each in report.assumptions
    )
    engines = differing(report)
    others = "".join(f"; {engine.name} {engine.version} reads <strong>{number(engine.files)}</strong>" for engine in engines)
    sizes = " and ".join([size(kept.bytes), *(size(engine.bytes) for engine in engines)])
    reasons = "; ".join(f"{engine.name}: {words('; '.join(engine.why))}" for engine in engines if engine.why)
    why = f'<p class="differs">{reasons}.</p>' if reasons else ""
    return (
        f'<p class="answer">{"Metadata allows" if engines else "Reads"} <strong>{number(kept.files)}</strong> of '
        f"{number(total.files)} file{'' if total.files == 1 else 's'}{others}: {sizes} of {sizes_of(total)}, "
        f"{number(kept.rows)} of {number(total.rows)} rows.{pruned}</p>{why}{assumed}"
    )


def _confidence(report: Report) -> str:
    if report.numbers.kept.files == report.numbers.full.files:
        return "and every row of those left matches" if report.numbers.kept.files else "proven from metadata"
    return {
        "exact": "decided exactly by partition values",
        "conservative": "conservatively: a kept file may still hold no match",
        "incomplete": "though metadata cannot decide every clause",
    }[report.confidence.value]


def _session(report: Report) -> str:
    read_in = []
    if report.session.timezone is not None:
        read_in.append(f"time zone {code(report.session.timezone)}")
    if report.session.now is not None:
        read_in.append(f"now = {code(report.session.now)}")
    return f'<p class="muted">Read in {", ".join(read_in)}.</p>' if read_in else ""
