"""What a command costs: wall time, processor time and peak memory of one child process, taken from the kernel when it ends.

The kernel counts the parent's memory towards a child until the child has started its program. So the measuring process imports
nothing heavy, and whatever needs much memory (generating logs) runs in a process of its own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH_SECONDS = 2.0


class CommandFailed(Exception):
    """A contender did not succeed, so its time means nothing."""


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float


def cost(command: Sequence[str], runs: int) -> Cost:
    """The median cost of several runs after one that warms the caches; a command of many seconds runs once, without warm-up."""
    first = run_once(command)
    if first.wall > ENOUGH_SECONDS:
        return first
    return median([run_once(command) for _ in range(runs)])


def alternating(commands: Sequence[Sequence[str]], runs: int) -> list[Cost]:
    """The median cost of each command, measured turn by turn, so that a noisy minute hits all of them alike."""
    rounds = [[run_once(command) for command in commands] for _ in range(runs + 1)][1:]
    return [median(list(costs)) for costs in zip(*rounds, strict=True)]


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.cpu for cost in costs),
        max(cost.megabytes for cost in costs),
    )


def run_once(command: Sequence[str]) -> Cost:
    """One run; its output is thrown away, its failure is not."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    with child.stderr:
        said = child.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}\nexit {child.returncode}\n{said}")
    wall = time.perf_counter() - began
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
