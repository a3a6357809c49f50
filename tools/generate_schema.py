"""Writes schemas/explain.schema.json from the types in lakeprune/report/document.py.

`python -m tools.generate_schema` rewrites it; a test checks that this changes nothing and that every document we emit is valid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from lakeprune.report.document import Explanation
from lakeprune.report.model import SCHEMA_VERSION

TARGET = Path(__file__).resolve().parent.parent / "schemas" / "explain.schema.json"


def schema_text() -> str:
    """The JSON Schema of the explain document."""
    schema = msgspec.json.schema(Explanation)
    schema = _closed(schema)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"lakeprune explain, schema version {SCHEMA_VERSION}",
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
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(schema_text(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
