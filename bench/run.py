"""`python -m bench.run [--write FILE] [--only PART]`: generate the logs once, measure every contender, print ratios and goals.

Generated logs stay in build/bench; delete the folder to generate them again. Takes some minutes on two cores.
"""

from __future__ import annotations

import argparse
import compileall
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import contenders, footers, iceberg, iceberg_spark, plan, sharing, sharpen, spark, statements
from bench.goals import Goal, Result, at_most, goals_of
from bench.machine import load, machine_facts
from bench.measure import Cost, alternating, cost
from bench.page import Section, page

FOLDER = Path("build") / "bench"
LOGS = ("200k-x3", "160k-x3", "160k-x31", "1m-x3", "1m-x3-deltalake", "2000-commits")
RUNS = 5
PEER_RUNS = 2  # delta-explain takes a quarter of a minute on a large log
START_RUNS = 15
MANY = 1000

Measured = tuple[list[str], list[Goal]]  # the lines of a section, and its goals


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    compile_sources()
    sections = []
    for part in dict.fromkeys("costs" if name in LOGS else name for name in options.only or PARTS):
        before = load()
        logs = [name for name in options.only or LOGS if name in LOGS] or list(LOGS)
        lines, goals = costs(logs) if part == "costs" else PARTS[part]()
        sections.append(Section(lines, goals, (before, load())))
        print(sections[-1].text(), flush=True)
        if options.write:  # after each part: a run that is cut short loses one
            earlier = options.write.read_text(encoding="utf-8") if options.write.exists() else ""
            options.write.write_text(page(earlier, machine_facts(), sections), encoding="utf-8")
    return 0


def costs(logs: Sequence[str]) -> Measured:
    """The logs; with all of them also what takes place beside them."""
    results = [measure_log(name) for name in logs]
    goals = [goal for result in results for goal in goals_of(result)]
    if len(results) == len(LOGS):
        goals += [start_up(), *width(results), *many(), *html_page(), overlap()]
    return _costs(results), goals


def compile_sources() -> None:
    """The bytecode of the sources, as an installation has it: without it every start compiles them, 0.15 s of processor time.

    Sources may be newer than the set-up, and where PYTHONDONTWRITEBYTECODE is set no start would keep what it compiled.
    """
    compileall.compile_dir("src", quiet=1)


def measure_log(name: str) -> Result:
    table = ensure(name)
    say(f"{name}: lakeprune, deltalake, DuckDB")
    commands = [contenders.lakeprune(table, predicate) for predicate in contenders.PREDICATES.values()]
    commands.append(contenders.deltalake_load(table))
    decode = contenders.duckdb_decode(table)
    if decode is not None:
        commands.append(decode)
    costs = alternating(commands, RUNS)
    ours = dict(zip(contenders.PREDICATES, costs, strict=False))
    theirs = {}
    for title, predicate in contenders.PREDICATES.items():
        say(f"{name}: delta-explain, {title}")
        theirs[title] = cost(contenders.delta_explain(table, predicate), PEER_RUNS)
    return Result(name, ours, theirs, deltalake=costs[len(ours)], decode=None if decode is None else costs[-1])


def on_spark() -> Measured:
    rows = []
    for name in spark.LOGS:
        table = ensure(name)
        say(f"{name}: Spark, Delta Spark")
        rows += spark.measure(name, table)
    return spark.lines(rows), spark.goals(rows)


def changed() -> Measured:
    say("UPDATE and MERGE: lakeprune, Delta Spark, deltalake")
    FOLDER.mkdir(parents=True, exist_ok=True)
    reported = statements.measure(FOLDER)
    return statements.lines(reported), statements.goals(reported)


def sharpened() -> Measured:
    say("sharpened queries")
    FOLDER.mkdir(parents=True, exist_ok=True)
    reported = sharpen.measure(FOLDER)
    return sharpen.lines(reported), sharpen.goals(reported)


def _part(module: Any) -> Measured:
    reported = module.measure(ensure, say)
    return module.lines(reported), module.goals(reported)


PARTS: dict[str, Callable[[], Measured]] = {
    "costs": lambda: costs(LOGS),
    "iceberg": lambda: _part(iceberg),
    "footers": lambda: _part(footers),
    "plan": lambda: _part(plan),
    "sharing": lambda: _part(sharing),
    "sharpen": sharpened,
    "statements": changed,
    "iceberg-spark": lambda: _part(iceberg_spark),
    "spark": on_spark,
}


def start_up() -> Goal:
    """The whole command on six files against importing what it needs."""
    say("six-file table")
    table = FOLDER / "users"
    if not table.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        code = "import sys, pathlib; from demo.tables import users; users(pathlib.Path(sys.argv[1]))"
        subprocess.run(contenders.python(code, str(table)), check=True)
    command = contenders.lakeprune(table, "country = 'DE' AND age > 40")
    whole, imports = alternating([command, contenders.bare_imports()], START_RUNS)
    text = f"six files: the whole command ({whole.wall:.3f} s) within 1.3x of importing duckdb and sqlglot ({imports.wall:.3f} s)"
    return at_most(text, whole.wall / imports.wall, 1.3)


