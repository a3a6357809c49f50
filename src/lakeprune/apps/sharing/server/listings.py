"""E1 to E5: shares, schemas and tables of a recipient, page by page.

In: a call. Out: one line of JSON. `nextPageToken` is left out on the last page: a Spark client would ask for "" for ever.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from lakeprune.apps.sharing.server.answers import json_answer
from lakeprune.apps.sharing.server.call import Call
from lakeprune.apps.sharing.server.config import Share, SharedTable, id_of
from lakeprune.apps.sharing.server.failures import invalid
from lakeprune.apps.sharing.server.keys import PAGES

LARGEST_PAGE = 500
_LIFETIME = 3600


class ListToken(Struct, frozen=True, tag="list"):
    recipient: str
    what: str
    position: int
    expires: int


def list_shares(call: Call) -> Response:
    return _page(call, "shares", [_share(share) for share in call.setup.grants.shares(call.recipient)])


def get_share(call: Call) -> Response:
    return json_answer({"share": _share(call.setup.grants.share(call.recipient, call.names["share"]))})


def list_schemas(call: Call) -> Response:
    share = call.setup.grants.share(call.recipient, call.names["share"])
    return _page(call, f"schemas {share.name}", [{"name": name, "share": share.name} for name in sorted(share.schemas)])


def list_tables(call: Call) -> Response:
    tables = call.setup.grants.schema(call.recipient, call.names["share"], call.names["schema"])
    return _page(call, f"tables {call.names['share']}.{call.names['schema']}".lower(), [_table(table) for table in tables])


def list_all_tables(call: Call) -> Response:
    share = call.setup.grants.share(call.recipient, call.names["share"])
    tables = sorted(share.tables, key=lambda table: (table.schema, table.name))
    return _page(call, f"all {share.name}", [_table(table) for table in tables])


def _share(share: Share) -> dict[str, Any]:
    return {"name": share.name, "id": id_of(share.name), **({} if share.comment is None else {"comment": share.comment})}


def _table(table: SharedTable) -> dict[str, Any]:
    names = {"name": table.name, "schema": table.schema, "share": table.share}
    return {**names, "shareId": id_of(table.share), "id": table.id, "accessModes": ["url"]}


def _page(call: Call, what: str, items: Sequence[dict[str, Any]]) -> Response:
    most, position = _most(call.query.get("maxResults")), 0
    if token := call.query.get("pageToken"):
        found = call.setup.config.keys.unsealed(PAGES, token, ListToken)
        if found is None or (found.recipient, found.what) != (call.recipient.name, what) or found.expires < time.time():
            raise invalid("pageToken is not one that this list gave, or it is too old; list again from the beginning")
        position = found.position
    page = list(items[position : position + most])
    answer: dict[str, Any] = {"items": page}
    if most and position + most < len(items):
        following = ListToken(call.recipient.name, what, position + most, int(time.time()) + _LIFETIME)
        answer["nextPageToken"] = call.setup.config.keys.sealed(PAGES, following)
    return json_answer(answer)


def _most(text: str | None) -> int:
    if text is None:
        return LARGEST_PAGE
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise invalid("maxResults is not a number; give 0 or more")
    return min(int(text), LARGEST_PAGE)
