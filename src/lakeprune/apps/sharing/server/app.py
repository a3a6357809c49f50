"""The ASGI application: routes, who asks, limits, and one audit line per request.

In: requests from outside. Out: answers of the protocol. Handlers are plain functions in threads (query.py, changes.py,
listings.py, files.py); nothing of a request is looked at before its size is checked, nothing of a table before its recipient is
known.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import unquote

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lakeprune.apps.sharing.server import changes, listings, query
from lakeprune.apps.sharing.server.answers import EXPECTED, SAFE_HEADERS, Abandoned, Streamed, capped_body, refusal_of, refused
from lakeprune.apps.sharing.server.body import LARGEST_BODY, too_large
from lakeprune.apps.sharing.server.call import Call, Setup
from lakeprune.apps.sharing.server.capabilities import HEADER, capabilities_of
from lakeprune.apps.sharing.server.config import LONGEST_NAME, Config, Recipient, is_loopback
from lakeprune.apps.sharing.server.connection import abort_of
from lakeprune.apps.sharing.server.failures import INTERNAL, MALFORMED, NOT_FOUND, TOO_LARGE, Refusal, unauthenticated
from lakeprune.apps.sharing.server.files import Forged, checked_file, file_answer
from lakeprune.apps.sharing.server.grants import Grants
from lakeprune.apps.sharing.server.limits import Buckets, Places
from lakeprune.apps.sharing.server.metrics import Metrics
from lakeprune.apps.sharing.server.openapi import openapi_text
from lakeprune.apps.sharing.server.recipients import Issued, TokenBook
from lakeprune.apps.sharing.server.tables import Tables
from lakeprune.apps.sharing.server.visit import AUDIT, Visit

Handler = Callable[[Call], Response]
LONGEST_URL = 8 << 10
LONGEST_HEADERS = 16 << 10
SLOWEST_BODY = 30.0  # seconds
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-real-ip")  # what proxies add: who asks is not on this machine

TABLE = "/shares/{share}/schemas/{schema}/tables/{table}"
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/shares", listings.list_shares),
    ("GET", "/shares/{share}", listings.get_share),
    ("GET", "/shares/{share}/schemas", listings.list_schemas),
    ("GET", "/shares/{share}/schemas/{schema}/tables", listings.list_tables),
    ("GET", "/shares/{share}/all-tables", listings.list_all_tables),
    ("GET", f"{TABLE}/version", query.table_version),
    ("HEAD", TABLE, query.table_version),
    ("GET", f"{TABLE}/metadata", query.metadata),
    ("POST", f"{TABLE}/query", query.query),
    ("GET", f"{TABLE}/changes", changes.changes),
)


class Service:
    """Everything that outlives a request. `reload` swaps the configuration; requests under way keep theirs."""

    def __init__(self, config: Config, tokens: TokenBook | None = None, *, anonymous: Issued | None = None) -> None:
        self.metrics = Metrics()
        self.anonymous = anonymous  # who asks without a token; None: nobody may
        self.tables = Tables(config.refresh)
        self.setup = self._setup(config, tokens)

    def reload(self, config: Config) -> None:
        self.setup = self._setup(config, self.setup.tokens if config.tokens_path == self.setup.config.tokens_path else None)
        self.tables.refresh_after(config.refresh)

    def close(self) -> None:
        self.tables.close()

    def _setup(self, config: Config, tokens: TokenBook | None) -> Setup:
        setup = Setup(config, Grants(config), tokens or TokenBook(config.tokens_path))  # first: nothing changes when it fails
        limits = config.limits
        self.requests = Buckets(limits.requests_per_second, limits.burst)
        # Readers ask for a file in many small ranges, and few of them try again: far more than any reader needs.
        self.fetches = Buckets(limits.fetches_per_second, 2 * limits.fetches_per_second)
        self.failures = Buckets(limits.failed_logins_per_minute / 60, limits.failed_logins_per_minute)
        self.files = Places(limits.streams)
        self.listings = Places(max(1, limits.streams // 2))  # long ones, which the engine holds until they are read
        self.plans = CapacityLimiter(limits.plans)
        self.lanes = {name: CapacityLimiter(max(1, limits.plans - 1)) for name in config.recipients}  # room for others is left
        self.steps = CapacityLimiter(limits.plans)  # of streams that began: they end soon, and do not wait behind new questions
        return setup


def application(service: Service) -> ASGIApp:
    """The server for one configuration; its paths begin with the path of its endpoint."""
    prefix = service.setup.config.prefix
    routes = [Route(prefix + path, _endpoint(service, handler, path), methods=[method]) for method, path, handler in ROUTES]
    routes += [
        Route(prefix + "/files/{payload}", _file_endpoint(service), methods=["GET", "HEAD"]),
        Route(prefix + "/openapi.json", _openapi, methods=["GET"]),
        Route("/healthz", _healthz, methods=["GET"]),
        Route("/metrics", _metrics_endpoint(service), methods=["GET"]),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    handlers: dict[Any, Any] = {HTTPException: _no_route, Exception: _defect}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return _Outermost(app, service)


class _Outermost:
    """Around everything: the size of the URL, the visit, the audit line, the counters."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("?", 0))[0]
        visit = Visit(scope["method"], "?", address)
        scope.setdefault("state", {})["visit"] = visit
        patience = self._service.setup.config.limits.seconds_per_write

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                visit.status = message["status"]
            visit.bytes_sent += len(message.get("body", b""))
            try:
                async with asyncio.timeout(patience):
                    await send(message)
            except TimeoutError:
                visit.tell("the reader took nothing for too long and was cut off")
                abort_of(scope)()
                raise Abandoned from None

        metrics = self._service.metrics
        metrics.opened(1)
        try:
            if (large := _oversized(scope)) is not None:
                await refused(large, visit)(scope, receive, noting)
                return
            with suppress(Abandoned):  # it was reported, and what ends without its end is closed
                await self._app(scope, receive, noting)
        except asyncio.CancelledError:  # the time that requests under way have after SIGTERM is over
            visit.tell("the server ended before its reader had everything")
            abort_of(scope)()
        finally:
            metrics.opened(-1)
            if visit.route != "/healthz":
                metrics.add("requests", route=visit.route, status=str(visit.status))
                metrics.add("sent_bytes", visit.bytes_sent)
                AUDIT.info("%s", visit.line())


