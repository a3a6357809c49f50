"""`python -m bench.sharpen_worker FOLDER MEGABYTES`: queries as users write them, before and after `sharpen`; costs as JSON.

The table has 200 files of that many megabytes, in the order of time; it is made once. A process of its own; every query runs
first on a table of four files, so that neither side pays for a cold JVM. Wall time after `sharpen` includes sharpening.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import convert_to_deltalake

from bench.statement_worker import DELTA, SETTINGS

FILES, WARM_UP_FILES = 200, 4
COLUMNS = 8  # of random numbers, which do not compress
YEAR_BEGINS, YEAR = 1_704_067_200_000_000, 366 * 86_400_000_000  # microseconds
QUERIES = {
    "a day by functions": "year(at) = 2024 AND month(at) = 3 AND day(at) = 5",
    "a list of keys": "id IN ({first}, {last})",
    "arithmetic on a key": "id + 1 = {first}",
}
RUNS = 3


def main(folder: str, megabytes: str) -> None:
    import lakeprune.spark
    from lakeprune.engines.spark.session import SparkSettings, open_session

    rows = int(megabytes) * 1_000_000 // (8 * COLUMNS + 10)
    tables = [_made(Path(folder) / f"sharpen-{megabytes}-{files}", files, rows) for files in (WARM_UP_FILES, FILES)]
    spark = open_session(SparkSettings("local[2]", conf=SETTINGS, packages=DELTA))
    reported = {}
    for title, where in QUERIES.items():
        text = where.format(first=rows + 7, last=(FILES - 1) * rows + 7)
        for table in tables:
            frame = spark.read.format("delta").load(str(table)).where(text).groupBy().max(*(f"v{n}" for n in range(COLUMNS)))
            before = [_run(frame) for _ in range(RUNS)]
            after = [_run(frame, lakeprune.spark.sharpen) for _ in range(RUNS)]
            assert {answer for _, _, answer in (*before, *after)} == {before[0][2]}, "the same rows"
            reported[title] = {"before": _median(before), "after": _median(after)}
    print(json.dumps(reported))


def _made(table: Path, files: int, rows: int) -> Path:
    if not table.exists():
        table.mkdir(parents=True)
        numbers = np.random.default_rng(1)
        for file in range(files):
            ids = np.arange(file * rows, (file + 1) * rows)
            at = pa.array(YEAR_BEGINS + ids * (YEAR // (files * rows)), pa.timestamp("us", "UTC"))
            values = {f"v{n}": numbers.integers(0, 2**53, rows) for n in range(COLUMNS)}
            pq.write_table(pa.table({"id": ids, "at": at, **values}), table / f"part-{file:05d}.parquet")
        convert_to_deltalake(table)
    return table


def _run(frame: Any, change: Any = None) -> tuple[float, int, str]:
    """Seconds, files that Spark's scans read, the answer."""
    from lakeprune.engines.spark.nodes import class_name, descendants

    began = time.perf_counter()
    frame = frame if change is None else change(frame)
    fresh = frame.select("*")  # a plan of its own: a DataFrame plans only once
    answer = str(fresh.collect())
    wall = time.perf_counter() - began
    nodes = descendants(fresh._jdf.queryExecution().executedPlan())
    return wall, sum(n.metrics().apply("numFiles").value() for n in nodes if class_name(n) == "FileSourceScanExec"), answer


def _median(runs: list[tuple[float, int, str]]) -> dict[str, float]:
    wall, files, _ = sorted(runs)[len(runs) // 2]
    return {"wall": wall, "files": files}


if __name__ == "__main__":
    main(*sys.argv[1:])
