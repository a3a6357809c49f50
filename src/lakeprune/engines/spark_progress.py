"""What Spark is doing, on one line of the terminal, while a command waits for it.

In: a session. Out: nothing but that line, which is wiped when the work is done. Silent when standard error is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

_EVERY = 0.5  # seconds


@contextmanager
def shown_progress(spark: Any) -> Iterator[None]:
    """Tasks done and to do of the running stages, as long as the block lasts; over Spark Connect what its server tells."""
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    watcher = Thread(target=_watch, args=(_teller(spark), done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _watch(tell: Any, done: Event) -> None:
    while not done.wait(_EVERY):
        sys.stderr.write(f"\r\x1b[K{tell()}")
        sys.stderr.flush()


def _teller(spark: Any) -> Any:
    if not hasattr(spark, "sparkContext"):
        return lambda: "Spark Connect: waiting for the server"
    tracker = spark.sparkContext.statusTracker()

    def told() -> str:
        infos = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage)) is not None]
        finished, total = sum(info.numCompletedTasks for info in infos), sum(info.numTasks for info in infos)
        return f"Spark: {finished} of {total} tasks" if total else "Spark: planning"

    return told
