"""Where text goes: documents to stdout or a file, whole or not at all; messages to stderr.

A document is spooled before its first byte is written, so an error half-way through leaves stdout empty and an existing file
untouched. Large ones are spooled to disk.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from typing import IO, TYPE_CHECKING

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from lakeprune.report.document import Document

_IN_MEMORY = 1 << 20  # bytes of a document that are spooled without a file
BESIDE = (  # files beside the document: option, flag, format
    ("metrics_file", "--metrics-file", "openmetrics"),
    ("scan_report", "--scan-report", "scan-report"),
)
_WORTH_SHOWING = 0.5  # seconds of fetching: what is done sooner needs no progress


def deliver(chunks: Iterable[str], target: str | None) -> None:
    """Write a whole document to `target`, or to stdout."""
    spooled(chunks, target)()


def spooled(chunks: Iterable[str], target: str | None, flag: str = "--output") -> Callable[[], None]:
    """The document made now, to be written when this is called: after whatever shows its progress has left the terminal."""
    if target is None and sys.stdout is None:
        raise UsageError("LP217", "stdout is closed", fix="use --output FILE")
    encoding = (sys.stdout.encoding or "utf-8") if target is None else "utf-8"
    spool = _spool(chunks, encoding)
    return lambda: _to_stdout(spool, encoding) if target is None else to_file(spool, target, flag)


def shown(document: Document, given: argparse.Namespace) -> Callable[[], None]:
    """A document made now in the format that the flags name, to be delivered to the place that they name.

    Files beside it come first: when one of them cannot be written, stdout stays empty.
    """
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import WHOLE, View

    width = terminal_width() if given.output is None else None
    which = next((name for name in ("kept", "dropped") if getattr(given, name, None)), "all")
    sort, file = getattr(given, "sort", None) or "path", getattr(given, "file", None)
    view = View(is_listed(given), getattr(given, "limit", None), width, which, sort, file)
    beside = [(form, path, flag) for name, flag, form in BESIDE if (path := getattr(given, name, None)) is not None]
    _check_apart([*(path for _, path, _ in beside), given.output], beside[0][2] if beside else "")
    steps = [spooled(rendered(document, form, WHOLE), path, flag) for form, path, flag in beside]
    steps.append(spooled(rendered(document, given.format, view), given.output))

    def deliver_all() -> None:
        for step in steps:
            step()

    return deliver_all


def is_listed(given: argparse.Namespace) -> bool:
    """Whether the flags ask for a list of files."""
    return any(getattr(given, name, None) for name in ("verbose", "kept", "dropped", "file"))


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


class TerminalProgress:
    """How far fetching has come, on one line of the terminal that stderr is; the line is removed at the end."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """With the bytes that are here and the bytes wanted."""
        if time.monotonic() - self._started < _WORTH_SHOWING:
            return
        from lakeprune.report.amount import size_text

        line = "" if done >= total else f"fetching metadata: {size_text(done)} of {size_text(total)} ({100 * done // total}%)"
        with suppress(OSError):
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()


class FooterProgress:
    """How many footers will be read, up front; then how far that has come, where stderr is a terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if done == 0:
            tell(f"reading {total} {'footer' if total == 1 else 'footers'}")
        elif self._is_terminal:
            with suppress(OSError):
                line = "" if done >= total else f"read {done} of {total} footers ({100 * done // total}%)"
                sys.stderr.write(f"\r\033[K{line}")
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


def _spool(chunks: Iterable[str], encoding: str) -> IO[bytes]:
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
    try:
        if binary is None:  # stdout was replaced by something that takes text only
            sys.stdout.writelines(TextIOWrapper(spool, encoding, newline=""))
            return
        sys.stdout.flush()
        binary.writelines(_parts(spool))
        binary.flush()
    except BrokenPipeError:
        # The reader has enough: not an error. Python would complain while closing stdout, so it gets another place to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise UsageError("LP217", "cannot write to stdout", why=error.strerror, fix="free space, or use --output FILE") from error


def _check_apart(targets: list[str | None], flag: str) -> None:
    """The last of two documents in one file would replace the first."""
    places = [os.path.realpath(target) for target in targets if target is not None and not _is_special(target)]
    if len(set(places)) < len(places):
        raise UsageError("LP217", "two documents would be written to one file", where=flag, fix="name a file for each")


def _is_special(target: str) -> bool:
    """Whether it is a pipe or a device."""
    return os.path.exists(target) and not os.path.isfile(target)


def _own_descriptor(target: str) -> int | None:
    """Standard output or error, where the target is that: /dev/stdout may lead to a file, and must not be renamed over."""
    for own in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.stat(target), os.fstat(own)):
                return own
    return None


def to_file(spool: IO[bytes], target: str, flag: str) -> None:
    """Beside the target first, then renamed over it, where links lead; pipes, devices and our own stdout are written directly."""
    real = os.path.realpath(target)
    temporary = f"{real}.{os.getpid()}.part"
    own = _own_descriptor(target)
    is_special = own is not None or _is_special(target)
    try:
        with open(os.dup(own) if own is not None else target if is_special else temporary, "wb") as file:
            file.writelines(_parts(spool))
        if not is_special:
            os.replace(temporary, real)
    except OSError as error:
        if not is_special and os.path.exists(temporary):
            os.unlink(temporary)
        raise UsageError("LP217", f"cannot write {target}", where=flag, why=error.strerror, fix="name a writable file") from error
