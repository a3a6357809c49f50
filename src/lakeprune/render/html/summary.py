"""The head of the page: table, predicate and the answer in one sentence; the gates; the notes."""

from __future__ import annotations

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.render.html.frame import heading
from lakeprune.render.html.words import code, number, plain_list, size, words
from lakeprune.report.amount import percent_text
from lakeprune.report.model import Report

_MOST_NOTES = 40


def summary(report: Report) -> str:
    """Table, version, predicate, answer."""
    facts = report.facts
    return (
        heading(f"report · {table_of(facts, ' · ')}", report.table, report.predicate)
        + ('<p class="muted">without a predicate</p>' if report.predicate is None else "")
        + answer(report)
        + _session(report)
    )


def table_of(facts: SnapshotFacts, separator: str) -> str:
    """What is explained: the kind of table and its version, if it has versions."""
    return separator.join([words(facts.title), *([] if facts.version is None else [f"version {facts.version}"])])


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
    return (
        f'<p class="answer">Reads <strong>{number(kept.files)}</strong> of {number(total.files)} '
        f"file{'' if total.files == 1 else 's'}: {size(kept.bytes)} of {size(total.bytes)}, "
        f"{number(kept.rows)} of {number(total.rows)} rows.{pruned}</p>"
    )


def gates(report: Report) -> str:
    """Every gate with its outcome; nothing without any."""
    if not report.assertions:
        return ""
    items = []
    for assertion in report.assertions:
        details = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in assertion.details.items())
        outcome = "pass" if assertion.passed else "fail"
        items.append(
            f'<li class="{outcome}"><b>{outcome}</b> {words(assertion.name)} <span class="muted">{words(details)}</span></li>'
        )
    return f'<ul class="gates">{"".join(items)}</ul>'


def notes(report: Report) -> str:
    """What a reader should know about how the table was read; nothing when that is all."""
    noted = [f'<span class="tag">{words(note.code)}</span> {words(note.message)}' for note in report.facts.notes]
    noted += [words(note) for note in report.facts.features.notes]
    if report.session.nan_policy != "guard":
        policy = words(report.session.nan_policy)
        noted.append(f'<span class="tag">NAN_POLICY</span> {policy}: writers are trusted to keep NaN in the maximum')
    return plain_list(noted[:_MOST_NOTES])


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
