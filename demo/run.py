"""`make demo`: write real tables, then run the real command on them, step by step, showing every command and its exit code.

Tables go to build/demo and are written anew each time. Exits 0 when every step ended as announced, also where a gate is
meant to fail, and 1 when one did not. Then the part on Spark, where there is Java.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.on_spark import show_spark

FOLDER = Path("build") / "demo"
EVENT_FILES = 100_000
BOTH = "country = 'DE' AND age > 40"
PICTURED = "region != 'APAC' AND year(ordered_on) = 2024 AND quarter(ordered_on) = 3 AND total >= 20"
PAGE = "report.html"


@dataclass(frozen=True)
class Step:
    """One command: why it is run, its arguments after `lakeprune`, how it must end, and how much of it is shown."""

    why: str
    arguments: Sequence[str]
    exit_code: int = 0
    fields: Sequence[str] = ()
    last_lines: int | None = None


STEPS = (
    Step("The partition column decides four of six files, statistics one more.", ("explain", "./users", "-w", BOTH)),
    Step(
        "The same rows' shape without partitions: statistics alone must do it, and overlap.",
        ("explain", "./users-flat", "-w", BOTH),
    ),
    Step(
        "Which file was dropped by what, and why the others stay.",
        ("explain", "./users-flat", "-w", BOTH, "--verbose"),
        last_lines=7,
    ),
    Step(
        "The same as JSON, for pipelines (some of its fields).",
        ("explain", "./users", "-w", BOTH, "--format", "json"),
        fields=("total_files", "final_files", "total_pruning_pct", "phases", "credits"),
    ),
    Step(
        "Functions: exact on partition values, moved to the literal side elsewhere.",
        ("explain", "./users", "-w", "lower(country) = 'it' AND age + 1 > 60"),
    ),
    Step(
        "A gate that passes: exit code 0.",
        ("explain", "./users", "-w", BOTH, "--min-pruning", "80", "--assert-stats"),
        last_lines=3,
    ),
    Step(
        "A gate that fails: exit code 1. That is the point of it, so the demo goes on.",
        ("explain", "./users-flat", "-w", BOTH, "--min-pruning", "90"),
        exit_code=1,
        last_lines=2,
    ),
    Step(
        "A misspelt column is an error, not an empty answer: exit code 2.",
        ("explain", "./users", "-w", "contry = 'DE'"),
        exit_code=2,
    ),
    Step(
        f"A log of {EVENT_FILES:,} files: one month, one kind.",
        ("explain", "./events", "-w", "year(day) = 2024 AND month(day) = 3 AND kind LIKE 'ord%'"),
    ),
    Step(
        "The last week, as seen at a given moment: the predicate is on a timestamp, the table is partitioned by day.",
        ("explain", "./events", "-w", "at >= current_timestamp() - INTERVAL 7 DAYS", "--now", "2024-12-31T12:00:00Z"),
    ),
    Step(
        "One page to look at: EU is sorted by date, US is not, and the picture shows what that costs.",
        ("explain", "./orders", "-w", PICTURED, "--format", "html", "--output", PAGE),
    ),
)


def main() -> int:
    began = time.perf_counter()
    write_tables()
    surprises = [step for number, step in enumerate(STEPS, start=1) if not run_step(number, step)]
    for step in surprises:
        print(f"unexpected: `{_shown(step)}` should have ended with exit code {step.exit_code}", file=sys.stderr)
    went_well = show_spark(FOLDER)
    print(f"\n{len(STEPS)} steps and Spark in {time.perf_counter() - began:.0f} s; the tables are in {FOLDER}")
    print(f"The report of step {len(STEPS)}, for a browser: {FOLDER / PAGE}")
    return 0 if went_well and not surprises else 1


def write_tables() -> None:
    """The tables, with a word on each."""
    from demo.tables import events, orders, users, users_flat

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    print("Writing tables with deltalake, an official Delta writer:")
    print("  users       six files, partitioned by country")
    users(FOLDER / "users")
    print("  users-flat  six files, not partitioned")
    users_flat(FOLDER / "users-flat")
    print("  orders      a log of 180 files, partitioned by region, one of them sorted by date")
    orders(FOLDER / "orders")
    print(f"  events      a log of {EVENT_FILES:,} files, partitioned by day, with a checkpoint", flush=True)
    events(FOLDER / "events", EVENT_FILES)


def run_step(number: int, step: Step) -> bool:
    """Run and show one command; whether it ended as announced."""
    print(f"\n{'-' * 100}\n{number}. {step.why}\n\n$ {_shown(step)}", flush=True)
    command = [str(Path(sys.executable).absolute().parent / "lakeprune"), *step.arguments]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    print(_shortened(done.stdout, step), end="", flush=True)
    print(done.stderr, end="")
    print(f"[exit code {done.returncode}, {took:.2f} s]")
    return done.returncode == step.exit_code


def _shown(step: Step) -> str:
    """The command as one would type it."""
    words = (f'"{word}"' if "'" in word else shlex.quote(word) for word in step.arguments)
    return " ".join(("lakeprune", *words))


def _shortened(document: str, step: Step) -> str:
    """The part of the output that the step is about."""
    if step.fields and document:
        parsed = json.loads(document)
        return "".join(_field(name, parsed[name]) for name in step.fields)
    lines = document.splitlines(keepends=True)
    if step.last_lines is None or len(lines) <= step.last_lines:
        return document
    return "".join(("[...]\n", *lines[-step.last_lines :]))


def _field(name: str, value: object) -> str:
    """One line per entry of a field."""
    match value:
        case dict():
            return "".join(f"{name}.{key}: {json.dumps(inner)}\n" for key, inner in value.items())
        case list():
            return "".join(f"{name}[{index}]: {json.dumps(inner)}\n" for index, inner in enumerate(value))
    return f"{name}: {value}\n"


if __name__ == "__main__":
    sys.exit(main())
