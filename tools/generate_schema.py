"""Writes the JSON Schemas of schemas/ from types: lakeprune/report/document.py and lakeprune/dml/document.py.

`python -m tools.generate_schema` rewrites them; tests check that this changes nothing and that every document we emit is valid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from lakeprune.dml import as_json as statement
from lakeprune.dml.document import StatementDocument
from lakeprune.report.document import Explanation
from lakeprune.report.model import SCHEMA_VERSION

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
TARGET = SCHEMAS / "explain.schema.json"
STATEMENT_TARGET = SCHEMAS / "statement.schema.json"


def schema_text() -> str:
    """The JSON Schema of the explain document."""
    return _text(Explanation, f"lakeprune explain, schema version {SCHEMA_VERSION}")


def statement_schema_text() -> str:
    """The JSON Schema of the document of a statement."""
    return _text(StatementDocument, f"lakeprune update, delete and merge, schema version {statement.SCHEMA_VERSION}")


def _text(shape: Any, title: str) -> str:
    schema = _closed(msgspec.json.schema(shape))
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
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
    for target, content in ((TARGET, schema_text()), (STATEMENT_TARGET, statement_schema_text())):
        target.write_text(content, encoding="utf-8")
        print(f"wrote {target.name}")
