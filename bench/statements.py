"""UPDATE and MERGE on a table of two thousand files by lakeprune, by Delta Spark as users write it, by deltalake."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.goals import Goal
from bench.statement_worker import STATEMENTS

FILES, WARM_UP_FILES = 2000, 20
CONTENDERS = {"lakeprune": "lakeprune", "delta-spark": "Delta Spark", "deltalake": "deltalake"}
HARD = ("update by function", "merge 1,000 keys")  # what Delta's own skipping cannot use


@dataclass(frozen=True)
class Told:
    """What one contender did. Scans are (files, bytes) in order: those that look for rows, then the one that rewrites."""

    wall: float
    scans: tuple[tuple[int, int], ...] | None  # None when the contender does not tell
    read: int  # bytes
    rewritten: int  # files

    @property
    def looked_at(self) -> int | None:
        """Files opened to find the rows, counted once per scan."""
        return None if self.scans is None else sum(files for files, _ in self.scans[:-1])


def measure(folder: Path) -> dict[tuple[str, str], Told]:
    """Every statement by every contender, each on a copy of its own."""
    table, small = folder / "statements", folder / "statements-small"
    for path, files in ((table, FILES), (small, WARM_UP_FILES)):
        if not path.exists():
            subprocess.run([sys.executable, "-m", "bench.statement_table", str(path), str(files)], check=True)
    return {(statement, name): _run(name, statement, table, small) for statement in STATEMENTS for name in CONTENDERS}


def goals(reported: dict[tuple[str, str], Told]) -> list[Goal]:
    found = []
    for statement in STATEMENTS if reported else ():
        ours, spark, rust = (reported[statement, name] for name in CONTENDERS)
        assert ours.looked_at is not None
        assert spark.looked_at is not None
        if statement in HARD:
            fewer = spark.looked_at / max(ours.looked_at, 1)
            text = f"{statement}, {FILES:,} files: at least 10x fewer files opened to find the rows than Delta Spark as written"
            found.append(Goal(text, f"{fewer:.0f}x", fewer >= 10))
        most = ours.read <= min(spark.read, rust.read) and ours.rewritten <= min(spark.rewritten, rust.rewritten)
        told_bytes = f"{_mega(ours.read)} of {_mega(spark.read)} and {_mega(rust.read)}"
        found.append(Goal(f"{statement}: no more bytes read and no more files rewritten than either", told_bytes, most))
    return found


def lines(reported: dict[tuple[str, str], Told]) -> list[str]:
    """The section of the page."""
    page = [
        "## Statements",
        "",
        f"{FILES:,} files of 500 rows. *lakeprune* plans, verifies, executes through Delta and reconciles; every scan counts,",
        "the one that verifies and Delta's own. Wall time is warm: the statement ran on a small table first. Bytes are those",
        "of the files that Spark's scans opened, though they read only the columns they need; of deltalake they are what its",
        "process read, the log among them. A range that Delta's own skipping uses as well as metadata can gains nothing:",
        "there the scan that verifies comes on top.",
        "",
        "| statement | tool | files opened to find rows | bytes read in all | files rewritten | wall |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (statement, name), one in reported.items():
        opened = "-" if one.looked_at is None else str(one.looked_at)
        cells = (statement, CONTENDERS[name], opened, _mega(one.read), str(one.rewritten), f"{one.wall:.1f} s")
        page.append(f"| {' | '.join(cells)} |")
    return page


def _run(name: str, statement: str, table: Path, small: Path) -> Told:
    copies = [path.with_name(f"{path.name}-copy") for path in (table, small)]
    for path, copy in zip((table, small), copies, strict=True):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
    try:
        command = [sys.executable, "-m", "bench.statement_worker", name, statement, *(str(copy.absolute()) for copy in copies)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        for copy in copies:
            shutil.rmtree(copy)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    scans = None if answer["scans"] is None else tuple((files, size) for files, size in answer["scans"] if files)
    read = answer["read"] if scans is None else sum(size for _, size in scans)
    return Told(answer["wall"], scans, read, answer["rewritten"])


def _mega(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
