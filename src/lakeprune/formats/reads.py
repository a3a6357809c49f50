"""What was read of a table's metadata at one level: how many files, how many bytes, and how long that took."""

from __future__ import annotations

from msgspec import Struct


class Reads(Struct, frozen=True):
    """Counts of this process; bytes are those of the files, wherever they lie."""

    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def __add__(self, other: Reads) -> Reads:
        return Reads(self.requests + other.requests, self.bytes + other.bytes, self.seconds + other.seconds)
