"""Documents as JSON: each is one Struct, and its text comes from that.

Pure ASCII: it survives any terminal, and text that is not valid Unicode stays visible as escapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from lakeprune.report.document import Document, Envelope, View
from lakeprune.report.explanation import explanation_head
from lakeprune.report.model import Report


def json_chunks(document: Document, view: View) -> Iterator[str]:
    """The whole document at once."""
    yield f"{_text(document.to_struct(view))}\n"


def report_chunks(report: Report, view: View) -> Iterator[str]:
    """The document of a report, its files one by one and last: a listing of a million files never stays in memory."""
    head = _text(explanation_head(report, view))
    if not view.verbose:
        yield f"{head}\n"
        return
    yield head.removesuffix("\n}") + ',\n  "files": ['
    separator = "\n    "
    for file in report.listed(view):
        yield separator + json.dumps(msgspec.to_builtins(file))
        separator = ",\n    "
    yield "\n  ]\n}\n"


def _text(document: Envelope) -> str:
    return json.dumps(msgspec.to_builtins(document), indent=2)
