"""A real HTTP proxy before a real server: it records every request and can behave badly.

`Proxy.rule` is asked for each request and says what happens to it. Headers pass unchanged but for Host, which no server checks.
"""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


class Fate(Enum):
    SERVE = "serve"
    STALL = "stall"  # never answer
    STALL_BODY = "stall body"  # send half of the body, then nothing more
    RESET = "reset"  # cut the connection
    CUT_BODY = "cut body"  # cut it in the middle of the body
    UNAVAILABLE = "503"
    FORBIDDEN = "403"


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # decoded, with its query
    number: int  # from 0, in the order they came
    headers: dict[str, str]

    @property
    def is_listing(self) -> bool:
        return "prefix=" in self.path


Rule = Callable[[Request], Fate]


class Proxy:
    def __init__(self, target: int) -> None:
        self.target = target
        self.rule: Rule = lambda _: Fate.SERVE
        self.seen: list[Request] = []
        self.port = 0
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.under_way = self.most_under_way = 0

    def begin(self) -> None:
        """A request is under way from here."""
        with self.lock:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)

    def end(self) -> None:
        """It is not any more. Called before the first byte of the answer: a client that has its answer may ask again before
        this thread comes to its next line, and these two requests were never under way at once."""
        with self.lock:
            self.under_way -= 1

    def admit(self, method: str, path: str, headers: dict[str, str]) -> Fate:
        with self.lock:
            request = Request(method, unquote(path), len(self.seen), headers)
            self.seen.append(request)
        return self.rule(request)

    def forget(self) -> None:
        with self.lock:
            self.seen = []


@contextmanager
def proxy_before(target: int) -> Iterator[Proxy]:
    proxy = Proxy(target)

    class Handler(_Handler):
        owner = proxy

    server = _Server(("127.0.0.1", 0), Handler)
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Silent: a client that gave up waiting has gone, and what it says is what the tests look at."""


class _Handler(BaseHTTPRequestHandler):
    owner: Proxy
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.owner.begin()
        try:
            fate = self.owner.admit(self.command, self.path, dict(self.headers.items()))
            answer = self._asked() if fate in (Fate.SERVE, Fate.STALL_BODY, Fate.CUT_BODY) else None
        finally:
            self.owner.end()
        match fate:
            case Fate.STALL:
                self.owner.over.wait()
                self.close_connection = True
            case Fate.RESET:
                self._cut()
            case Fate.UNAVAILABLE:
                self._answer(503, b"<Error><Code>SlowDown</Code></Error>")
            case Fate.FORBIDDEN:
                self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
            case Fate.SERVE | Fate.STALL_BODY | Fate.CUT_BODY:
                assert answer is not None
                self._pass_on(fate, *answer)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Silent: the tests look at `seen`."""

    def _asked(self) -> tuple[http.client.HTTPResponse, bytes]:
        """What the server answers."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.owner.target, timeout=30)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            upstream.request(self.command, self.path, headers=headers)
            answer = upstream.getresponse()
            return answer, answer.read()
        finally:
            upstream.close()

    def _pass_on(self, fate: Fate, answer: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if fate is Fate.SERVE or len(content) < 2:
            self.wfile.write(content)
            return
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        if fate is Fate.STALL_BODY:
            self.owner.over.wait()
        self._cut()

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _cut(self) -> None:
        """Close with a reset, not with a polite end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
        self.rfile.close()

    def finish(self) -> None:
        with suppress(OSError):  # cut on purpose
            super().finish()
