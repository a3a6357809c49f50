"""Signing keys: what the server signs with, what it still accepts, and values sealed with them.

In: text with one `id:hex` per line. Out: a `KeyRing`; the first key signs, every key verifies, so that keys can be changed
without breaking URLs that are under way. Each purpose has a key of its own, derived from the ring's: a page token is never a URL.
Signatures are checked in constant time, and before anything of what they sign is parsed.
"""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import Struct

from lakeprune.errors import UsageError

T = TypeVar("T")

_LINE = re.compile(r"([A-Za-z0-9]{1,16}):([0-9a-fA-F]{64,256})")
FILES, PAGES, REFRESH = "files", "pages", "refresh"


class SigningKey(Struct, frozen=True):
    id: str
    secret: bytes

    def __repr__(self) -> str:
        return f"SigningKey({self.id})"


class KeyRing(Struct, frozen=True):
    keys: tuple[SigningKey, ...]

    def signature(self, purpose: str, message: str) -> tuple[str, str]:
        """The id of the key that signs, and the signature in hexadecimal."""
        key = self.keys[0]
        return key.id, _signature(key, purpose, message)

    def is_signed(self, purpose: str, message: str, key_id: str, signature: str) -> bool:
        key = next((key for key in self.keys if key.id == key_id), None)
        expected = _signature(key or self.keys[0], purpose, message)
        # Compared even when the key is not known: an answer takes the same time.
        is_same = hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))
        return is_same and key is not None

    def sealed(self, purpose: str, value: Struct) -> str:
        """A value as text that nobody can change: letters, digits, `-`, `_` and `.` only."""
        payload = urlsafe_b64encode(msgspec.json.encode(value)).decode().rstrip("=")
        key_id, signature = self.signature(purpose, payload)
        return f"{key_id}.{payload}.{signature}"

    def unsealed(self, purpose: str, text: str, kind: type[T]) -> T | None:
        """What was sealed for this purpose, None for anything else."""
        parts = text.split(".")
        if len(parts) != 3 or not self.is_signed(purpose, parts[1], parts[0], parts[2]):
            return None
        return decoded(parts[1], kind)


def decoded(payload: str, kind: type[T]) -> T | None:
    """A payload whose signature was checked."""
    try:
        return msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=kind)
    except ValueError:
        return None  # sealed by an older version, in another shape


def new_key() -> str:
    """A line for a key ring."""
    return f"{secrets.token_hex(4)}:{secrets.token_hex(32)}"


def key_ring(text: str) -> KeyRing:
    """The keys of a text; LP282 when a line is not a key."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = [_LINE.fullmatch(line) for line in lines]
    ids = [match[1] for match in found if match]
    if not lines or None in found or len(set(ids)) < len(ids):
        fix = "`lakeprune share key add --config shares.yaml` writes one"
        why = "a line is `id:hex` with 32 bytes or more in hexadecimal, and no id is there twice"
        raise UsageError("LP282", "the signing keys cannot be used", why=why, fix=fix)
    return KeyRing(tuple(SigningKey(match[1], bytes.fromhex(match[2])) for match in found if match))


def _signature(key: SigningKey, purpose: str, message: str) -> str:
    return hmac.digest(_derived(key.secret, purpose), f"{key.id}\n{message}".encode(), "sha256").hex()


@lru_cache(maxsize=64)
def _derived(secret: bytes, purpose: str) -> bytes:
    return hmac.digest(secret, f"lakeprune sharing: {purpose}".encode(), "sha256")
