"""Writes the JSON Schemas in schemas/ from the classes of the documents.

`python -m tools.generate_schema` rewrites them; tests check that this changes nothing and that every document we emit is valid.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from lakeprune.apps.compare.document import ComparisonDocument
from lakeprune.apps.compare.model import Comparison
from lakeprune.apps.dataframes.document import DataFrameExplanation
from lakeprune.apps.dataframes.model import DataFrameReport
from lakeprune.apps.scan.document import PlanDocument
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.apps.sharing.hints.written import Hints, HintsDocument
from lakeprune.apps.sharing.server.config_file import ConfigFile
from lakeprune.apps.sharing.server.openapi import openapi_text
from lakeprune.apps.statements.document import StatementDocument
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.apps.verify import document, model
from lakeprune.report.diff import Diff, DiffDocument
from lakeprune.report.document import Document, Envelope
from lakeprune.report.explanation import Explanation
from lakeprune.report.failure import ErrorDocument, Failure
from lakeprune.report.model import Report

DESCRIPTIONS = Path(__file__).resolve().parent / "schema_descriptions.toml"
SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
# What each document is made from, its class, and the command that prints it.
_SOURCES: tuple[tuple[type[Document], type[Envelope], str], ...] = (
    (Report, Explanation, "explain"),
    (Diff, DiffDocument, "diff, in Python"),
    (DataFrameReport, DataFrameExplanation, "explain --sql"),
    (ScanPlan, PlanDocument, "plan"),
    (Comparison, ComparisonDocument, "compare"),
    (model.Verification, document.Verification, "verify"),
    (model.Audit, document.Audit, "verify --audit-stats"),
    (StatementPlan, StatementDocument, "update, delete and merge"),
    (Hints, HintsDocument, "hints"),
    (Failure, ErrorDocument, "errors under --format json"),
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
    version = title.rpartition(" ")[2]
    names = {"$id": f"urn:lakeprune:schema:{kind}:{version}", "title": title}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **names}
    return json.dumps({**head, **_closed(_described(msgspec.json.schema(shape)))}, indent=2) + "\n"


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a description on every field; KeyError for one that nobody describes."""
    known = tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8"))
    for name, shape in schema["$defs"].items():
        for field, value in shape.get("properties", {}).items():
            if "description" in value:
                continue
            text = known.get(name, {}).get(field) or known["any"].get(field)
            if text is None:
                raise KeyError(f"{DESCRIPTIONS.name} describes no {name}.{field}")
            if "$ref" in value:  # beside a reference, a description belongs to the field and not to what is referred to
                shape["properties"][field] = {"$ref": value["$ref"], "description": text}
            else:
                value["description"] = text
    return schema


def superfluous() -> list[str]:
    """Descriptions of fields that no document has."""
    fields = {
        (name, field)
        for shape, _ in DOCUMENTS.values()
        for name, one in msgspec.json.schema(shape)["$defs"].items()
        for field in one.get("properties", {})
    }
    known = tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8"))
    named = {field for _, field in fields}
    return [f"{c}.{f}" for c, texts in known.items() for f in texts if ((c, f) not in fields if c != "any" else f not in named)]


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


def config_schema_text() -> str:
    """The JSON Schema of the sharing server's configuration; what has a default may be left out."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "lakeprune serve --config"}
    return json.dumps({**head, **msgspec.json.schema(ConfigFile)}, indent=2) + "\n"


# What is published beside the documents, by file name.
OTHERS: dict[str, Callable[[], str]] = {"shares.schema.json": config_schema_text, "sharing.openapi.json": openapi_text}


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for kind in DOCUMENTS:
        target(kind).write_text(schema_text(kind), encoding="utf-8")
        print(f"wrote {target(kind).name}")
    for name, text in OTHERS.items():
        (SCHEMAS / name).write_text(text(), encoding="utf-8")
        print(f"wrote {name}")
