"""Iceberg's Java planner on one table: `python -m bench.iceberg_java TABLE` prints processor seconds by predicate, warm.

The files are counted inside the JVM, so that what is measured is planning and not the bridge to it.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
ANSWERS = 7
_FIRST, _DAY = 1_709_251_200_000_000, 86_400_000_000  # 2024-03-01; microseconds


def main(table: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars.packages", PACKAGE)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    jvm: Any = spark._jvm  # noqa: SLF001  # py4j
    long = jvm.java.lang.Long
    is_less, is_least = (
        jvm.org.apache.iceberg.expressions.Expressions.lessThan,
        jvm.org.apache.iceberg.expressions.Expressions.greaterThanOrEqual,
    )
    both = getattr(jvm.org.apache.iceberg.expressions.Expressions, "and")
    filters = {
        "bounds alone": is_less("id", long.valueOf(10_000_000)),
        **{
            name: both(is_least("ts", long.valueOf(_FIRST)), is_less("ts", long.valueOf(_FIRST + days * _DAY)))
            for name, days in (("a tenth of the manifests", 36), ("one day", 1))
        },
    }
    tables = jvm.org.apache.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())  # noqa: SLF001
    count = jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables.size
    process = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")
    found = {}
    for name, condition in filters.items():
        taken = []
        for _ in range(ANSWERS):
            began = _ticks(process)
            count(tables.load(table).newScan().filter(condition).planFiles())
            taken.append((_ticks(process) - began) / os.sysconf("SC_CLK_TCK"))
        found[name] = statistics.median(taken[ANSWERS // 2 :])
    spark.stop()
    print(json.dumps(found))


def _ticks(process: Path) -> int:
    """The processor time of a process so far, in ticks of the kernel: its own, as user and system."""
    fields = process.read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main(sys.argv[1])
