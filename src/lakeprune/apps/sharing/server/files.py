"""E12: the bytes behind our own URLs.

In: the token, expiry, key id and signature of a URL. Out: the file, whole or one range of it. The signature is checked before
anything is parsed; then whether the recipient still has its token, the table, and the same restriction; then the path.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from starlette.responses import Response

from lakeprune.apps.sharing.server.answers import SAFE_HEADERS, Streamed
from lakeprune.apps.sharing.server.call import Setup
from lakeprune.apps.sharing.server.failures import FORBIDDEN, INTERNAL, NOT_FOUND, Refusal
from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.keys import FILES, decoded
from lakeprune.apps.sharing.server.paths import UnsafePath, inside, open_inside
from lakeprune.apps.sharing.server.ranges import NoSuchRange, range_of
from lakeprune.apps.sharing.server.urls import FileToken, signed_message
from lakeprune.apps.sharing.server.visit import Visit
from lakeprune.errors import LakepruneError
from lakeprune.storage.storage import Storage, open_storage

_CHUNK = 1 << 20
_MEDIA = "application/octet-stream"


class Forged(Refusal):
    """The URL has no signature of this server."""

    def __init__(self) -> None:
        super().__init__(403, FORBIDDEN, "the URL is not one that this server signed")


class CheckedFile(Struct, frozen=True):
    """What a URL stands for, and the right to have it."""

    token: FileToken
    granted: Granted


def file_answer(visit: Visit, file: CheckedFile, range_header: str | None) -> Response:
    """The file that a signed URL stands for."""
    token, granted = file.token, file.granted
    location = granted.table.location
    if "://" in location and not location.startswith("file:"):
        size, read, close = _remote(granted, token)
    else:
        size, read, close = _local(location, token)
    try:
        wanted = range_of(range_header, size)
    except NoSuchRange:
        close()
        return Response(b"", 416, {**SAFE_HEADERS, "Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"}, _MEDIA)
    start, end = wanted or (0, size)
    headers = {"Accept-Ranges": "bytes", "Content-Length": str(end - start)}
    if wanted is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if visit.method == "HEAD":  # nothing is read for it
        close()
        return Response(b"", 200 if wanted is None else 206, {**SAFE_HEADERS, **headers}, _MEDIA)
    chunks = _chunks(read, start, end, close)
    return Streamed(chunks, visit, status=200 if wanted is None else 206, headers=headers, media=_MEDIA)


def checked_file(setup: Setup, visit: Visit, payload: str, query: Mapping[str, str]) -> CheckedFile:
    """The file of a URL; 403 when its recipient has no right to it, or not any more."""
    expires, key, signature = (query.get(name, "") for name in ("se", "kid", "sig"))
    if not setup.config.keys.is_signed(FILES, signed_message(payload, expires), key, signature):
        raise Forged
    if int(expires) < time.time():
        raise _forbidden("the URL has expired; ask for the files again")
    token = decoded(payload, FileToken)
    if token is None:
        raise _forbidden("the URL is of an older server; ask for the files again")
    issued = setup.tokens.active(token.issued)
    recipient = None if issued is None else setup.grants.recipient(issued.recipient)
    if issued is None or recipient is None:
        raise _forbidden("the token that this URL was made with is not valid any more")
    visit.recipient = issued.recipient
    try:
        granted = setup.grants.table(recipient, token.table)
    except Refusal:
        raise _forbidden("the table of this URL is not shared with you any more") from None
    if granted.where_digest != token.where:
        raise _forbidden("what you may see of this table has changed; ask for the files again")
    visit.table, visit.version = token.table, token.version
    return CheckedFile(token, granted)


def _forbidden(message: str) -> Refusal:
    return Refusal(403, FORBIDDEN, message)


Read = Callable[[int, int], bytes]


def _local(location: str, token: FileToken) -> tuple[int, Read, Callable[[], None]]:
    root = open_storage(location, {}).root
    try:
        handle = open_inside(root, inside_again(token.path))
    except UnsafePath as error:
        raise Refusal(404, NOT_FOUND, "the file is gone", log=str(error)) from error
    except OSError as error:
        raise Refusal(404, NOT_FOUND, "the file is gone; ask for the files again", log=f"{error.strerror}") from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or (token.size is not None and about.st_size != token.size):
        os.close(handle)
        raise Refusal(500, INTERNAL, "", log=f"{token.table}: a file is not as the log records it")
    return about.st_size, lambda start, end: os.pread(handle, end - start, start), lambda: os.close(handle)


def _remote(granted: Granted, token: FileToken) -> tuple[int, Read, Callable[[], None]]:
    storage: Storage = open_storage(granted.table.location, granted.table.access)
    path = inside_again(token.path)
    try:
        size = token.size if token.size is not None else storage.size(path)
    except LakepruneError as error:
        raise Refusal(500, INTERNAL, "", log=str(error)) from error
    if size is None:
        raise Refusal(404, NOT_FOUND, "the file is gone; ask for the files again")
    return size, lambda start, end: storage.read_range(path, size, start, end), storage.close


def inside_again(path: str) -> str:
    """The path of a token, checked once more: it is not encoded any more, so a percent sign is a percent sign."""
    return inside(path.replace("%", "%25"), "\0")


def _chunks(read: Read, start: int, end: int, close: Callable[[], None]) -> Iterator[bytes]:
    try:
        while start < end:
            part = read(start, min(end, start + _CHUNK))
            if not part:
                raise Refusal(500, INTERNAL, "", log="a file became shorter while it was sent")
            start += len(part)
            yield part
    finally:
        close()
