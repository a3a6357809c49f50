"""What Spark is doing, on one line of the terminal, while a command waits for it.

In: a session. Out: nothing but that line, which is wiped when the work is done. Silent when standard error is not a terminal.
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
    with _progress_of(spark) as line:
        watcher = Thread(target=_watch, args=(line, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _watch(line: Callable[[], str], done: Event) -> None:
    while not done.wait(_EVERY):
        sys.stderr.write(f"\r\x1b[K{line()}")
        sys.stderr.flush()


@contextmanager
def _progress_of(spark: Any) -> Iterator[Callable[[], str]]:
    """The line to show: by the driver's own tracker, or over Spark Connect by the messages of the server."""
    if hasattr(spark, "sparkContext"):
        tracker = spark.sparkContext.statusTracker()

        def running() -> list[tuple[int, int]]:
            infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            return [(info.numCompletedTasks, info.numTasks) for info in infos if info is not None]

        yield lambda: _line(running())
        return
    latest: list[tuple[int, int]] = []

    def note(stages: Any, inflight_tasks: int, operation_id: Any, done: Any) -> None:  # noqa: ARG001  # Spark's signature
        latest[:] = [] if done else [(s.num_completed_tasks, s.num_tasks) for s in stages or () if not s.done]

    spark.registerProgressHandler(note)
    try:
        yield lambda: _line(list(latest))
    finally:
        spark.removeProgressHandler(note)


def _line(stages: list[tuple[int, int]]) -> str:
    """The line for (finished, all) tasks of each running stage.

    >>> _line([(3, 8), (0, 2)]), _line([])
    ('Spark: 3 of 10 tasks', 'Spark: planning')
    """
    finished, total = (sum(column) for column in zip(*stages, strict=True)) if stages else (0, 0)
    return f"Spark: {finished} of {total} tasks" if total else "Spark: planning"
