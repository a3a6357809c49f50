"""The published description of the server's interface, as OpenAPI 3.1.

In: nothing. Out: one JSON document, served at /openapi.json and kept in schemas/. The tests send requests made from it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_LINES = {"application/x-ndjson": {"schema": {"type": "string", "description": "one JSON object per line"}}}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return _object(("items",), items={"type": "array", "items": item}, nextPageToken={"type": "string", "minLength": 1})


_SHARE = _object(("name", "id"), name=_TEXT, id={"type": "string", "format": "uuid"}, comment=_TEXT)
_SCHEMA = _object(("name", "share"), name=_TEXT, share=_TEXT)
_TABLE = _object(
    ("name", "schema", "share", "id", "shareId", "accessModes"),
    name=_TEXT, schema=_TEXT, share=_TEXT, id=_TEXT, shareId=_TEXT, accessModes={"type": "array", "items": {"const": "url"}},
)  # fmt: skip
_ERROR = _object(("errorCode", "message", "details"), errorCode=_TEXT, message=_TEXT, details=_TEXT)
_QUERY = _object(
    predicateHints={"type": "array", "items": _TEXT},
    jsonPredicateHints={"type": "string", "description": "a JSON predicate, as text"},
    limitHint=_NUMBER,
    version=_NUMBER,
    timestamp=_TEXT,
    startingVersion=_NUMBER,
    endingVersion=_NUMBER,
    maxFiles=_NUMBER,
    pageToken=_TEXT,
    includeRefreshToken={"type": "boolean"},
    refreshToken=_TEXT,
    includeHistoricalProtocol={"type": "boolean"},
)
_ERRORS = {
    "400": "wrong or not supported; the message says what to change", "401": "no valid token", "404": "nothing that you may see",
    "408": "the body came too slowly", "413": "the body is too large", "414": "the URL is too long", "415": "the body is encoded",
    "429": "too many requests", "431": "the headers are too long", "500": "an error of the server",
}  # fmt: skip


def _query(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "required": False, "schema": _TEXT} for name in names]


def _path(*names: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1, "maxLength": 255}}
        for name in names
    ]


def _operation(summary: str, parameters: list[dict[str, Any]], content: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    ok: dict[str, Any] = {"description": summary, **({} if content is None else {"content": content})}
    errors = {
        status: {"description": text, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
        for status, text in _ERRORS.items()
    }
    return {"summary": summary, "parameters": parameters, "responses": {"200": ok, **errors}, **more}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def document() -> dict[str, Any]:
    """The whole description."""
    paging, names = _query("maxResults", "pageToken"), ("share", "schema", "table")
    headers = [
        {"name": "delta-sharing-capabilities", "in": "header", "required": False, "schema": _TEXT},
        {"name": "fileidhash", "in": "header", "required": False, "schema": {"type": "string", "enum": ["parquet", "delta"]}},
    ]
    table = "/shares/{share}/schemas/{schema}/tables/{table}"
    explain = {"name": "explain", "in": "query", "required": False, "schema": _TEXT}
    body = {"required": False, "content": {"application/json": {"schema": _QUERY}}}
    changes = (
        "startingVersion",
        "startingTimestamp",
        "endingVersion",
        "endingTimestamp",
        "includeHistoricalMetadata",
        "includeHistoricalProtocol",
        "maxFiles",
    )
    get = {
        "/shares": _operation("Shares", paging, _json(_list(_SHARE))),
        "/shares/{share}": _operation("One share", _path("share"), _json(_object(("share",), share=_SHARE))),
        "/shares/{share}/schemas": _operation("Schemas", [*_path("share"), *paging], _json(_list(_SCHEMA))),
        "/shares/{share}/schemas/{schema}/tables": _operation(
            "Tables", [*_path("share", "schema"), *paging], _json(_list(_TABLE))
        ),
        "/shares/{share}/all-tables": _operation("Tables of all schemas", [*_path("share"), *paging], _json(_list(_TABLE))),
        f"{table}/version": _operation("Version", [*_path(*names), *_query("startingTimestamp")], None),
        f"{table}/metadata": _operation(
            "Protocol and metadata", [*_path(*names), *_query("version", "timestamp"), *headers], _LINES
        ),
        f"{table}/changes": _operation("Change data feed", [*_path(*names), *_query(*changes, "pageToken"), *headers], _LINES),
    }
    paths: dict[str, Any] = {path: {"get": operation} for path, operation in get.items()}
    both = {**_LINES, **_json({"type": "object"})}
    paths[f"{table}/query"] = {"post": _operation("Files", [*_path(*names), *headers, explain], both, requestBody=body)}
    old_version = _operation("Version, as older clients ask for it", _path(*names), None)
    bare = {status: {"description": each["description"]} for status, each in old_version["responses"].items()}
    paths[table] = {"head": {**old_version, "responses": bare}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "lakeprune Delta Sharing server", "version": "1"},
        "servers": [{"url": "/delta-sharing"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": {"Error": _ERROR}, "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


@cache
def openapi_text() -> str:
    return json.dumps(document(), indent=2) + "\n"
