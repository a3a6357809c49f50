"""Iceberg planning, ours beside its peers: a section of the page, or `python -m bench.iceberg` alone.

A table of 100,000 files in 200 manifests is planned by `lakeprune explain`, by PyIceberg's `plan_files()` and, in a warm JVM, by
Iceberg's own Java library; ours and PyIceberg take turns. Of whole commands the kernel tells processor time and memory; *inside*
the process each takes its own time after its imports. A table of 4,000 manifests shows what each level leaves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import contenders, footers
from bench.goals import Goal, at_most
from bench.machine import load
from bench.measure import Cost, alternating, cost

RUNS, PATIENCE = 5, 600
LARGE = {
    f"iceberg-{layout}-{columns}": f"{writer} blocks, {columns} columns"
    for layout, writer in (("java", "Java's"), ("pyiceberg", "PyIceberg's"))
    for columns in (3, 20)
}
PREDICATES = {
    "bounds alone": "id < 10000000",
    "a tenth of the manifests": "ts >= '2024-03-01T00:00:00' AND ts < '2024-04-06T00:00:00'",
    "one day": "ts >= '2024-03-01T00:00:00' AND ts < '2024-03-02T00:00:00'",
}
LEAST = {"bounds alone": 5, "a tenth of the manifests": 20, "one day": 20}  # times less processor time than PyIceberg
WEEK = "mission_id = 'apollo-7' AND ts >= '2024-03-01' AND ts < '2024-03-08' AND panel_voltage > 28.5"

_INSIDE = """
import sys, time
{imports}
began = time.process_time()
{work}
print(time.process_time() - began)
"""
_PLAN = "sum(1 for _ in StaticTable.from_metadata(sys.argv[1]).scan(row_filter=sys.argv[2]).plan_files())"
_PYICEBERG = "from pyiceberg.table import StaticTable"


@dataclass(frozen=True)
class Row:
    """Whole commands as the kernel counts them; in-process seconds as each counts itself; None where there is no Java."""

    table: str
    predicate: str
    ours: Cost
    pyiceberg: Cost
    ours_inside: float
    pyiceberg_inside: float
    java: float | None


@dataclass(frozen=True)
class Told:
    rows: list[Row]
    ten: tuple[Cost, Cost]  # the command on ten files, and bare imports
    shown: str  # what `lakeprune explain` prints of the pyramid
    week: Cost
    load: tuple[float, float]  # of the machine, before and after


def measure(ensure: Callable[[str], Path], say: Callable[[str], None]) -> Told:
    """Everything, on tables that `ensure` finds or makes."""
    rows, before = [], load()
    for name, title in LARGE.items():
        table = ensure(name)
        say(f"{name}: lakeprune, PyIceberg, Iceberg's Java library")
        java = _java(table)
        for which, predicate in PREDICATES.items():
            metadata = str(table / "metadata" / "v1.metadata.json")
            peer = contenders.python(f"import sys\n{_PYICEBERG}\nprint({_PLAN})", metadata, predicate)
            ours, theirs = alternating([contenders.lakeprune(table, predicate), peer], RUNS)
            own = _inside("import lakeprune", "lakeprune.explain(sys.argv[1], sys.argv[2])", str(table), predicate)
            rows.append(Row(title, which, ours, theirs, own, _inside(_PYICEBERG, _PLAN, metadata, predicate), java.get(which)))
    say("ten files, and the pyramid")
    ten = alternating([contenders.lakeprune(ensure("iceberg-ten"), "id < 5000"), contenders.bare_imports()], 15)
    pyramid = ensure("iceberg-pyramid")
    command = contenders.lakeprune(pyramid, WEEK)
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Told(rows, (ten[0], ten[1]), shown.replace(str(pyramid), "./flights"), cost(command, RUNS), (before, load()))


def goals(reported: Told) -> list[Goal]:
    found = []
    for row in reported.rows:
        least = LEAST[row.predicate]
        less = row.pyiceberg.cpu / row.ours.cpu
        text = f"Iceberg, {row.table}, {row.predicate}: at least {least}x less processor time than PyIceberg, whole command"
        found.append(Goal(text, f"{less:.1f}x", less >= least))
        memory = f"Iceberg, {row.table}, {row.predicate}: memory at most 1.3x of PyIceberg's"
        found.append(at_most(memory, row.ours.megabytes / row.pyiceberg.megabytes, 1.3))
    whole, imports = reported.ten
    text = (
        f"Iceberg, ten files: the command ({whole.cpu:.2f} s) within 1.3x of importing duckdb and sqlglot ({imports.cpu:.2f} s)"
    )
    return [*found, at_most(text, whole.cpu / imports.cpu, 1.3)]


def lines(reported: Told) -> list[str]:
    """The section of the page."""
    found = [
        "## Iceberg",
        "",
        "100,000 files in 200 manifests, partitioned by day, with metrics of 3 and of 20 columns, in the block layouts of two",
        "writers. Processor seconds. *Whole* is the command, or a process that imports PyIceberg 0.12 and calls `plan_files()`;",
        "*inside* is the same work after the imports; *Java* is `planFiles()` of Iceberg 1.12 in a warm JVM, the median of the",
        f"later answers. Medians of {RUNS} runs, ours and PyIceberg turn by turn, *inside* of one run more; the load of the",
        f"machine was {reported.load[0]:.1f} before and {reported.load[1]:.1f} after, with {os.cpu_count()} cores.",
        "",
        "| table | predicate | whole (wall): ours | PyIceberg | ratio | inside: ours | PyIceberg | Java | MB: ours | PyIceberg |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in reported.rows:
        cells = [row.table, row.predicate, *(f"{each.cpu:.2f} s ({each.wall:.2f})" for each in (row.ours, row.pyiceberg))]
        cells += [f"{row.pyiceberg.cpu / row.ours.cpu:.1f}", f"{row.ours_inside:.2f} s", f"{row.pyiceberg_inside:.2f} s"]
        cells += ["-" if row.java is None else f"{row.java:.2f} s"]
        cells += [f"{row.ours.megabytes:.0f}", f"{row.pyiceberg.megabytes:.0f}"]
        found.append(f"| {' | '.join(cells)} |")
    found += [
        "",
        "40 missions over 100 days, a manifest per mission and day: 4,000 manifests, 20,000 files. One mission, one week:",
    ]
    found += ["", "```console", f'$ lakeprune explain ./flights -w "{WEEK}"', *reported.shown.rstrip().splitlines(), "```"]
    return [*found, "", f"It takes {reported.week.cpu:.2f} s of processor time and {reported.week.megabytes:.0f} MB."]


def _inside(imports: str, work: str, *arguments: str) -> float:
    """The work alone, in a fresh process."""
    code = _INSIDE.format(imports=imports, work=work)
    done = subprocess.run(contenders.python(code, *arguments), capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _java(table: Path) -> dict[str, float]:
    """Processor seconds of Iceberg's own planner by predicate; empty where its runtime cannot be had."""
    command = [sys.executable, "-m", "bench.iceberg_java", str(table)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    return found


def main() -> None:
    from bench.run import compile_sources, ensure, say  # which imports this module

    compile_sources()

    reported = measure(ensure, say)
    read = footers.measure(ensure, say)
    for goal in (*goals(reported), *footers.goals(read)):
        print(f"{'met   ' if goal.met else 'MISSED'} {goal.measured:>8}  {goal.text}")
    print("", *lines(reported), "", *footers.lines(read), sep="\n")


if __name__ == "__main__":
    main()
