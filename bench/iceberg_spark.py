"""A million Iceberg entries on Spark: lakeprune's engine, Iceberg's own planner in the same heap, and the embedded engine.

The driver has 1 GB of heap, and Spark refuses to bring more than one megabyte to it: a row per file would end the run. Iceberg's
planner is `planFiles()` with the same condition, its files counted inside the JVM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import contenders
from bench.goals import Goal
from bench.machine import load
from bench.measure import Cost, cost
from bench.spark import Told, asked

TABLE, FILES, MANIFESTS = "iceberg-million", 1_000_000, 2000
KEPT = 10_000
PREDICATE = f"id < {KEPT * 1000}"  # of a thousand rows each
ANSWERS = 4


@dataclass(frozen=True)
class Answers:
    embedded: Cost
    lakeprune: Told
    iceberg: Told
    load: tuple[float, float]  # of the machine, before and after


def measure(ensure: Callable[[str], Path], say: Callable[[str], None]) -> Answers:
    table, before = ensure(TABLE), load()
    say(f"{TABLE}: lakeprune on Spark, Iceberg's planner, the embedded engine")
    reported = [asked(contender, table, PREDICATE, ANSWERS) for contender in ("lakeprune-iceberg", "iceberg")]
    return Answers(cost(contenders.lakeprune(table, PREDICATE), 3), reported[0], reported[1], (before, load()))


def goals(found: Answers) -> list[Goal]:
    text = f"Iceberg on Spark: {FILES:,} entries are explained in a heap of 1 GB"
    ours = found.lakeprune
    if ours.failure is not None:
        return [Goal(text, ours.failure, met=False)]
    return [Goal(text, f"{ours.kept:,} of {ours.total:,} files kept", (ours.total, ours.kept) == (FILES, KEPT))]


def lines(found: Answers) -> list[str]:
    """The section of the page."""
    rows = [
        "## Iceberg on Spark",
        "",
        f"{FILES:,} files in {MANIFESTS:,} manifests, metrics of 3 columns, `{PREDICATE}`; `local[2]`, a driver with 1 GB of",
        "heap that refuses results above 1 MB. *First* is the first answer of a process, which compiles; *warm* is the median of",
        "the later ones. Memory is the peak of the JVM, or of the command. *Iceberg's planner* is `planFiles()` of Iceberg 1.12",
        f"in the same heap. The load of the machine was {found.load[0]:.1f} before and {found.load[1]:.1f} after.",
        "",
        "| tool | first: wall | processor | warm: wall | processor | processor per file, warm | peak memory | files kept |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    embedded = found.embedded
    each = f"{embedded.cpu / FILES * 1e6:.0f} us"
    rows.append(f"| embedded, whole command | {_cells(embedded)} | | | {each} | {embedded.megabytes:.0f} MB | |")
    for tool, answer in (("lakeprune on Spark", found.lakeprune), ("Iceberg's planner", found.iceberg)):
        if answer.failure is not None:
            rows.append(f"| {tool} | {answer.failure} | | | | | | |")
            continue
        each = f"{answer.warm.cpu / FILES * 1e6:.0f} us"
        cells = f"{_cells(answer.first)} | {_cells(answer.warm)} | {each} | {answer.warm.megabytes:.0f} MB | {answer.kept:,}"
        rows.append(f"| {tool} | {cells} |")
    return rows


def _cells(taken: Cost) -> str:
    return f"{taken.wall:.1f} s | {taken.cpu:.1f} s"


def main() -> None:
    from bench.run import compile_sources, ensure, say  # which imports this module

    compile_sources()
    found = measure(ensure, say)
    for goal in goals(found):
        print(f"{'met   ' if goal.met else 'MISSED'} {goal.measured}  {goal.text}")
    print("", *lines(found), sep="\n")


if __name__ == "__main__":
    main()
