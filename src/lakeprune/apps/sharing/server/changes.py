"""E9 and `startingVersion`: what commits did, one by one.

In: a call. Out: lines of added, removed and changed files, each with the version and time of its commit. Never pruned: old
and new rows of an update may lie in different files. Commits are read line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from lakeprune.apps.sharing.server.answers import Streamed, chunks_of, ended_well
from lakeprune.apps.sharing.server.body import QueryBody, max_files_of, whole
from lakeprune.apps.sharing.server.call import Call, check_history, check_start, micros_of
from lakeprune.apps.sharing.server.capabilities import ResponseFormat, negotiated
from lakeprune.apps.sharing.server.failures import Refusal, invalid, unsupported
from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.lines import Described, Line, delta_file, lines_of
from lakeprune.apps.sharing.server.pages import Pinned, digest_of, next_page, page_of
from lakeprune.apps.sharing.server.paths import inside
from lakeprune.apps.sharing.server.query import headers_of, signer_of
from lakeprune.apps.sharing.server.tables import Opened
from lakeprune.apps.sharing.server.urls import Signer
from lakeprune.apps.sharing.server.vectors import vector_path, with_url
from lakeprune.formats.delta.actions import Declared, state_of_action
from lakeprune.formats.delta.history import CommitActions, History

_FEED = "delta.enableChangeDataFeed"
_KINDS = {"add": "add", "remove": "remove", "cdc": "cdf"}  # actions, and what the parquet format calls them
_KEPT = ("partitionValues", "size", "modificationTime", "dataChange", "stats", "deletionTimestamp", "extendedFileMetadata")


class Span(Struct, frozen=True):
    """Versions from first to last, and what to send of them."""

    first: int
    last: int
    is_feed: bool
    metadata: bool = False  # also where it changes
    protocol: bool = False


def changes(call: Call) -> Response:
    """E9: the change data feed."""
    granted = call.granted()
    check_history(granted)
    asked = {name: call.query.get(name) for name in ("startingVersion", "startingTimestamp", "endingVersion", "endingTimestamp")}
    flags = [call.query.get(name, "").lower() == "true" for name in ("includeHistoricalMetadata", "includeHistoricalProtocol")]
    digest = digest_of("changes", sorted(asked.items()), flags, sorted(call.capabilities.formats))
    with ExitStack() as held:
        history = held.enter_context(call.tables.history(granted.table))
        token = call.query.get("pageToken")
        if token is not None:
            page = page_of(call, granted, digest, token)
            first, last, position = page.version, page.last_version or page.version, page.position
            described = page.version if page.described is None else page.described
        else:
            newest, position = call.tables.latest(granted.table).version, 0
            first = _version(history, asked["startingVersion"], asked["startingTimestamp"], "starting", History.version_from)
            last = _version(history, asked["endingVersion"], asked["endingTimestamp"], "ending", History.version_at, newest)
            _check_span(granted, first, last, newest)
            described = first if flags[0] else newest
        _check_feed(call, granted, history, first, last)
        span = Span(first, last, is_feed=True, metadata=flags[0], protocol=flags[1])
        most, opened = max_files_of(call.query.get("maxFiles")), call.tables.at(granted.table, described)
        return _Changes(call, granted, span, digest, position, most).answer(
            history, opened, held.pop_all(), paged=token is not None
        )


def changes_since(call: Call, granted: Granted, body: QueryBody) -> Response:
    """E8 with startingVersion: files that were added and removed, for streams."""
    check_history(granted)
    wants_protocol = body.historical_protocol
    digest = digest_of("since", body.starting_version, body.ending_version, wants_protocol, sorted(call.capabilities.formats))
    with ExitStack() as held:
        history = held.enter_context(call.tables.history(granted.table))
        if body.page_token is not None:
            page = page_of(call, granted, digest, body.page_token)
            first, last, position = page.version, page.last_version or page.version, page.position
        else:
            newest, position = call.tables.latest(granted.table).version, 0
            first = body.starting_version if body.starting_version is not None else 0
            last = newest if body.ending_version is None else body.ending_version
            _check_span(granted, first, last, newest)
        span = Span(first, last, is_feed=False, metadata=True, protocol=wants_protocol)
        described = call.tables.at(granted.table, first)
        paged = body.page_token is not None
        return _Changes(call, granted, span, digest, position, body.max_files).answer(
            history, described, held.pop_all(), paged=paged
        )


class _Changes:
    def __init__(self, call: Call, granted: Granted, span: Span, digest: str, position: int, most: int | None) -> None:
        self._call = call
        self._granted = granted
        self._span = span
        self._digest = digest
        self._position = position
        self._most = most

    def answer(self, history: History, described: Opened, held: ExitStack, *, paged: bool) -> Response:
        call, span = self._call, self._span
        latest = call.tables.latest(self._granted.table)
        # What was deleted by vectors anywhere on the way is not known here: a table that may have them needs delta format.
        may_have = any("deletionVectors" in each.declared.protocol.reader_features for each in (described, latest))
        with held:
            form = self._form(described.declared, call.tables.at(self._granted.table, span.last).declared, has_vectors=may_have)
            call.visit.version, call.visit.files_offered = span.first, 0
            has_end = self._most is not None or paged or call.capabilities.end_stream
            lines = self._lines(history, described, form, held.pop_all(), has_end=has_end)
            whole = ended_well(lines, call.visit, is_expected=has_end)
            return Streamed(chunks_of(whole), call.visit, headers=headers_of(call, span.first, form, has_end=True))

    def _form(self, *several: Declared, has_vectors: bool) -> ResponseFormat:
        """The format that all of these can be read in."""
        forms = [negotiated(self._call.capabilities, each, has_vectors=has_vectors) for each in several]
        return ResponseFormat.DELTA if ResponseFormat.DELTA in forms else ResponseFormat.PARQUET

    def _lines(self, history: History, opened: Opened, form: ResponseFormat, held: ExitStack, *, has_end: bool) -> Iterator[Line]:
        call, lines = self._call, lines_of(form)
        described = Described(opened.declared, opened.version, opened.totals(None))
        signer = signer_of(call, self._granted, opened)
        with held:
            yield self._protocol(described, form)
            yield lines.metadata(described)
            found = islice(self._actions(history, opened.declared, form, signer), self._position, None)
            for line in found if self._most is None else islice(found, self._most):
                call.visit.files_offered = (call.visit.files_offered or 0) + 1
                yield line
            if not has_end:
                return
            end: dict[str, Any] = {"minUrlExpirationTimestamp": signer.expires_ms}
            if self._most is not None and next(found, None) is not None:
                after = self._position + self._most
                at = Pinned(self._span.first, after, self._span.last, opened.version)
                end["nextPageToken"] = next_page(call, self._granted, self._digest, at)
            yield {"endStreamAction": end}

    def _actions(self, history: History, declared: Declared, form: ResponseFormat, signer: Signer) -> Iterator[Line]:
        now = self._call.tables.at(self._granted.table, self._span.first).declared
        for version in range(self._span.first, self._span.last + 1):
            commit = history.commit(version)
            timestamp = commit.timestamp
            has_feed = self._span.is_feed and commit.has("cdc")
            for action in commit.actions():
                kind = next((name for name in _KINDS if isinstance(action.get(name), dict)), None)
                if kind is None:
                    now = self._readable(now, action, commit, form)
                    about = self._about(action, commit, declared, form)
                    if about is not None:
                        yield about
                elif kind == "cdc" if has_feed else (kind != "cdc" and action[kind].get("dataChange", True)):
                    file = _with_size(action[kind], signer)
                    write = _parquet_line if form is ResponseFormat.PARQUET else _delta_line
                    yield write(kind, file, signer, {"version": version, "timestamp": timestamp})

    def _readable(self, before: Declared, action: Line, commit: CommitActions, form: ResponseFormat) -> Declared:
        """What holds from this action on; refused where the client cannot read what follows."""
        state = state_of_action(action, "the log")
        if state.metadata is None and state.protocol is None:
            return before
        now = Declared(state.protocol or before.protocol, state.metadata or before.metadata)
        if self._form(now, has_vectors=False) is ResponseFormat.DELTA and form is ResponseFormat.PARQUET:
            raise unsupported(f"version {commit.version} can only be read in delta format; ask for that, or for fewer versions")
        return now

    def _about(self, action: Line, commit: CommitActions, declared: Declared, form: ResponseFormat) -> Line | None:
        """A new protocol or new metadata on the way, for those who asked for it."""
        if commit.version == self._span.first:
            return None
        state = state_of_action(action, "the log")
        if state.metadata is not None and self._span.metadata:
            return lines_of(form).metadata(Described(Declared(declared.protocol, state.metadata), commit.version, None))
        if state.protocol is not None and self._span.protocol and form is ResponseFormat.DELTA:
            return self._protocol(Described(Declared(state.protocol, declared.metadata), commit.version, None), form)
        return None

    def _protocol(self, described: Described, form: ResponseFormat) -> Line:
        """With its version where several may come, which in the parquet format are all the same."""
        line = lines_of(form).protocol(described)
        if not self._span.protocol or form is ResponseFormat.PARQUET:
            return line
        return {"protocol": {**line["protocol"], "version": described.version}}


def _parquet_line(kind: str, file: Line, signer: Signer, when: dict[str, int]) -> Line:
    if file.get("deletionVector"):
        raise unsupported("the changes have deletion vectors, which can only be read in delta format")
    (url,) = signer.urls([(file["path"], file["size"])])
    about: Line = {
        "url": url,
        "id": signer.file_id(file["path"]),
        "partitionValues": file.get("partitionValues") or {},
        "size": file["size"],
        **when,
        "expirationTimestamp": signer.expires_ms,
    }
    if kind == "add" and isinstance(file.get("stats"), str):
        about["stats"] = file["stats"]
    return {_KINDS[kind]: about}


def _delta_line(kind: str, file: Line, signer: Signer, when: dict[str, int]) -> Line:
    (url,) = signer.urls([(file["path"], file["size"])])
    action = {"path": url, **{name: file[name] for name in _KEPT if name in file}}
    action.setdefault("partitionValues", {})
    vector_file = None
    if isinstance(vector := file.get("deletionVector"), dict):
        action["deletionVector"] = with_url(vector, signer.url)
        vector_file = vector_path(vector)
    return delta_file({kind: action}, signer.file_id(file["path"]), signer, vector_file, **when)


def _with_size(file: Line, signer: Signer) -> Line:
    """Removes of old writers record no size, which every client needs."""
    if type(file.get("size")) is int:
        return file
    size = signer.storage.size(inside(file["path"], signer.storage.root))
    if size is None:
        raise unsupported("a removed file is gone, and the log does not record its size; ask for later versions")
    return {**file, "size": size}


def _version(
    history: History,
    version: str | None,
    timestamp: str | None,
    which: str,
    at: Callable[[History, int], int],
    default: int | None = None,
) -> int:
    if version is not None and timestamp is not None:
        raise invalid(f"{which}Version and {which}Timestamp were given; choose one of them")
    if timestamp is not None:
        return at(history, micros_of(timestamp, f"{which}Timestamp"))
    found = whole(version, f"{which}Version")
    if found is not None:
        return found
    if default is None:
        raise invalid("startingVersion or startingTimestamp is missing")
    return default


def _check_span(granted: Granted, first: int, last: int, newest: int) -> None:
    check_start(granted, first)
    if first > newest:
        raise invalid(f"the table has versions up to {newest}, and startingVersion is {first}")
    if last < first:
        raise invalid(f"the ending version {last} is before the starting version {first}")
    if last > newest:
        raise invalid(f"the table has versions up to {newest}, and endingVersion is {last}")


def _check_feed(call: Call, granted: Granted, history: History, first: int, last: int) -> None:
    """400 with the first version that has a change data feed, when some version of the span has none."""
    enabled, since = _is_on(call.tables.at(granted.table, first).declared), first
    was_on = enabled
    for version in range(first + 1, last + 1):
        commit = history.commit(version)
        if not commit.has("metaData"):
            continue
        for action in commit.actions():
            state = state_of_action(action, "the log")
            if state.metadata is not None:
                is_on = state.metadata.configuration.get(_FEED, "").lower() == "true"
                since, was_on, enabled = (version if is_on else since), was_on and is_on, is_on
    if was_on:
        return
    usable = f"it is recorded from version {since} on" if enabled else "it is not recorded"
    raise Refusal(400, "UNSUPPORTED_OPERATION", f"versions {first} to {last} have no change data feed throughout; {usable}")


def _is_on(declared: Declared) -> bool:
    return declared.metadata.configuration.get(_FEED, "").lower() == "true"
