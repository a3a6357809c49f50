"""Where text goes: documents to stdout or a file, whole or not at all; messages to stderr.

A document is spooled before its first byte is written, so an error half-way through leaves stdout empty and an existing file
untouched. Large ones are spooled to disk.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO, TextIOWrapper
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
        # The reader has enough: not an error. Python would complain while closing stdout, so it gets another place to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise UsageError("LP217", "cannot write to stdout", why=error.strerror, fix="free space, or use --output FILE") from error


def show(document: Document, given: argparse.Namespace) -> None:
    """Deliver a document in the format and to the place that the flags name."""
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import View

    width = terminal_width() if given.output is None else None
    view = View(bool(getattr(given, "verbose", None)), getattr(given, "limit", None), width)
    deliver(rendered(document, given.format, view), given.output)


def tell(message: str) -> None:
    """A message on stderr: control characters as escapes, and whatever its encoding cannot show.

    Where nobody listens (stderr closed, a full disk) nothing is written: the exit code still counts.
    """
    if sys.stderr is None:
        return
    encoding = sys.stderr.encoding or "utf-8"
    safe = "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in message)
    with suppress(OSError):
        sys.stderr.write(safe.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def terminal_width() -> int | None:
    """The width of the terminal that stdout is, None when it is not one or should see no colours and blocks."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return None
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):  # something that calls itself a terminal, yet has no size
        return None


def _spooled(chunks: Iterable[str], encoding: str) -> IO[bytes]:
    """The document from its start, on disk once it is large."""
    spool: IO[bytes] = BytesIO()
    for chunk in chunks:
        spool.write(chunk.encode(encoding, "backslashreplace"))
        if isinstance(spool, BytesIO) and spool.tell() > _IN_MEMORY:
            import tempfile

            start, spool = spool, tempfile.TemporaryFile()  # noqa: SIM115  # the system removes it with its last reader
            spool.write(start.getbuffer())
    spool.seek(0)
    return spool


def _parts(spool: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: spool.read(_IN_MEMORY), b"")


def _to_stdout(spool: IO[bytes], encoding: str) -> None:
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # stdout was replaced by something that takes text only
        sys.stdout.writelines(TextIOWrapper(spool, encoding, newline=""))
        return
    sys.stdout.flush()
    binary.writelines(_parts(spool))
    binary.flush()


def _to_file(spool: IO[bytes], target: str) -> None:
    """Beside the target first, then renamed over it; a pipe or device is written to directly."""
    temporary = f"{target}.{os.getpid()}.part"
    is_special = os.path.exists(target) and not os.path.isfile(target)
    path = target if is_special else temporary
    try:
        with open(path, "wb") as file:
            file.writelines(_parts(spool))
        if not is_special:
            os.replace(temporary, target)
    except OSError as error:
        if not is_special and os.path.exists(temporary):
            os.unlink(temporary)
        raise UsageError(
            "LP217", f"cannot write {target}", where="--output", why=error.strerror, fix="name a writable file"
        ) from error
