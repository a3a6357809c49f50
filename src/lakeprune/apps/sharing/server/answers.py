"""Responses: one line of JSON, an error body, or a stream of chunks that follows its reader's pace.

In: values, or an iterator of bytes that blocks. Out: Starlette responses. A stream is advanced in a thread, never faster than it
is read, and whatever the stream holds is given back in every case.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lakeprune.apps.sharing.server.failures import INTERNAL, Refusal, of_table
from lakeprune.apps.sharing.server.lines import Line, encode
from lakeprune.apps.sharing.server.paths import UnsafePath
from lakeprune.apps.sharing.server.visit import Visit
from lakeprune.engines.engine import EngineError
from lakeprune.errors import LakepruneError

NDJSON = "application/x-ndjson; charset=utf-8"
JSON = "application/json; charset=utf-8"
_CHUNK = 1 << 17
_STALLED = 0.1  # seconds of one write after which a reader does not keep up
SAFE_HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def json_answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """One line: the Python client reads a list line by line."""
    return Response(msgspec.json.encode(value), status, {**SAFE_HEADERS, **(headers or {})}, JSON)


def refused(refusal: Refusal, visit: Visit) -> Response:
    """The body of an error; what the operator should know goes to the log."""
    if refusal.log is not None:
        visit.tell(refusal.log)
    body = {"errorCode": refusal.code, "message": refusal.message, "details": visit.id}
    return json_answer(body, status=refusal.status, headers=refusal.headers)


def refusal_of(error: Exception) -> Refusal:
    """What is reported to a recipient of an error that is not a refusal already."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, UnsafePath):
        message = "the table has files outside of its own folder, as a shallow clone has, and cannot be shared"
        return Refusal(400, "UNSUPPORTED_OPERATION", message, log=str(error))
    if isinstance(error, LakepruneError):
        return of_table(error)
    return Refusal(500, INTERNAL, "", log=f"{type(error).__name__}: {error}")


EXPECTED = (Refusal, UnsafePath, LakepruneError, EngineError)  # what may go wrong while an answer is made


def chunks_of(lines: Iterable[Line]) -> Iterator[bytes]:
    """Lines joined to chunks that are worth a write."""
    part = bytearray()
    for line in lines:
        part += encode(line)
        part += b"\n"
        if len(part) >= _CHUNK:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)


def ended_well(lines: Iterator[Line], visit: Visit, *, is_expected: bool) -> Iterator[Line]:
    """The lines; an error on the way becomes the last line, for clients that look for one. Others see the connection end."""
    count = 0
    try:
        for line in lines:
            yield line
            count += 1
    except EXPECTED as error:
        if not is_expected or count < 2:
            raise
        refusal = refusal_of(error)
        visit.tell(f"the stream was ended by an error: {refusal.log or refusal.message}")
        yield {"endStreamAction": {"errorMessage": refusal.message or f"an error of the server, {visit.id}"}}


class Streamed(Response):
    """Chunks of an iterator that was advanced to its first one already, so that what fails early is an error and not a stream."""

    def __init__(
        self,
        chunks: Iterator[bytes],
        visit: Visit,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        media: str = NDJSON,
    ) -> None:
        super().__init__(None, status, {**SAFE_HEADERS, **(headers or {})}, media)
        if "content-length" in self.headers and (headers is None or "Content-Length" not in headers):
            del self.headers["content-length"]
        self._visit = visit
        self._chunks = chunks
        self._first = next(chunks, b"")
        # A file says its length itself; of lines it is known whether all of them are here once more were asked for.
        self._ahead = next(chunks, None) if media == NDJSON else None
        self.is_whole = media == NDJSON and self._ahead is None
        self.limiter: CapacityLimiter | None = None
        self.let_go: Callable[[], None] | None = None  # called once: at the end, or when the reader does not keep up

    def close(self) -> None:
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.Event()
        watcher = asyncio.create_task(_watch(receive, gone))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            chunk: bytes | None = self._first
            while chunk is not None and not gone.is_set():
                stalled = asyncio.get_running_loop().call_later(_STALLED, self._let_go)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                stalled.cancel()
                chunk = await to_thread.run_sync(self._next, limiter=self.limiter)
            if chunk is None:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except EXPECTED as error:
            self._visit.tell(f"the stream was cut: {refusal_of(error).log or error}")
            raise Abandoned from error
        finally:
            self._let_go()
            watcher.cancel()
            await to_thread.run_sync(self.close, abandon_on_cancel=False)

    def _let_go(self) -> None:
        let_go, self.let_go = self.let_go, None
        if let_go is not None:
            let_go()

    def _next(self) -> bytes | None:
        ahead, self._ahead = self._ahead, None
        return next(self._chunks, None) if ahead is None else ahead


class Abandoned(Exception):
    """A stream that began and cannot be ended well: the connection is closed, so that the client sees it."""


async def _watch(receive: Receive, gone: asyncio.Event) -> None:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            gone.set()
            return


async def capped_body(request: Request, largest: int, too_large: Refusal) -> bytes:
    """The body, never more than this many bytes of it."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > largest:
            raise too_large
        parts.append(part)
    return b"".join(parts)
