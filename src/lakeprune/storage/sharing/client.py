"""Requests to a Delta Sharing server, and to the URLs that it signs.

In: a profile, a path, a body. Out: lines or bytes, under limits. Retries what may pass (429, 5xx, lost connections), follows no
redirect, and names neither tokens nor signatures in any message.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from lakeprune.errors import TableError
from lakeprune.storage.sharing.profile import Profile, SharedName, check_url

CAPABILITIES = "responseformat=delta,parquet;readerfeatures=deletionvectors,columnmapping,timestampntz"
TIMEOUT = 60.0  # seconds without a byte
ATTEMPTS = 5
LONGEST_WAIT = 20.0
MAX_LINE = 64 << 20
MAX_ERROR = 4096
_PASSING = frozenset({429, 500, 502, 503, 504})


class SharingClient:
    """One profile; every request has its own connection."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def query(self, name: SharedName, body: Mapping[str, Any]) -> tuple[Mapping[str, str], Iterator[Any]]:
        """The headers and the lines of a query for files, each line a JSON value."""
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "delta-sharing-capabilities": f"{CAPABILITIES};includeendstreamaction=true",
        }
        return self._lines("POST", f"{name.path}/query", json.dumps(body).encode(), headers, name)

    def metadata(self, name: SharedName) -> tuple[Mapping[str, str], Iterator[Any]]:
        """The same of the table's metadata."""
        return self._lines("GET", f"{name.path}/metadata", None, {"delta-sharing-capabilities": CAPABILITIES}, name)

    def _lines(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], name: SharedName
    ) -> tuple[Mapping[str, str], Iterator[Any]]:
        sent = {**headers, "Authorization": f"Bearer {self._profile.token}"}
        connection, answer = answered(method, self._profile.endpoint + path, data, sent, where=_called(name))
        found = {key.lower(): value for key, value in answer.getheaders()}
        return found, _lines(connection, answer, name)


def answered(
    method: str, url: str, data: bytes | None, headers: Mapping[str, str], *, where: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """A response with status 200, and its connection, which the caller closes."""
    check_url(url, where)
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(min(LONGEST_WAIT, 0.25 * 4 ** (attempt - 1)))
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        try:
            connection.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, data, dict(headers))
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            problem = type(error).__name__
            continue
        if response.status == http.client.OK:
            return connection, response
        said = _said(response)
        connection.close()
        if response.status not in _PASSING:
            raise _refused(response.status, said, where)
        problem = f"status {response.status}{said}"
    raise TableError("LP392", f"the server did not answer after {ATTEMPTS} attempts", where=where, why=problem)


def _refused(status: int, said: str, where: str) -> TableError:
    fixes = {
        401: "ask the provider for a new profile",
        403: "the signed URL expired, or the provider withdrew the right: read again",
        404: "check the names; the provider may not have granted the table",
    }
    return TableError("LP392", f"the server refuses the request: status {status}{said}", where=where, fix=fixes.get(status))


def _said(response: http.client.HTTPResponse) -> str:
    """What the body says is wrong, in one short printable line."""
    try:
        content = json.loads(response.read(MAX_ERROR))
        message = content.get("message")
    except (OSError, ValueError, AttributeError, http.client.HTTPException, RecursionError):
        return ""
    text = message if isinstance(message, str) else ""
    safe = "".join(letter if letter.isprintable() else " " for letter in text[:300])
    return f" ({safe})" if safe else ""


def _lines(connection: http.client.HTTPConnection, answer: http.client.HTTPResponse, name: SharedName) -> Iterator[Any]:
    try:
        while line := answer.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise TableError("LP393", f"a line of the answer has more than {MAX_LINE >> 20} MiB", where=_called(name))
            if line.strip():
                yield json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TableError("LP393", "the answer of the server is not readable", where=_called(name)) from error
    except (OSError, http.client.HTTPException) as error:
        raise TableError("LP392", "the connection was lost during the answer", where=_called(name)) from error
    finally:
        connection.close()


def _called(name: SharedName) -> str:
    return f"{name.share}.{name.schema}.{name.table}"