def _oversized(scope: Scope) -> Refusal | None:
    """What is refused for its size before anything of it is looked at."""
    if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > LONGEST_URL:
        return Refusal(414, TOO_LARGE, f"the URL is longer than {LONGEST_URL} bytes")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEADERS:
        return Refusal(431, TOO_LARGE, f"the headers are longer than {LONGEST_HEADERS} bytes")
    return None


def _endpoint(service: Service, handler: Handler, route: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        visit: Visit = request.state.visit
        visit.route = route
        try:
            setup = service.setup
            issued, recipient = _who(service, setup, request)
            visit.recipient = recipient.name
            service.requests.take(recipient.name)
            lane = service.lanes[recipient.name]
            names = {name: _name(value) for name, value in request.path_params.items()}
            body = await _body(request) if request.method == "POST" else b""
            call = Call(
                setup,
                service.tables,
                service.metrics,
                visit,
                recipient,
                issued,
                names,
                dict(request.query_params),
                dict(request.headers),
                capabilities_of(request.headers.get(HEADER)),
                body,
            )
            await lane.acquire_on_behalf_of(visit)
            release: Callable[[], None] | None = partial(lane.release_on_behalf_of, visit)
            try:
                answer = await to_thread.run_sync(handler, call, limiter=service.plans)
                if isinstance(answer, Streamed):
                    answer.limiter = service.steps
                    if not answer.is_whole:
                        # The engine holds a long answer, so no other one is begun while its reader keeps up.
                        counted = await _counted(answer, service.listings, recipient.name)
                        answer.let_go, release = release, None
                        return counted
            finally:
                if release is not None:
                    release()
        except EXPECTED as error:
            return refused(refusal_of(error), visit)
        return answer

    return endpoint


def _who(service: Service, setup: Setup, request: Request) -> tuple[Issued, Recipient]:
    """The recipient whose token the request carries; 401, and 429 for an address that fails too often."""
    given = request.headers.getlist("authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    issued = setup.tokens.holder(token.strip()) if scheme.lower() == "bearer" and token.strip() else None
    issued = issued or (service.anonymous if _is_for_this_machine(request) else None)
    recipient = None if issued is None else setup.grants.recipient(issued.recipient)
    if issued is None or recipient is None:
        _failed_login(service, request)
        raise unauthenticated()
    return issued, recipient


def _failed_login(service: Service, request: Request) -> None:
    """Counts it; 429 for an address that fails too often."""
    address = request.client.host if request.client else "?"
    service.metrics.add("failed_logins")
    service.failures.check(address)
    service.failures.spend(address)


def _is_for_this_machine(request: Request) -> bool:
    """Whether the request was sent to an address of loopback: browsers send pages of any site to a name that leads here."""
    host = request.headers.get("host", "")
    return is_loopback(host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0])


def _name(value: str) -> str:
    """A name of a path, which some clients encode twice."""
    decoded = unquote(value) if "%" in value else value
    return decoded if len(decoded) <= LONGEST_NAME else ""


async def _body(request: Request) -> bytes:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, MALFORMED, "the body is encoded; send it as it is")
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > LARGEST_BODY):
        raise too_large()
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await capped_body(request, LARGEST_BODY, too_large())
    except TimeoutError:
        raise Refusal(408, MALFORMED, "the body came too slowly") from None
    except ClientDisconnect:
        raise Refusal(400, MALFORMED, "the connection ended before the body") from None


