"""An object as a file that can be read from anywhere: every read is a range request.

In: a client, a name, the size that the table records. Out: bytes. Nothing is cached here: whoever reads Parquet asks for what
it needs.
"""

from __future__ import annotations

import io
import os

from lakeprune.storage.object.client import ObjectClient


class RangeFile(io.RawIOBase):
    def __init__(self, client: ObjectClient, path: str, size: int) -> None:
        super().__init__()
        self._client, self._path, self._size, self._at = client, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        return self._size

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        if end <= self._at:
            return b""
        found = self._client.read_data(self._path, self._at, end)
        self._at += len(found)
        return found

    def readall(self) -> bytes:
        return self.read()
