"""Request bodies: read with a cap, parsed strictly, picked field by field.

In: bytes from outside. Out: `QueryBody`, or 400 / 413. What the protocol lets a server ignore (hints, limits, unknown fields) is
ignored when it is wrong; what would change the answer (a version, a token) is refused.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from lakeprune.apps.sharing.server.failures import MALFORMED, TOO_LARGE, Refusal, invalid
from lakeprune.predicate.read.sharing.columns import is_whole_text

LARGEST_BODY = 1 << 20
LONGEST_TOKEN = 4096
MOST_FILES = 2**40  # of a page; a page behind another still ends at a number that engines count to
_MOST = 2**63


class QueryBody(Struct, frozen=True):
    predicate_hints: tuple[str, ...] = ()
    json_hints: str | None = None
    limit: int | None = None
    has_bad_sql: bool = False  # predicateHints, or one of them, is not text
    has_bad_json: bool = False  # jsonPredicateHints is not text
    version: int | None = None
    timestamp: str | None = None
    starting_version: int | None = None
    ending_version: int | None = None
    max_files: int | None = None
    page_token: str | None = None
    include_refresh_token: bool = False
    refresh_token: str | None = None
    historical_protocol: bool = False


def too_large() -> Refusal:
    return Refusal(413, TOO_LARGE, f"the body is larger than {LARGEST_BODY} bytes")


def query_body(raw: bytes) -> QueryBody:
    """The body of a query; an empty one asks for everything."""
    if not raw.strip():
        return QueryBody()
    try:
        value: Any = _decoded(raw)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, MALFORMED, "the body is not JSON; send an object such as {}") from error
    if not isinstance(value, dict):
        raise Refusal(400, MALFORMED, "the body is not a JSON object; send an object such as {}")
    sql, json_hint = value.get("predicateHints"), value.get("jsonPredicateHints")
    listed = sql if isinstance(sql, list) else []
    hints = tuple(each for each in listed if _is_text(each))
    limit = value.get("limitHint")
    is_limit = type(limit) is int and 0 <= limit < _MOST
    body = QueryBody(
        hints,
        json_hint if _is_text(json_hint) else None,
        limit if is_limit else None,
        len(hints) < len(listed) or not isinstance(sql, list | None),
        json_hint is not None and not _is_text(json_hint),
        whole(value.get("version"), "version"),
        _text(value.get("timestamp"), "timestamp"),
        whole(value.get("startingVersion"), "startingVersion"),
        whole(value.get("endingVersion"), "endingVersion"),
        _positive(value.get("maxFiles")),
        _text(value.get("pageToken"), "pageToken"),
        value.get("includeRefreshToken") is True,
        _text(value.get("refreshToken"), "refreshToken"),
        value.get("includeHistoricalProtocol") is True,
    )
    _check(body)
    return body


def _decoded(raw: bytes) -> Any:
    """The value of a body; also of one that writes half of a surrogate pair, which a hint may hold and no text does."""
    try:
        return msgspec.json.decode(raw)
    except ValueError:
        if b"\\ud" not in raw.lower():
            raise
        return json.loads(raw.decode(), parse_constant=_refuse)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_whole_text(value)


def whole(value: Any, name: str) -> int | None:
    """A version; the text of one in a query string."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < _MOST:
        raise invalid(f"{name} is not a version; give a whole number from 0 on")
    return value


def max_files_of(text: str | None) -> int | None:
    """`maxFiles` of a query string."""
    return None if text is None else _positive(int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text)


def _positive(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 < value < _MOST:
        raise invalid("maxFiles is not a number of files; give 1 or more")
    return min(value, MOST_FILES)


def _text(value: Any, name: str) -> str | None:
    if value is None:
        return None
    if not _is_text(value) or len(value) > LONGEST_TOKEN:
        raise invalid(f"{name} is not a text that this server accepts")
    return str(value)


def _check(body: QueryBody) -> None:
    chosen = [
        name
        for name, value in (("version", body.version), ("timestamp", body.timestamp), ("startingVersion", body.starting_version))
        if value is not None
    ]
    if len(chosen) > 1:
        raise invalid(f"{' and '.join(chosen)} were given; choose one of them")
    if body.ending_version is not None and body.starting_version is None:
        raise invalid("endingVersion needs a startingVersion")
    if body.refresh_token is not None and (chosen or body.page_token is not None):
        raise invalid("refreshToken names a version itself; leave version, timestamp, startingVersion and pageToken out")
    if body.include_refresh_token and chosen:
        raise invalid("includeRefreshToken is for the latest version; leave version, timestamp and startingVersion out")
