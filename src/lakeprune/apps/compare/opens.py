"""Which files of this machine are opened, by whatever process: Linux' inotify, without a library.

In: files. Out: those that were opened while somebody watched. The kernel tells; engines are not asked. A queue that overflowed
is an error, never a smaller number.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Collection
from types import TracebackType
from typing import Self

from lakeprune.errors import UsageError

_OPENED, _IS_DIRECTORY, _OVERFLOW = 0x20, 0x40000000, 0x4000
_HEADER = struct.Struct("iIII")


class Opens:
    """Watches from `with` on; `so_far` gives what was opened since."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = frozenset(map(os.path.realpath, files))
        self._folders: dict[int, str] = {}
        self._queue = -1

    def __enter__(self) -> Self:
        libc = ctypes.CDLL(None, use_errno=True)
        if not sys.platform.startswith("linux") or not hasattr(libc, "inotify_init1"):
            raise _cannot("files are watched through Linux' inotify, which is not here", "run it on Linux")
        self._queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for folder in sorted({os.path.dirname(file) for file in self._files}):
            watch = libc.inotify_add_watch(self._queue, os.fsencode(folder), _OPENED)
            if watch < 0:
                self._close()
                raise _cannot(f"{folder}: {os.strerror(ctypes.get_errno())}", "raise fs.inotify.max_user_watches")
            self._folders[watch] = folder
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close()

    def so_far(self) -> set[str]:
        """The files that were opened since the last call."""
        found: set[str] = set()
        while True:
            try:
                events = os.read(self._queue, 1 << 16)
            except BlockingIOError:
                return found
            at = 0
            while at < len(events):
                watch, mask, _, length = _HEADER.unpack_from(events, at)
                name = events[at + _HEADER.size : at + _HEADER.size + length].rstrip(b"\0")
                at += _HEADER.size + length
                if mask & _OVERFLOW:
                    raise _cannot("more files were opened than the kernel remembers", "raise fs.inotify.max_queued_events")
                path = os.path.join(self._folders[watch], os.fsdecode(name))
                if not mask & _IS_DIRECTORY and path in self._files:
                    found.add(path)

    def _close(self) -> None:
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1


def _cannot(why: str, fix: str) -> UsageError:
    return UsageError("LP291", "what engines open cannot be watched", why=why, fix=fix)
