"""Where words go: documents to stdout or a file, whole or not at all; messages to stderr.

A document is spooled before its first byte is written, so an error half-way through leaves stdout empty and an existing file
untouched. Large ones are spooled to disk, never held in memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from lakeprune.report.document import Document

_IN_MEMORY = 1 << 20  # bytes of a document that are spooled without a file


def deliver(chunks: Iterable[str], target: str | None) -> None:
    """Write a whole document to `target`, or to stdout."""
    if target is None and sys.stdout is None:
        raise UsageError("LP217", "stdout is closed", fix="use --output FILE")
    encoding = (sys.stdout.encoding or "utf-8") if target is None else "utf-8"
    spool = _spooled(chunks, encoding)
    if target is not None:
        _to_file(spool, target)
        return
    try:
        _to_stdout(spool, encoding)
    except BrokenPipeError:
        # The reader has enough, which is no error. Python would complain while closing stdout, so it gets another place to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise UsageError("LP217", "cannot write to stdout", why=error.strerror, fix="free space, or use --output FILE") from error


def show(document: Document, given: argparse.Namespace) -> None:
    """Deliver a document in the format and to the place that the flags name."""
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import View

    width = terminal_width() if given.output is None else None
    view = View(getattr(given, "verbose", False), getattr(given, "limit", None), width)
    deliver(rendered(document, given.format, view), given.output)


def tell(message: str) -> None:
    """A message on stderr: control characters as escapes, and whatever its encoding cannot show.

    Where nobody listens (stderr closed, a full disk) nothing is said: the exit code must still tell the truth.
    """
    if sys.stderr is None:
        return
    encoding = sys.stderr.encoding or "utf-8"
    safe = "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in message)
    with suppress(OSError):
        sys.stderr.write(safe.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def terminal_width() -> int | None:
    """The width of the terminal that stdout is, None when it is none or should see no colours and blocks."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return None
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):  # something that says it is a terminal, yet has no size
        return None


class _Spool:
    """Bytes in memory, on disk once there are many."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.file: IO[bytes] | None = None

    def write(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)
        if self.size > _IN_MEMORY:
            self._flush()

    def _flush(self) -> None:
        if self.file is None:
            import tempfile

            self.file = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the spool, then the system removes it
        self.file.write(b"".join(self.parts))
        self.parts, self.size = [], 0

    def read(self) -> Iterable[bytes]:
        if self.file is not None:
            self._flush()
            self.file.seek(0)
            while part := self.file.read(_IN_MEMORY):
                yield part
        yield b"".join(self.parts)


def _spooled(chunks: Iterable[str], encoding: str) -> _Spool:
    spool = _Spool()
    for chunk in chunks:
        spool.write(chunk.encode(encoding, "backslashreplace"))
    return spool


def _to_stdout(spool: _Spool, encoding: str) -> None:
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # stdout was replaced by something that takes text only
        sys.stdout.writelines(part.decode(encoding) for part in spool.read())
        return
    sys.stdout.flush()
    binary.writelines(spool.read())
    binary.flush()


def _to_file(spool: _Spool, target: str) -> None:
    """Beside the target first, then renamed over it; a pipe or device is written to directly."""
    temporary = f"{target}.{os.getpid()}.part"
    is_special = os.path.exists(target) and not os.path.isfile(target)
    path = target if is_special else temporary
    try:
        with open(path, "wb") as file:
            file.writelines(spool.read())
        if not is_special:
            os.replace(temporary, target)
    except OSError as error:
        if not is_special and os.path.exists(temporary):
            os.unlink(temporary)
        raise UsageError(
            "LP217", f"cannot write {target}", where="--output", why=error.strerror, fix="name a writable file"
        ) from error