def _file_endpoint(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        visit: Visit = request.state.visit
        visit.route = "/files"
        setup = service.setup
        try:
            service.files.check()
            payload, about = request.path_params["payload"], dict(request.query_params)
            try:
                file = checked_file(setup, visit, payload, about)
            except Forged:
                _failed_login(service, request)
                raise
            service.fetches.take(visit.recipient or "")
            answer = await to_thread.run_sync(file_answer, visit, file, request.headers.get("range"))
            if isinstance(answer, Streamed):
                return await _counted(answer, service.files, visit.recipient or "")
        except EXPECTED as error:
            return refused(refusal_of(error), visit)
        return answer

    return endpoint


async def _counted(answer: Streamed, places: Places, recipient: str) -> Response:
    """The stream in one of the places; 429, and the stream is given up, when there is none."""
    try:
        places.check(recipient)
    except Refusal:
        await to_thread.run_sync(answer.close)
        raise
    return _Counted(answer, places, recipient)


class _Counted(Response):
    """A stream that takes one of the places."""

    def __init__(self, answer: Streamed, places: Places, recipient: str) -> None:
        super().__init__()
        self._answer = answer
        self._places = places
        self._recipient = recipient

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._places.taken(self._recipient):
            await self._answer(scope, receive, send)


async def _healthz(request: Request) -> Response:
    request.state.visit.route = "/healthz"
    return Response(b"ok\n", 200, SAFE_HEADERS, "text/plain; charset=utf-8")


async def _openapi(request: Request) -> Response:
    request.state.visit.route = "/openapi.json"
    return Response(openapi_text(), 200, SAFE_HEADERS, "application/json")


def _metrics_endpoint(service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        request.state.visit.route = "/metrics"
        is_near = request.client is not None and is_loopback(request.client.host)
        if not is_near or any(name in request.headers for name in FORWARDED):
            return refused(Refusal(404, NOT_FOUND, "there is no such path"), request.state.visit)
        media = "application/openmetrics-text; version=1.0.0; charset=utf-8"
        return Response(service.metrics.text(), 200, SAFE_HEADERS, media)

    return endpoint


async def _no_route(request: Request, error: HTTPException) -> Response:
    message = "there is no such path" if error.status_code == 404 else "this method is not accepted here"
    return refused(Refusal(error.status_code, NOT_FOUND, message, headers=error.headers or {}), request.state.visit)


async def _defect(request: Request, error: Exception) -> Response:
    """A defect of the server: the recipient gets an id, the operator the traceback (from uvicorn, which gets the error too)."""
    visit: Visit = request.state.visit
    if isinstance(error, Abandoned):
        return Response(b"", 500)
    return refused(Refusal(500, INTERNAL, "", log=f"{type(error).__name__}"), visit)
