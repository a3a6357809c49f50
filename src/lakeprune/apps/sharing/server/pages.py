"""Page tokens and refresh tokens: sealed, and bound to everything that they must not be used without.

In: a request. Out: the version and position that a token stands for, or 400. A token is good for one recipient, one table, one
request and a limited time; nobody can make one that names an older version.
"""

from __future__ import annotations

import time
from hashlib import sha256

import msgspec
from msgspec import Struct

from lakeprune.apps.sharing.server.call import Call
from lakeprune.apps.sharing.server.failures import invalid
from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.keys import PAGES, REFRESH

LIFETIME = 6 * 3600


class PageToken(Struct, frozen=True, tag="files"):
    recipient: str
    table: str
    digest: str  # of the request
    version: int
    position: int
    expires: int
    last_version: int | None = None  # of changes
    described: int | None = None  # of changes: the version whose metadata every page repeats


class RefreshToken(Struct, frozen=True, tag="refresh"):
    recipient: str
    table: str
    where: str
    version: int
    expires: int


def digest_of(*parts: object) -> str:
    """What must be the same in the requests for all pages."""
    return sha256(msgspec.json.encode(parts)).hexdigest()[:32]


class Pinned(Struct, frozen=True):
    """What the following page begins with, and what it stays at."""

    version: int
    position: int
    last_version: int | None = None
    described: int | None = None


def next_page(call: Call, granted: Granted, digest: str, at: Pinned) -> str:
    bound = (call.recipient.name, granted.table.id, f"{digest}{granted.where_digest}")
    token = PageToken(*bound, at.version, at.position, int(time.time()) + LIFETIME, at.last_version, at.described)
    return call.setup.config.keys.sealed(PAGES, token)


def page_of(call: Call, granted: Granted, digest: str, text: str) -> PageToken:
    """What a page token stands for; 400 when it is not of this request."""
    token = call.setup.config.keys.unsealed(PAGES, text, PageToken)
    expected = (call.recipient.name, granted.table.id, f"{digest}{granted.where_digest}")
    if token is None or (token.recipient, token.table, token.digest) != expected or token.expires < time.time():
        raise invalid("pageToken is not one that this request was given, or it is too old; ask again for the first page")
    return token


def refresh_token(call: Call, granted: Granted, version: int) -> str:
    where = granted.where_digest
    token = RefreshToken(call.recipient.name, granted.table.id, where, version, int(time.time()) + LIFETIME)
    return call.setup.config.keys.sealed(REFRESH, token)


def refreshed_version(call: Call, granted: Granted, text: str) -> int:
    """The version that a refresh token pins; history need not be shared for it."""
    token = call.setup.config.keys.unsealed(REFRESH, text, RefreshToken)
    expected = (call.recipient.name, granted.table.id, granted.where_digest)
    if token is None or (token.recipient, token.table, token.where) != expected or token.expires < time.time():
        raise invalid("refreshToken is not one that this table gave you, or it is too old; ask again without it")
    return token.version
