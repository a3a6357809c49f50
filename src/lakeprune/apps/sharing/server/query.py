"""E6 to E8: the version of a table, its metadata, and its files as far as hints need them.

In: a call. Out: an answer that is generated file by file: memory does not grow with the table. The same request for the same
version has the same answer, and fewer hints never a smaller one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response

from lakeprune import __version__
from lakeprune.apps.sharing.server import planned
from lakeprune.apps.sharing.server.answers import JSON, SAFE_HEADERS, Streamed, chunks_of, ended_well
from lakeprune.apps.sharing.server.body import QueryBody, query_body, whole
from lakeprune.apps.sharing.server.call import Call, check_history, check_start, micros_of, opened_at
from lakeprune.apps.sharing.server.capabilities import HEADER, ResponseFormat, negotiated
from lakeprune.apps.sharing.server.failures import invalid, unsupported
from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.lines import Described, Line, lines_of
from lakeprune.apps.sharing.server.pages import Pinned, digest_of, next_page, page_of, refresh_token, refreshed_version
from lakeprune.apps.sharing.server.planned import Planned
from lakeprune.apps.sharing.server.tables import Opened
from lakeprune.apps.sharing.server.urls import Signer
from lakeprune.planning.planner import Planner
from lakeprune.programs.select import Container, Fields, Order, Selection, select

VERSION_HEADER = "Delta-Table-Version"
FILE_IDS = "fileidhash"
_FEW = 1024  # containers that are looked at before an answer begins
PART = 1024  # containers that the engine is asked for at once


def table_version(call: Call) -> Response:
    """E6: an empty body, and the version in a header."""
    granted = call.granted()
    if (since := call.query.get("startingTimestamp")) is None:
        version = call.answered(call.tables.latest(granted.table)).version
    else:
        check_history(granted)
        moment = micros_of(since, "startingTimestamp")
        newest = call.tables.latest(granted.table).version
        with call.tables.history(granted.table) as history:
            version = max(history.version_from(moment), granted.table.start_version)
        if version > newest:
            raise invalid("no version is as new as startingTimestamp; give an earlier time")
        call.visit.version = version
    return Response(b"", 200, {**SAFE_HEADERS, VERSION_HEADER: str(version)}, JSON)


def metadata(call: Call) -> Response:
    """E7: exactly two lines."""
    granted = call.granted()
    version, timestamp = whole(call.query.get("version"), "version"), call.query.get("timestamp")
    if version is not None and timestamp is not None:
        raise invalid("version and timestamp were given; choose one of them")
    opened = opened_at(call, granted, version, timestamp)
    totals = opened.totals(granted.where)
    form = negotiated(call.capabilities, opened.declared, has_vectors=totals.with_vector > 0)
    lines, described = lines_of(form), Described(opened.declared, opened.version, totals)
    both = [lines.protocol(described), lines.metadata(described)]
    return Streamed(chunks_of(both), call.visit, headers=headers_of(call, opened.version, form))


def query(call: Call) -> Response:
    """E8, and with `explain=true` the report on its hints in place of files."""
    from lakeprune.apps.sharing.server.changes import changes_since

    granted = call.granted()
    body = query_body(call.body)
    if body.starting_version is not None:
        return changes_since(call, granted, body)
    hints = body.predicate_hints, body.json_hints, body.has_bad_sql, body.has_bad_json
    # A position means nothing in another list: one that other settings, or another version of lakeprune, would make.
    settings = granted.share.sql_hints, __version__
    digest = digest_of(hints, body.limit, body.version, body.timestamp, sorted(call.capabilities.formats), settings)
    page = None if body.page_token is None else page_of(call, granted, digest, body.page_token)
    if page is not None:
        if body.version is not None or body.timestamp is not None:
            check_history(granted)  # which may have ended since the first page
        opened = _pinned(call, granted, page.version)
    elif body.refresh_token is not None:
        opened = _pinned(call, granted, refreshed_version(call, granted, body.refresh_token))
    else:
        opened = opened_at(call, granted, body.version, body.timestamp)
    if call.query.get("explain", "").lower() == "true":
        return _explained(call, granted, body, opened)
    return _Query(call, granted, body, opened, digest, 0 if page is None else page.position).answer()


def _pinned(call: Call, granted: Granted, version: int) -> Opened:
    """The version that a token stands for, unless it is not shared any more."""
    check_start(granted, version)
    return call.answered(call.tables.at(granted.table, version))


class _Query:
    """One listing of files."""

    def __init__(self, call: Call, granted: Granted, body: QueryBody, opened: Opened, digest: str, position: int) -> None:
        self._call = call
        self._granted = granted
        self._body = body
        self._opened = opened
        self._digest = digest
        self._position = position

    def answer(self) -> Response:
        call, opened = self._call, self._opened
        totals = opened.totals(self._granted.where)
        form = negotiated(call.capabilities, opened.declared, has_vectors=totals.with_vector > 0)
        with ExitStack() as held:
            planner = held.enter_context(opened.planner())
            found = planned.plan(planner, self._granted, self._body, totals, call.metrics)
            containers = self._containers(planner, found)
            first = list(islice(containers, _FEW))
            kept = self._counted(first)
            kept = found.kept(planner, totals) if kept is None else kept
            header = found.header(kept, totals.files)
            headers = {**headers_of(call, opened.version, form, has_end=True), planned.HEADER: header}
            if self._body.predicate_hints and self._granted.share.sql_hints == "warn":
                headers[planned.WARNING_HEADER] = "predicateHints will not be read much longer; send jsonPredicateHints"
                call.visit.ignored.append("sql hints are on their way out of the protocol; send jsonPredicateHints")
            call.visit.hints, call.visit.files_total, call.visit.files_offered = header, totals.files, 0
            call.visit.ignored += found.ignored()
            call.metrics.add("files_pruned", max(0, totals.files - kept))
            described = Described(opened.declared, opened.version, totals)
            lines = self._lines(chain(first, containers), described, form, held.pop_all())
            whole = ended_well(lines, call.visit, is_expected=self._wants_end)
            return Streamed(chunks_of(whole), call.visit, headers=headers)

    def _counted(self, first: list[Container]) -> int | None:
        """How many files the answer has, where the first few containers are all of them."""
        is_all = len(first) < _FEW and self._position == 0
        return len(first) if is_all and (self._body.max_files is None or len(first) <= self._body.max_files) else None

    def _lines(
        self, containers: Iterator[Container], described: Described, form: ResponseFormat, held: ExitStack
    ) -> Iterator[Line]:
        call, lines = self._call, lines_of(form)
        signer = signer_of(call, self._granted, self._opened)
        with held:
            yield lines.protocol(described)
            yield lines.metadata(described)
            most, more = self._body.max_files, False
            if most is not None:
                page = _Page(containers, most)
                containers = iter(page)
            for line in lines.files(containers, described, signer):
                call.visit.files_offered = (call.visit.files_offered or 0) + 1
                yield line
            call.metrics.add("files_offered", call.visit.files_offered or 0)
            if most is not None:
                more = page.has_more
            if (end := self._end(signer, more=more)) is not None:
                yield end

    def _containers(self, planner: Planner, found: Planned) -> Iterator[Container]:
        most = self._body.max_files
        selection = replace(found.selection, limit=None if most is None else self._position + most + 1)
        with planner.reading():
            yield from islice(self._selected(planner, found, selection), self._position, None)

    def _selected(self, planner: Planner, found: Planned, selection: Selection) -> Iterator[Container]:
        """By path. Of a table that the engine keeps, in parts: then it holds no sorted list while a client reads the last one.

        Of a larger one in any order, where no page depends on it: memory must not grow with the table.
        """
        fields = Fields(bounds=False, records=True)
        if not self._opened.is_cheap:
            is_whole = selection.limit is None and selection.rows is None and self._position == 0
            order = Order.ANY if is_whole else Order.PATH
            yield from select(planner.evaluation, found.question.plan, replace(selection, order=order), fields)
            return
        left = self._opened.kept_files if selection.limit is None else selection.limit
        while left > 0:
            part = list(select(planner.evaluation, found.question.plan, replace(selection, limit=min(left, PART)), fields))
            yield from part
            if len(part) < PART:
                return
            left -= len(part)
            selection = replace(selection, after=part[-1].path)

    @property
    def _wants_refresh(self) -> bool:
        return self._body.include_refresh_token and self._body.page_token is None

    @property
    def _wants_end(self) -> bool:
        paged = self._body.max_files is not None or self._body.page_token is not None
        return paged or self._wants_refresh or self._call.capabilities.end_stream

    def _end(self, signer: Signer, *, more: bool) -> Line | None:
        """The last line, only for those who asked for it in one way or another."""
        body, call = self._body, self._call
        if not self._wants_end:
            return None
        end: dict[str, Any] = {"minUrlExpirationTimestamp": signer.expires_ms}
        if self._wants_refresh:
            end["refreshToken"] = refresh_token(call, self._granted, self._opened.version)
        if more and body.max_files is not None:
            position = self._position + body.max_files
            end["nextPageToken"] = next_page(call, self._granted, self._digest, Pinned(self._opened.version, position))
        return {"endStreamAction": end}


class _Page:
    """At most so many of the containers, and whether there are more."""

    def __init__(self, containers: Iterator[Container], most: int) -> None:
        self._containers = containers
        self._most = most
        self.has_more = False

    def __iter__(self) -> Iterator[Container]:
        yield from islice(self._containers, self._most)
        self.has_more = next(self._containers, None) is not None


def _explained(call: Call, granted: Granted, body: QueryBody, opened: Opened) -> Response:
    if granted.where is not None:
        raise unsupported("explain=true is not available on a table that is restricted for you")
    from lakeprune.apps.sharing.server.explaining import explained

    with opened.planner() as planner:
        totals = opened.totals(None)
        found = planned.plan(planner, granted, body, totals, call.metrics)
        text = explained(planner, found.question, granted.table.full_name)
        call.visit.hints = found.header(found.kept(planner, totals), totals.files)
    headers = {VERSION_HEADER: str(opened.version), planned.HEADER: call.visit.hints, **SAFE_HEADERS}
    return Response(text, 200, headers, JSON)


def signer_of(call: Call, granted: Granted, opened: Opened) -> Signer:
    config = call.setup.config
    expires = int(time.time()) + config.url_lifetime
    table = granted.table.id
    return Signer(config.keys, config.endpoint, call.issued.id, granted, table, opened.version, opened.storage, expires)


def headers_of(call: Call, version: int, form: ResponseFormat, *, has_end: bool = False) -> dict[str, str]:
    """What every answer about a version carries; with `has_end`, that the last line ends it, for those who asked for that."""
    ended = ";includeendstreamaction=true" if has_end and call.capabilities.end_stream else ""
    headers = {VERSION_HEADER: str(version), HEADER: f"responseformat={form.value}{ended}"}
    if (kind := call.headers.get(FILE_IDS)) is not None:
        if kind.lower() not in ("parquet", "delta"):
            raise invalid("fileidhash is parquet or delta")
        headers[FILE_IDS] = kind.lower()
    return headers
