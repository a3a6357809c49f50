"""How much one recipient may ask for, and how often one address may fail to log in.

In: who asks. Out: nothing, or 429 with the seconds to wait. Buckets of tokens: a burst is fine, a flood is not. The number of
addresses that are remembered is limited.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from threading import Lock

from lakeprune.apps.sharing.server.failures import too_many

MOST_REMEMBERED = 10_000


class Buckets:
    """One bucket per key, filled at `rate` per second up to `size`."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._size = size
        self._clock = clock
        self._lock = Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level, and when it was that

    def take(self, key: str) -> None:
        """Take one, or 429."""
        with self._lock:
            now = self._clock()
            level = self._level(key, now)
            if level < 1:
                raise too_many(max(1, ceil((1 - level) / self._rate)))
            self._put(key, level - 1, now)

    def check(self, key: str) -> None:
        """429 when none is left; nothing is taken."""
        with self._lock:
            level = self._level(key, self._clock())
        if level < 1:
            raise too_many(max(1, ceil((1 - level) / self._rate)))

    def spend(self, key: str) -> None:
        """Take one, whether one is left or not."""
        with self._lock:
            now = self._clock()
            self._put(key, max(0.0, self._level(key, now) - 1), now)

    def _level(self, key: str, now: float) -> float:
        level, then = self._levels.get(key, (self._size, now))
        return min(self._size, level + (now - then) * self._rate)

    def _put(self, key: str, level: float, now: float) -> None:
        self._levels[key] = (level, now)
        self._levels.move_to_end(key)
        while len(self._levels) > MOST_REMEMBERED:
            self._levels.popitem(last=False)


class Places:
    """Answers that are under way at once. One recipient has three of four places at most: others find one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    def check(self, recipient: str = "") -> None:
        """429 when there is no place, or none for this recipient."""
        if self._taken.total() >= self._most or self._taken[recipient] >= max(1, self._most * 3 // 4):
            raise too_many(1)

    @contextmanager
    def taken(self, recipient: str) -> Iterator[None]:
        self._taken[recipient] += 1
        try:
            yield
        finally:
            self._taken[recipient] -= 1
