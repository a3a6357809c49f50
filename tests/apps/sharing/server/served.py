"""A real server on loopback, over real tables, for the tests of the sharing server.

`Served` runs uvicorn in a thread; `Asked` is what a request gave. Tables are those of the conformance matrix: partitioned with a
change data feed, with a deletion vector, column-mapped, empty, with a NULL partition, with a file without statistics.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from lakeprune.apps.sharing.server.app import Service
from lakeprune.apps.sharing.server.config import Config, Recipient, Share, SharedTable
from lakeprune.apps.sharing.server.config_file import LimitsEntry
from lakeprune.apps.sharing.server.keys import KeyRing, key_ring, new_key
from lakeprune.apps.sharing.server.recipients import Issued, TokenBook, new_token
from lakeprune.apps.sharing.server.run import settings

DELTA = "responseformat=delta;readerfeatures=deletionvectors,columnmapping,timestampntz"


@dataclass(frozen=True)
class Asked:
    status: int
    headers: Mapping[str, str]  # lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def files(self) -> list[dict[str, Any]]:
        return [line["file"] for line in self.lines if "file" in line]

    @property
    def end(self) -> dict[str, Any] | None:
        return next((line["endStreamAction"] for line in self.lines if "endStreamAction" in line), None)


@dataclass(frozen=True)
class Served:
    """A running server, and the tokens of its recipients."""

    service: Service
    port: int
    tokens: Mapping[str, str]
    issued: Mapping[str, Issued]

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: str | None = "reader",
        headers: Mapping[str, str] | None = None,
        prefix: str = "/delta-sharing",
    ) -> Asked:
        """One request on a connection of its own."""
        given = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            given["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, prefix + path, data, {**given, **(headers or {})})
            answer = connection.getresponse()
            return Asked(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def began(self, method: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        """An answer of which nothing but its head was read; its connection ends with it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.tokens['reader']}", "Connection": "close"}
        connection.request(method, "/delta-sharing" + path, body, headers)
        return connection.getresponse()

    def get(self, path: str, **more: Any) -> Asked:
        return self.ask("GET", path, **more)

    def query(self, table: str, body: Any = None, **more: Any) -> Asked:
        return self.ask("POST", f"{table_path(table)}/query", {} if body is None else body, **more)

    def fetch(self, url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> Asked:
        parts = urlsplit(url)
        return self.ask(method, f"{parts.path}?{parts.query}", who=None, headers=headers, prefix="")

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/delta-sharing"

    def profile(self, who: str = "reader") -> str:
        return json.dumps({"shareCredentialsVersion": 1, "endpoint": self.endpoint, "bearerToken": self.tokens[who]})


def table_path(table: str) -> str:
    """Of `part`, or of share.schema.table."""
    share, schema, name = table.split(".") if "." in table else ("share1", "s", table)
    return f"/shares/{share}/schemas/{schema}/tables/{name}"


@contextmanager
def serving(
    tables: Mapping[str, SharedTable | Path],
    recipients: Mapping[str, Recipient] | None = None,
    *,
    keys: KeyRing | None = None,
    limits: LimitsEntry = LimitsEntry(),  # noqa: B008  # frozen
    sql_hints: str = "on",
    port: int = 0,
    **more: Any,
) -> Iterator[Served]:
    """A server over these tables of share1.s, with history; a `SharedTable` says more."""
    shared = [
        each if isinstance(each, SharedTable) else SharedTable("share1", "s", name, str(each), history=True)
        for name, each in tables.items()
    ]
    shares = tuple(
        Share(
            name,
            tuple(t for t in shared if t.share == name),
            tuple(sorted({t.schema for t in shared if t.share == name})),
            sql_hints=sql_hints,
        )
        for name in dict.fromkeys(t.share for t in shared)
    )
    who = recipients or {"reader": Recipient("reader", tuple(share.name for share in shares))}
    made = {name: new_token(name, None) for name in who}
    socket = _socket(port)
    taken = socket.getsockname()[1]
    config = Config(
        f"http://127.0.0.1:{taken}/delta-sharing",
        "127.0.0.1",
        taken,
        keys or key_ring(new_key()),
        shares,
        who,
        None,
        refresh=0.0,
        limits=limits,
        **more,
    )
    service = Service(config, TokenBook(None, tuple(issued for _, issued in made.values())))
    server = uvicorn.Server(settings(service))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        tokens = {name: token for name, (token, _) in made.items()}
        yield Served(service, taken, tokens, {name: issued for name, (_, issued) in made.items()})
    finally:
        server.should_exit = True
        thread.join(20)
        socket.close()


def _socket(port: int) -> Any:
    import socket

    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    return found
