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
    ("explain", "notebook"): "lakeprune.render.html.compact:notebook",
    ("dataframe", "text"): "lakeprune.render.text.dataframe:text_chunks",
    ("dataframe", "json"): "lakeprune.render.json.document:json_chunks",
    ("dataframe", "html"): "lakeprune.render.html.dataframe:page",
    ("dataframe", "notebook"): "lakeprune.render.html.dataframe:notebook",
    ("verify", "text"): "lakeprune.render.text.verification:text_chunks",
    ("verify", "json"): "lakeprune.render.json.document:json_chunks",
    ("verify", "html"): "lakeprune.render.html.verification:page",
    ("verify", "notebook"): "lakeprune.render.html.verification:notebook",
    ("audit", "text"): "lakeprune.render.text.audit:text_chunks",
    ("audit", "json"): "lakeprune.render.json.document:json_chunks",
    ("audit", "html"): "lakeprune.render.html.audit:page",
    ("audit", "notebook"): "lakeprune.render.html.audit:notebook",
    ("statement", "text"): "lakeprune.render.text.statement:text_chunks",
    ("statement", "json"): "lakeprune.render.json.document:json_chunks",
}
_FRAGMENTS = frozenset({"notebook"})  # not documents of their own, so no choice of --format


def formats(kind: str) -> tuple[str, ...]:
    """The choices of --format for a kind of document, the default first.

    >>> formats("statement")
    ('text', 'json')
    """
    return tuple(form for each, form in RENDERERS if each == kind and form not in _FRAGMENTS)


def rendered(document: Document, form: str, view: View) -> Iterable[str]:
    """The document in one of its formats, in pieces. NotImplementedError for another: a notebook then shows its repr."""
    home = RENDERERS.get((document.kind, form))
    if home is None:
        raise NotImplementedError(f"{type(document).__name__} has no {form} form")
    module, _, name = home.partition(":")
    pieces: Iterable[str] = getattr(import_module(module), name)(document, view)
    return pieces
