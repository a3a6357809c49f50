"""Large logs on Spark: lakeprune's engine, Delta Spark's own planning of the same filter, and the embedded engine beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import contenders
from bench.goals import Goal, at_most
from bench.measure import Cost, cost

LOGS = {"1m-parts": 4, "10m-parts": 2}  # how often each is asked: the first answer compiles
PATIENCE = 600  # seconds until a contender counts as not finished

UNKNOWN = Cost(0, 0, 0)


@dataclass(frozen=True)
class Told:
    """What a worker measured; `failure` instead where it did not get to the end."""

    total: int = 0
    kept: int = 0
    started: float = 0
    first: Cost = UNKNOWN
    warm: Cost = UNKNOWN
    failure: str | None = None


@dataclass(frozen=True)
class Row:
    log: str
    title: str
    embedded: Cost
    lakeprune: Told
    delta: Told


def measure(log: str, table: Path) -> list[Row]:
    rows = []
    for title, predicate in contenders.PREDICATES.items():
        embedded = cost(contenders.lakeprune(table, predicate), 3)
        reported = [asked(contender, table, predicate, LOGS[log]) for contender in ("lakeprune", "delta")]
        rows.append(Row(log, title, embedded, *reported))
    return rows


def goals(rows: list[Row]) -> list[Goal]:
    found = []
    for row in rows:
        if row.lakeprune.failure is not None:
            found.append(Goal(f"{row.log} on Spark, {row.title}: answered in a heap of 1 GB", row.lakeprune.failure, met=False))
        elif row.delta.failure is None:
            text = f"{row.log} on Spark, {row.title}: processor time, warm, at most that of Delta Spark's own planning"
            found.append(at_most(text, row.lakeprune.warm.cpu / row.delta.warm.cpu, 1))
    for title in contenders.PREDICATES:
        few, many = (next((r.lakeprune for r in rows if (r.log, r.title) == (log, title)), None) for log in LOGS)
        if few and many and not few.failure and not many.failure:
            text = f"Spark, {title}: processor time per file at 10,000,000 files, against 1,000,000"
            found.append(at_most(text, many.warm.cpu / many.total / (few.warm.cpu / few.total), 1.2))
    return found


def lines(rows: list[Row]) -> list[str]:
    """The section of the page."""
    reported = [
        "## Spark",
        "",
        "`local[2]`, a driver with 1 GB of heap that refuses results above 1 MB, multi-part checkpoints. *First* is the first",
        "answer of a process, which compiles; *warm* is the median of the later ones. Memory is the JVM's peak.",
        "*Delta Spark* plans the same filter and lists its files; nothing is executed. Later it uses the state it cached.",
        "",
        "| log | predicate | tool | first: wall | processor | warm: wall | processor | peak memory | files kept |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        peak = f"{row.embedded.megabytes:.0f} MB"
        reported.append(f"| {row.log} | {row.title} | embedded, whole command | {_cells(row.embedded)} | | | {peak} | |")
        for tool, answer in (("lakeprune on Spark", row.lakeprune), ("Delta Spark", row.delta)):
            if answer.failure is not None:
                reported.append(f"| {row.log} | {row.title} | {tool} | {answer.failure} | | | | | |")
                continue
            cells = f"{_cells(answer.first)} | {_cells(answer.warm)} | {answer.warm.megabytes:.0f} MB | {answer.kept}"
            reported.append(f"| {row.log} | {row.title} | {tool} | {cells} |")
    return reported


def _cells(taken: Cost) -> str:
    return f"{taken.wall:.1f} s | {taken.cpu:.1f} s"


def asked(contender: str, table: Path, predicate: str, answers: int) -> Told:
    """What one of the contenders of spark_worker.py measured in a process of its own."""
    command = [sys.executable, "-m", "bench.spark_worker", contender, str(table), predicate, str(answers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return Told(failure=f"not done after {PATIENCE} s")
    if done.returncode != 0:
        said = done.stderr + done.stdout
        return Told(failure="out of memory" if "OutOfMemoryError" in said else f"failed: {said.strip().splitlines()[-1][:80]}")
    reported = json.loads(done.stdout.splitlines()[-1])
    first, *later = (Cost(wall, cpu, reported["megabytes"]) for wall, cpu in reported["costs"])
    warm = sorted(later, key=lambda one: one.cpu)[len(later) // 2]
    return Told(reported["total"], reported["kept"], reported["started"], first, warm)
