"""URLs of files: our own, signed and bound to recipient, token, table and version; or the object store's.

In: paths as the log records them. Out: URLs and when they end. `sp=r` makes readers built on delta-kernel-rs take the URL for a
signed one; the path is inside an opaque token, because clients percent-encode paths in different ways.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.keys import FILES, KeyRing
from lakeprune.apps.sharing.server.paths import inside
from lakeprune.storage.storage import Storage

_encode = msgspec.json.Encoder().encode


class FileToken(Struct, frozen=True, array_like=True):
    """What a URL of ours stands for."""

    issued: str  # the id of the recipient's token
    table: str  # share.schema.table
    where: str  # digest of the restriction
    version: int
    path: str  # below the table's root
    size: int | None  # None for what the log records no size of


class Signer(Struct, frozen=True):
    """Makes the URLs of one answer."""

    keys: KeyRing
    endpoint: str
    issued: str
    granted: Granted
    table_id: str
    version: int
    storage: Storage
    expires: int  # seconds since the epoch

    @property
    def expires_ms(self) -> int:
        return self.expires * 1000

    def urls(self, files: Sequence[tuple[str, int | None]]) -> list[str]:
        """A URL for each recorded path with its size. UnsafePath for a file that is not inside the table."""
        paths = [inside(path, self.storage.root) for path, _ in files]
        if not self.granted.table.proxy:
            signed = self.storage.signed_urls(paths, max(1, self.expires - int(time.time())))
            if signed is not None:
                return signed
        own = self._own()
        return [own(path, size) for path, (_, size) in zip(paths, files, strict=True)]

    def url(self, path: str) -> str:
        (found,) = self.urls([(path, None)])
        return found

    def file_id(self, path: str) -> str:
        """The same for a file in every answer, whatever its URL."""
        return sha256(f"{self.table_id}\n{path}".encode()).hexdigest()[:32]

    def _own(self) -> Callable[[str, int | None], str]:
        """Makes URLs of ours; what is the same in all of them is looked up once, for listings have many."""
        table, where, expires = self.granted.table.full_name, self.granted.where_digest, str(self.expires)
        start, signature = f"{self.endpoint}/files/", self.keys.signature

        def url(path: str, size: int | None) -> str:
            token = FileToken(self.issued, table, where, self.version, path, size)
            payload = urlsafe_b64encode(_encode(token)).decode().rstrip("=")
            key, signed = signature(FILES, signed_message(payload, expires))
            return f"{start}{payload}?sp=r&se={expires}&kid={key}&sig={signed}"

        return url


def signed_message(payload: str, expires: str) -> str:
    return f"{payload}\n{expires}"
