"""How an object store is reached, as the user gives it: `AccessOptions` in Python, flags of the same names in the command.

The values of `storage_options` may be secrets: nothing here shows one, not even in a `repr`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypedDict

from msgspec import Struct

CACHE_SIZE = 2 << 30
CONCURRENCY = 64


class AccessOptions(TypedDict, total=False):
    storage_options: Mapping[str, str]
    env_creds: bool
    region: str
    profile: str
    public: bool
    cache_dir: str | os.PathLike[str]
    no_cache: bool
    cache_size: int
    concurrency: int
    progress: Callable[[int, int], None]  # called with the bytes that are here and the bytes wanted


class Access(Struct, frozen=True):
    """The same with its defaults."""

    storage_options: Mapping[str, Any] = MappingProxyType({})
    env_creds: bool = False
    region: str | None = None
    profile: str | None = None
    public: bool = False
    cache_dir: str | os.PathLike[str] | None = None
    no_cache: bool = False
    cache_size: int = CACHE_SIZE
    concurrency: int = CONCURRENCY  # requests under way at once, at most
    progress: Callable[[int, int], None] | None = None

    def __repr__(self) -> str:
        return f"Access({', '.join(sorted(self.storage_options))})"
