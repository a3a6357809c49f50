"""What Spark is doing, on one line of the terminal, while a command waits for it.

In: a session. Out: nothing but that line, which is wiped when the work is done. Silent when standard error is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

_EVERY = 0.5  # seconds


@contextmanager
def shown_progress(spark: Any) -> Iterator[None]:
    """Tasks done and to do of the running stages, as long as the block lasts."""
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    with _told_by(spark) as tell:
        watcher = Thread(target=_watch, args=(tell, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _watch(tell: Callable[[], str], done: Event) -> None:
    while not done.wait(_EVERY):
        sys.stderr.write(f"\r\x1b[K{tell()}")
        sys.stderr.flush()


@contextmanager
def _told_by(spark: Any) -> Iterator[Callable[[], str]]:
    """What says how far Spark is: the driver's own tracker, or over Spark Connect the messages of the server."""
    if hasattr(spark, "sparkContext"):
        tracker = spark.sparkContext.statusTracker()

        def running() -> list[tuple[int, int]]:
            infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            return [(info.numCompletedTasks, info.numTasks) for info in infos if info is not None]

        yield lambda: _line(running())
        return
    latest: list[tuple[int, int]] = []

    def hear(stages: Any, inflight_tasks: int, operation_id: Any, done: Any) -> None:  # noqa: ARG001  # Spark's signature
        latest[:] = [] if done else [(s.num_completed_tasks, s.num_tasks) for s in stages or () if not s.done]

    spark.registerProgressHandler(hear)
    try:
        yield lambda: _line(list(latest))
    finally:
        spark.removeProgressHandler(hear)


def _line(stages: list[tuple[int, int]]) -> str:
    """The line for (finished, all) tasks of each running stage.

    >>> _line([(3, 8), (0, 2)]), _line([])
    ('Spark: 3 of 10 tasks', 'Spark: planning')
    """
    finished, total = (sum(column) for column in zip(*stages, strict=True)) if stages else (0, 0)
    return f"Spark: {finished} of {total} tasks" if total else "Spark: planning"
