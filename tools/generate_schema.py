"""Writes the JSON Schemas in schemas/ from the types that the documents are held to.

`python -m tools.generate_schema` rewrites them; tests check that this changes nothing and that every document we emit is valid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from lakeprune.apps.dataframes.document import DataFrameExplanation
from lakeprune.apps.statements.document import StatementDocument
from lakeprune.apps.verify.document import Audit, Verification
from lakeprune.report.explanation import Explanation

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
# The type of each document, what it is called and its version.
DOCUMENTS: dict[str, tuple[Any, str, str]] = {
    "explain": (Explanation, "explain", "1.0.0"),
    "dataframe": (DataFrameExplanation, "explain --sql", "1.0.0"),
    "verify": (Verification, "verify", "1.0.0"),
    "audit": (Audit, "verify --audit-stats", "1.0.0"),
    "statement": (StatementDocument, "update, delete and merge", "1.0.0"),
}


def target(name: str) -> Path:
    """Where the schema of a document is published."""
    return SCHEMAS / f"{name}.schema.json"


def schema_text(name: str) -> str:
    """The JSON Schema of one of the documents."""
    shape, title, version = DOCUMENTS[name]
    schema = _closed(msgspec.json.schema(shape))
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"lakeprune {title}, schema version {version}",
    }
    return json.dumps({**head, **schema}, indent=2) + "\n"


def _closed(node: Any) -> Any:
    """Every object with named properties accepts those only: a field nobody declared is a mistake."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    if closed.get("type") == "object" and isinstance(closed.get("properties"), dict):
        closed["additionalProperties"] = False
    return closed


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for document in DOCUMENTS:
        target(document).write_text(schema_text(document), encoding="utf-8")
        print(f"wrote {target(document).name}")
