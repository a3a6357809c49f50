"""Tokens of recipients: issued once, kept as hashes only.

In: the file of tokens. Out: which recipient a token belongs to. The file is looked at before every answer, so that a revoked
token is refused at once, also for URLs that were issued with it. Written whole or not at all, readable by its owner alone.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import UsageError

TOKEN_BYTES = 48  # 384 random bits


class Issued(Struct, frozen=True):
    """A token that a recipient has, without the token."""

    id: str
    recipient: str
    sha256: str
    created: int  # seconds since the epoch
    expires: int | None = None
    revoked: int | None = None

    def is_active(self, now: float) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


class TokensFile(Struct, frozen=True, forbid_unknown_fields=True):
    tokens: tuple[Issued, ...] = ()


def hash_of(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token(recipient: str, lifetime: int | None) -> tuple[str, Issued]:
    """A token, and what is kept of it."""
    token, now = secrets.token_urlsafe(TOKEN_BYTES), int(time.time())
    return token, Issued(secrets.token_hex(6), recipient, hash_of(token), now, None if lifetime is None else now + lifetime)


class TokenBook:
    """Every token of a file, and those of this process alone."""

    def __init__(self, path: str | None, known: tuple[Issued, ...] = ()) -> None:
        self._path = path
        self._lock = Lock()
        self._stamp: tuple[int, ...] | None = None
        self._known = known
        self._fill(())
        self.refresh()

    def refresh(self) -> None:
        """Look whether the file has changed."""
        if self._path is None:
            return
        try:
            stat = os.stat(self._path)
            stamp: tuple[int, ...] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        except FileNotFoundError:
            stamp = ()
        with self._lock:
            if stamp != self._stamp:
                self._fill(read_tokens(self._path).tokens)
                self._stamp = stamp

    def holder(self, token: str) -> Issued | None:
        """The active token that this is."""
        self.refresh()
        digest = hash_of(token)
        found = self._by_hash.get(digest)
        if found is None or not hmac.compare_digest(found.sha256, digest) or not found.is_active(time.time()):
            return None
        return found

    def active(self, token_id: str) -> Issued | None:
        """The token with this id, while it is active."""
        self.refresh()
        found = self._by_id.get(token_id)
        return found if found is not None and found.is_active(time.time()) else None

    @property
    def is_empty(self) -> bool:
        return not self._by_id

    def _fill(self, tokens: tuple[Issued, ...]) -> None:
        self._by_hash = {each.sha256: each for each in (*self._known, *tokens)}
        self._by_id = {each.id: each for each in self._by_hash.values()}


def read_tokens(path: str) -> TokensFile:
    """What a file of tokens holds; nothing when there is none."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=TokensFile)
    except FileNotFoundError:
        return TokensFile()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        fix = "restore it from a copy; without it no recipient has a token"
        raise UsageError("LP295", "the file of tokens cannot be read", where=path, why=why, fix=fix) from error


def add_token(path: str, issued: Issued) -> None:
    with _changing(path) as tokens:
        tokens.append(issued)


def revoke_tokens(path: str, recipient: str, token_id: str | None) -> int:
    """Revoke one token of a recipient, or all; how many were active."""
    now, count = int(time.time()), 0
    with _changing(path) as tokens:
        for index, each in enumerate(tokens):
            if each.recipient == recipient and each.revoked is None and token_id in (None, each.id):
                tokens[index] = replace(each, revoked=now)
                count += 1
    return count


@contextmanager
def _changing(path: str) -> Iterator[list[Issued]]:
    """The tokens, written back at the end; two commands at once wait for each other."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with open(f"{path}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = list(read_tokens(path).tokens)
            yield tokens
            handle, draft = tempfile.mkstemp(dir=folder, prefix=".tokens-")
            with os.fdopen(handle, "wb") as file:  # mkstemp makes it readable by its owner alone
                file.write(msgspec.json.format(msgspec.json.encode(TokensFile(tuple(tokens))), indent=2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
    except OSError as error:
        fix = "check the folder's permissions"
        raise UsageError("LP295", "the file of tokens cannot be written", where=path, why=error.strerror, fix=fix) from error
