"""Footers: what `--row-groups` costs per footer of 20 row groups and 20 columns.

200 real Parquet files behind a Delta log without statistics: every footer is read. The command without the flag is taken off.
`python -m bench.footers footers FOLDER` writes the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import contenders
from bench.goals import Goal
from bench.machine import load
from bench.measure import Cost, alternating

RUNS = 5

FILES, ROW_GROUPS, COLUMNS, ROWS = 200, 20, 20, 50
FEW = 50  # footers of a smaller run: the difference between both is what a footer costs, without what a command costs anyhow
MOST = 0.008  # seconds
PREDICATES = {
    "2 of 20 columns": "c0 >= 100 AND c0 < 140 AND c1 < 90",
    "all 20 columns": " AND ".join(f"c{place} < {5000 + place}" for place in range(COLUMNS)),
}
FLOOR = (
    "import sys, glob, duckdb; duckdb.execute('SELECT count(*) FROM parquet_metadata(?)', [glob.glob(sys.argv[1])]).fetchall()"
)


@dataclass(frozen=True)
class Row:
    """Whole commands: with all footers, with some of them, and without."""

    predicate: str
    whole: Cost
    few: Cost
    without: Cost

    @property
    def each(self) -> float:
        """Processor seconds per footer, with everything that the flag costs."""
        return (self.whole.cpu - self.without.cpu) / FILES

    @property
    def more(self) -> float:
        """Processor seconds that one more footer costs."""
        return (self.whole.cpu - self.few.cpu) / (FILES - FEW)


@dataclass(frozen=True)
class Told:
    rows: list[Row]
    floor: float  # processor seconds per footer: DuckDB's reader alone
    load: tuple[float, float]


def measure(ensure: Callable[[str], Path], say: Callable[[str], None]) -> Told:
    """The command with row groups and without, and DuckDB reading the same footers without keeping anything."""
    table, before, rows = ensure("footers"), load(), []
    for name, predicate in PREDICATES.items():
        say(f"footers, {name}")
        plain = contenders.lakeprune(table, predicate)
        few = [*plain, "--row-groups", "--sample", str(FEW)]
        rows.append(Row(name, *alternating([[*plain, "--row-groups"], few, plain], RUNS)))
    floor, nothing = alternating(
        [contenders.python(FLOOR, str(table / pattern)) for pattern in ("*.parquet", "000.parquet")], RUNS
    )
    return Told(rows, (floor.cpu - nothing.cpu) / (FILES - 1), (before, load()))


def goals(reported: Told) -> list[Goal]:
    text = f"--row-groups: at most {MOST * 1000:.0f} ms of processor time per footer of {ROW_GROUPS} x {COLUMNS} column chunks"
    return [
        Goal(f"{text}, a predicate on {row.predicate}", f"{row.each * 1000:.1f} ms", row.each <= MOST) for row in reported.rows
    ]


def lines(reported: Told) -> list[str]:
    """The section of the page."""
    found = [
        "## Footers",
        "",
        f"{FILES} Parquet files of {ROW_GROUPS} row groups and {COLUMNS} columns behind a Delta log without statistics: every",
        f"footer is read. Processor time, medians of {RUNS} runs, turn by turn; the load was {reported.load[0]:.1f} before and",
        f"{reported.load[1]:.1f} after. *Each* is the command with `--row-groups` less the command without it, per footer;",
        f"*one more* is what {FILES} footers cost more than {FEW} (`--sample {FEW}`),",
        "per footer: the rest is planned once per command, however many footers there are.",
        "",
        "| predicate | with | without | each | one more |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in reported.rows:
        times = (f"{row.whole.cpu:.2f} s", f"{row.without.cpu:.2f} s", f"{row.each * 1000:.1f} ms", f"{row.more * 1000:.1f} ms")
        found.append(f"| {' | '.join((row.predicate, *times))} |")
    return [
        *found,
        "",
        f"DuckDB's `parquet_metadata` alone takes {reported.floor * 1000:.1f} ms per footer, whichever columns are asked for.",
    ]


def write_table(root: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from demo.delta_log import add, metadata, protocol, write_log

    root.mkdir(parents=True)
    for number in range(FILES):
        start = number * ROWS
        columns = {f"c{place}": [start + row * (place + 1) for row in range(ROW_GROUPS * ROWS)] for place in range(COLUMNS)}
        pq.write_table(pa.table(columns), root / f"{number:03}.parquet", row_group_size=ROWS)
    names = {f"c{place}": "long" for place in range(COLUMNS)}
    write_log(root, [[protocol(), metadata(names), *(add(f"{number:03}.parquet") for number in range(FILES))]])


if __name__ == "__main__":
    write_table(Path(sys.argv[2]))
