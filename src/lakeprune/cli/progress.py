"""How far fetching has come, on one line of the terminal that is removed at the end. Only ever used when stderr is a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from lakeprune.report.amount import size_text

_WORTH_SHOWING = 0.5  # seconds: what is done sooner needs no progress


class TerminalProgress:
    """Called with the bytes that are here and the bytes wanted."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._started < _WORTH_SHOWING:
            return
        line = "" if done >= total else f"fetching metadata: {size_text(done)} of {size_text(total)} ({100 * done // total}%)"
        with suppress(OSError):
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()
