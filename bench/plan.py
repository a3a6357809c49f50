"""Plans: the files of a million-file table as Arrow columns and as JSON, beside what deltalake gives of the same table.

`get_add_actions(flatten=True)` is every file with its statistics, `file_uris` with a partition filter the paths of a day. Every
way runs in a process of its own (bench/plan_worker.py), turn by turn; processor time judges, for the machine may not be quiet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.goals import Goal
from bench.measure import Cost, alternating

LOG = "1m-x3"
RUNS = 3
WAYS = {  # what is compared with what: ours, theirs
    "all files": (("lakeprune-arrow", "lakeprune-json"), ("deltalake-actions",)),
    "files of a day": (("lakeprune-arrow:filtered", "lakeprune-json:filtered"), ("deltalake-uris:filtered",)),
}
_TITLES = {
    "lakeprune-arrow": "`plan.files`, Arrow columns",
    "lakeprune-json": "`plan`, JSON",
    "deltalake-actions": "deltalake `get_add_actions`",
    "deltalake-uris": "deltalake `file_uris`",
}
Taken = Mapping[str, Cost]


def measure(ensure: Callable[[str], Path], say: Callable[[str], None]) -> Taken:
    """The cost of every way."""
    table = ensure(LOG)
    say("plans beside deltalake")
    names = [name for pair in WAYS.values() for several in pair for name in several]
    commands = [[sys.executable, "-m", "bench.plan_worker", name, str(table)] for name in names]
    return dict(zip(names, alternating(commands, RUNS), strict=True))


def goals(taken: Taken) -> list[Goal]:
    """Faster, and in less memory, than deltalake for the same question."""
    found = []
    for what, (ours, theirs) in WAYS.items():
        for own in ours:
            for other in theirs:
                mine, peer = taken[own], taken[other]
                text = f"{_title(own)} of {what}: less processor time and memory than {_title(other)}"
                measured = f"{mine.cpu / peer.cpu:.2f}x, {mine.megabytes / peer.megabytes:.2f}x"
                found.append(Goal(text, measured, mine.cpu < peer.cpu and mine.megabytes < peer.megabytes))
    return found


def lines(taken: Taken) -> list[str]:
    """The section of the page."""
    rows = [
        "## Plans",
        "",
        f"A table of 1,000,000 files (`{LOG}`), each way in a process of its own; median of {RUNS} runs, turn by turn.",
    ]
    rows += ["", "| files | way | wall | processor | peak memory |", "|---|---|---:|---:|---:|"]
    for what, pair in WAYS.items():
        for name in (name for several in pair for name in several):
            cost = taken[name]
            rows.append(f"| {what} | {_title(name)} | {cost.wall:.2f} s | {cost.cpu:.2f} s | {cost.megabytes:.0f} MB |")
    return rows


def _title(name: str) -> str:
    return _TITLES[name.partition(":")[0]]
