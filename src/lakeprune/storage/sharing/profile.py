"""Which shared table is meant, and the profile that lets it be read.

In: `profile.share#share.schema.table`. Out: the endpoint, the token and the three names. The token is in no message and no repr.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec import Struct

from lakeprune.errors import TableError

_SHARED = re.compile(r"(?s)(?P<profile>.+)#(?P<share>[^#/\s]+)\.(?P<schema>[^#./\s]+)\.(?P<table>[^#./\s]+)")
_LARGEST = 1 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Profile(Struct, frozen=True):
    endpoint: str
    token: str

    def __repr__(self) -> str:
        return f"Profile(endpoint={self.endpoint!r}, token=...)"


class SharedName(Struct, frozen=True):
    """A table as clients of Delta Sharing write it."""

    profile: str
    share: str
    schema: str
    table: str

    @property
    def path(self) -> str:
        from urllib.parse import quote

        share, schema, table = (quote(part, safe="") for part in (self.share, self.schema, self.table))
        return f"/shares/{share}/schemas/{schema}/tables/{table}"


def is_shared(location: str) -> bool:
    """Whether a location names a shared table: a profile that is a file here, and three names.

    >>> is_shared("./orders"), is_shared("nosuch.share#a.b.c")
    (False, False)
    """
    found = _SHARED.fullmatch(location)
    return found is not None and os.path.isfile(os.path.expanduser(found["profile"]))


def shared_name(location: str) -> SharedName:
    found = _SHARED.fullmatch(location) if isinstance(location, str) else None
    if found is None:
        fix = "write it as profile.share#share.schema.table"
        raise TableError("LP391", "this does not name a shared table", where=str(location), fix=fix)
    return SharedName(**found.groupdict())


def read_profile(path: str) -> Profile:
    """The profile in a file; LP391 when it cannot be used."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            content = json.loads(file.read(_LARGEST))
        version, endpoint, token = content["shareCredentialsVersion"], content["endpoint"], content["bearerToken"]
    except OSError as error:
        raise TableError("LP391", f"the profile cannot be read: {error.strerror}", where=path) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        why = "a profile is JSON with shareCredentialsVersion, endpoint and bearerToken; other kinds of login are not read"
        raise TableError("LP391", "the profile is not one that can be used", where=path, why=why) from error
    if version != 1 or not isinstance(endpoint, str) or not isinstance(token, str) or not token or not token.isprintable():
        raise TableError(
            "LP391", "the profile is not one that can be used", where=path, why="version 1 has an endpoint and a token"
        )
    check_url(endpoint, path)
    _check_time(content.get("expirationTime"), path)
    return Profile(endpoint.rstrip("/"), token)


def check_url(url: str, where: str) -> None:
    """LP396 for a URL that would send a token or data without encryption to another machine."""
    parts = urlsplit(url)
    if (parts.scheme == "https" and parts.hostname) or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    why = "a token or a file would travel without encryption"
    raise TableError("LP396", "only https is read, and http of this machine", where=where, why=why)


def _check_time(expires: object, path: str) -> None:
    if not isinstance(expires, str) or not expires:
        return
    try:
        moment = datetime.fromisoformat(expires)
    except ValueError:
        return  # advisory: the server knows
    if (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) < datetime.now(UTC):
        fix = "ask the provider for a new profile"
        raise TableError("LP391", f"the profile expired at {expires}", where=path, fix=fix)
