"""The registry, executed: every document in every format it has, every document against its published schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from lakeprune.render.registry import RENDERERS, formats, rendered
from lakeprune.report.document import Document, View
from tests.builders.documents import every_document, plan
from tools.generate_schema import DOCUMENTS, OTHERS, SCHEMAS, target

EVERY = every_document()
# Scan reports are of Iceberg tables alone: test_scan_report.py has them.
FORMS = [(kind, form) for kind, form in RENDERERS if form != "scan-report"]
PAIRS = [(document, form) for document in EVERY for kind, form in FORMS if kind == document.kind]


@pytest.mark.parametrize(("document", "form"), PAIRS, ids=lambda each: each if isinstance(each, str) else each.kind)
def test_every_document_renders_in_every_format_it_has(document: Document, form: str) -> None:
    text = "".join(rendered(document, form, View(verbose=True, limit=3, width=80)))
    assert text.strip()
    if form == "json":
        whole = json.loads(text)
        assert whole["elapsed_ms"] >= 0
        assert whole["schema_version"] == document.schema_version
        assert whole["tool_version"] == document.tool_version
        jsonschema.validate(whole, json.loads(target(document.kind).read_text(encoding="utf-8")))


def test_every_kind_has_documents_renderers_and_a_schema() -> None:
    kinds = {document.kind for document in EVERY}
    assert kinds == {kind for kind, _ in RENDERERS} == set(DOCUMENTS)
    assert {f"{kind}.schema.json" for kind in kinds} | set(OTHERS) == {path.name for path in SCHEMAS.iterdir()}
    assert kinds_below(Document) == kinds


def kinds_below(base: type[Document]) -> set[str]:
    classes = base.__subclasses__()
    return {each.kind for each in classes if hasattr(each, "kind")}.union(*map(kinds_below, classes))


def test_a_document_is_made_by_the_class_that_its_schema_is_made_from() -> None:
    for document in EVERY:
        assert type(document.to_struct(View(verbose=True))) is DOCUMENTS[document.kind][0]
        assert document.to_dict(verbose=True) == json.loads(document.to_json(verbose=True))


def test_every_kind_is_text_by_default_and_has_json() -> None:
    for kind in DOCUMENTS:
        assert formats(kind)[:2] == ("text", "json")
    assert "notebook" not in formats("explain")


def test_a_notebook_shows_the_repr_of_a_document_without_a_form_for_it() -> None:
    with pytest.raises(NotImplementedError):  # which IPython takes for: there is none
        plan()._repr_html_()
    assert str(plan()) == plan().to_text()
