"""Which function renders which kind of document in which format: one table for the command line, Python and notebooks.

A renderer takes a document and a `View` and gives the text in pieces. It is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeprune.report.document import Document, View

RENDERERS = {
    ("explain", "text"): "lakeprune.render.text.report:text_chunks",
    ("explain", "json"): "lakeprune.render.json.document:report_chunks",
    ("explain", "html"): "lakeprune.render.html.page:html_chunks",
    ("explain", "markdown"): "lakeprune.render.markdown.report:markdown_chunks",
    ("explain", "notebook"): "lakeprune.render.html.compact:notebook",
    ("explain", "openmetrics"): "lakeprune.render.openmetrics.families:report_chunks",
    ("explain", "scan-report"): "lakeprune.render.scan_report.document:report_chunks",
    ("diff", "text"): "lakeprune.render.text.diff:text_chunks",
    ("diff", "json"): "lakeprune.render.json.document:json_chunks",
    ("dataframe", "text"): "lakeprune.render.text.dataframe:text_chunks",
    ("dataframe", "json"): "lakeprune.render.json.document:json_chunks",
    ("dataframe", "html"): "lakeprune.render.html.dataframe:page",
    ("dataframe", "markdown"): "lakeprune.render.markdown.report:frame_chunks",
    ("dataframe", "notebook"): "lakeprune.render.html.dataframe:notebook",
    ("dataframe", "openmetrics"): "lakeprune.render.openmetrics.families:frame_chunks",
    ("plan", "text"): "lakeprune.render.text.plan:plan_chunks",
    ("plan", "json"): "lakeprune.render.json.plan:plan_chunks",
    ("compare", "text"): "lakeprune.render.text.compare:text_chunks",
    ("compare", "json"): "lakeprune.render.json.document:json_chunks",
    ("compare", "html"): "lakeprune.render.html.compare:page",
    ("compare", "notebook"): "lakeprune.render.html.compare:notebook",
    ("verify", "text"): "lakeprune.render.text.verification:verification_chunks",
    ("verify", "json"): "lakeprune.render.json.document:json_chunks",
    ("verify", "html"): "lakeprune.render.html.verification:verification_page",
    ("verify", "notebook"): "lakeprune.render.html.verification:verification_notebook",
    ("audit", "text"): "lakeprune.render.text.verification:audit_chunks",
    ("audit", "json"): "lakeprune.render.json.document:json_chunks",
    ("audit", "html"): "lakeprune.render.html.verification:audit_page",
    ("audit", "notebook"): "lakeprune.render.html.verification:audit_notebook",
    ("statement", "text"): "lakeprune.render.text.statement:text_chunks",
    ("statement", "json"): "lakeprune.render.json.document:json_chunks",
    ("error", "text"): "lakeprune.render.text.failure:text_chunks",
    ("error", "json"): "lakeprune.render.json.document:json_chunks",
    ("hints", "text"): "lakeprune.render.text.hints:text_chunks",
    ("hints", "json"): "lakeprune.render.json.document:json_chunks",
}
_NO_CHOICE = frozenset(
    {"notebook", "openmetrics", "scan-report"}
)  # of --format: a part of a page, and what has a flag of its own


def formats(kind: str) -> tuple[str, ...]:
    """The choices of --format for a kind of document, the default first.

    >>> formats("statement")
    ('text', 'json')
    """
    return tuple(form for each, form in RENDERERS if each == kind and form not in _NO_CHOICE)


def rendered(document: Document, form: str, view: View) -> Iterable[str]:
    """The document in one of its formats, in pieces. NotImplementedError for another: a notebook then shows its repr."""
    home = RENDERERS.get((document.kind, form))
    if home is None:
        raise NotImplementedError(f"{type(document).__name__} has no {form} form")
    module, _, name = home.partition(":")
    pieces: Iterable[str] = getattr(import_module(module), name)(document, view)
    return pieces