def width(results: list[Result]) -> list[Goal]:
    """Peak memory must follow the columns a predicate needs, not those the table has."""
    peaks = {result.log: max(cost.megabytes for cost in result.lakeprune.values()) for result in results}
    narrow, wide = peaks["160k-x3"], peaks["160k-x31"]
    text = f"160,000 files: peak memory with 31 statistics columns ({wide:.0f} MB) within 2x of that with 3 ({narrow:.0f} MB)"
    return [at_most(text, wide / narrow, 2)]


def many() -> list[Goal]:
    """A thousand predicates in one call: one metadata read and one pass, so far from a thousand times the cost of one."""
    say(f"{MANY} predicates in one call")
    table = FOLDER / "200k-x3"
    one, thousand = (cost(contenders.explain_many(table, count), 3) for count in (1, MANY))
    text = f"200k-x3: {MANY:,} predicates in one call ({thousand.wall:.1f} s) within 20x of one ({one.wall:.2f} s)"
    return [at_most(text, thousand.wall / one.wall, 20)]


def html_page() -> list[Goal]:
    """The HTML report of a million files: small, and made while one waits. It reads the metadata again for its pictures."""
    say("the HTML page of a million files")
    table, target = ensure("1m-x3"), FOLDER / "page.html"
    taken = cost(contenders.lakeprune_page(table, contenders.STATS_ONLY, target), 3)
    size = target.stat().st_size
    reported = f"1m-x3: the HTML page, diagnoses included, is written in at most 5 s ({taken.megabytes:.0f} MB of memory)"
    return [
        Goal("1m-x3: the HTML page is under 1 MB", f"{size / 1e6:.2f} MB", size < 1_000_000),
        Goal(reported, f"{taken.wall:.1f} s", taken.wall <= 5),
    ]


def overlap() -> Goal:
    """Ten times the files take twelve times as long to sort, and a second try in more memory; pairs would take a hundred."""
    say("overlap depth")
    few, many_files = (cost(contenders.overlap_depth(files), 3) for files in (100_000, 1_000_000))
    text = (
        f"overlap depth of 1,000,000 overlapping ranges ({many_files.wall:.1f} s, {many_files.megabytes:.0f} MB) "
        f"within 25x of 100,000 ({few.wall:.2f} s)"
    )
    return at_most(text, many_files.wall / few.wall, 25)


def ensure(name: str) -> Path:
    """The log or table of that name, generated once."""
    table = FOLDER / name
    if not table.exists():
        say(f"generating {name}")
        FOLDER.mkdir(parents=True, exist_ok=True)
        homes = {"footers": "bench.footers", "sharing": "bench.sharing"}
        home = "bench.iceberg_tables" if name.startswith("iceberg-") else homes.get(name, "bench.logs")
        subprocess.run([sys.executable, "-m", home, name, str(table)], check=True)
    return table.absolute() if name.startswith("iceberg-") else table


def _costs(results: list[Result]) -> list[str]:
    lines = ["## Costs", "", *_CONTENDERS, ""]
    lines += ["| log | predicate | tool | wall | processor | peak memory | wall, ours = 1 | memory, ours = 1 |"]
    lines += ["|---|---|---|---:|---:|---:|---:|---:|"]
    for result in results:
        for title, ours in result.lakeprune.items():
            rows = {"lakeprune": ours, "delta-explain": result.delta_explain[title], "deltalake load": result.deltalake}
            if result.decode is not None:
                rows["DuckDB decode"] = result.decode
            lines += [_row(result.log, title, tool, theirs, ours) for tool, theirs in rows.items()]
    return lines


_CONTENDERS = (
    "`lakeprune` and `delta-explain` are the whole commands with `-w`. *deltalake load* is `DeltaTable(path)` and nothing else.",
    "*DuckDB decode* reads path, partitionValues and stats of the checkpoint and nothing else: a floor, not a tool.",
    f"Median of {RUNS} runs, turn by turn, after a warm-up; what takes seconds runs once. Memory is the largest peak.",
    "Checkpoints are as Delta Spark writes them (Snappy, row groups of 128 MB), except `1m-x3-deltalake`: one uncompressed row",
    "group, as delta-rs writes it. Every checkpoint is followed by newer JSON commits that add and remove files.",
)


def _row(log: str, title: str, tool: str, theirs: Cost, ours: Cost) -> str:
    cells = (log, title, tool, f"{theirs.wall:.2f} s", f"{theirs.cpu:.2f} s", f"{theirs.megabytes:.0f} MB")
    return f"| {' | '.join(cells)} | {theirs.wall / ours.wall:.1f} | {theirs.megabytes / ours.megabytes:.1f} |"


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description="Measure lakeprune against its peers.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the measured sections into the page FILE")
    choices = (*LOGS, *PARTS)
    parts = f"only this log of the costs, or this part: {', '.join(PARTS)} (repeatable)"
    parser.add_argument("--only", action="append", choices=choices, metavar="PART", help=parts)
    return parser.parse_args(arguments)


def say(text: str) -> None:
    """Progress, on stderr."""
    print(f"... {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
