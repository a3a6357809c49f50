"""Writes the JSON Schemas in schemas/ from the classes of the documents.

`python -m tools.generate_schema` rewrites them; tests check that this changes nothing and that every document we emit is valid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from lakeprune.apps.dataframes.document import DataFrameExplanation
from lakeprune.apps.dataframes.model import DataFrameReport
from lakeprune.apps.statements.document import StatementDocument
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.apps.verify import audit_model, document, model
from lakeprune.report.document import Document, Envelope
from lakeprune.report.explanation import Explanation
from lakeprune.report.model import Report

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
# What each document is made from, its class, and the command that prints it.
_SOURCES: tuple[tuple[type[Document], type[Envelope], str], ...] = (
    (Report, Explanation, "explain"),
    (DataFrameReport, DataFrameExplanation, "explain --sql"),
    (model.Verification, document.Verification, "verify"),
    (audit_model.Audit, document.Audit, "verify --audit-stats"),
    (StatementPlan, StatementDocument, "update, delete and merge"),
)
DOCUMENTS = {
    source.kind: (shape, f"lakeprune {title}, schema version {source.schema_version}") for source, shape, title in _SOURCES
}


def target(kind: str) -> Path:
    """Where the schema of a document is published."""
    return SCHEMAS / f"{kind}.schema.json"


def schema_text(kind: str) -> str:
    """The JSON Schema of one of the documents."""
    shape, title = DOCUMENTS[kind]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps({**head, **_closed(msgspec.json.schema(shape))}, indent=2) + "\n"


def _closed(node: Any) -> Any:
    """Every object accepts the declared properties only, and a default does not make one optional: it is always written."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    if closed.get("type") == "object" and isinstance(properties := closed.get("properties"), dict):
        written = [name for name, value in properties.items() if "default" in value]
        for name in written:
            del properties[name]["default"]
        closed["properties"] = dict(sorted(properties.items()))
        closed["required"] = sorted({*closed.get("required", ()), *written})
        closed["additionalProperties"] = False
    return closed


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for kind in DOCUMENTS:
        target(kind).write_text(schema_text(kind), encoding="utf-8")
        print(f"wrote {target(kind).name}")
