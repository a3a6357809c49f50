"""`python -m bench.spark_worker CONTENDER TABLE PREDICATE ANSWERS`: a question asked so often of one Spark driver, costs as JSON.

A process of its own, since a JVM cannot be made to forget: the first answer pays for compiling, the later ones do not. The driver
has 1 GB of heap. For lakeprune Spark refuses to bring more than one megabyte to the driver, so a row per file would end the run.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakeprune
from lakeprune.engines.spark.packages import iceberg_package
from lakeprune.engines.spark.session import SparkSettings, open_session

HEAP = "1g"
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"


def main(contender: str, table: str, predicate: str, answers: str) -> None:
    began = time.perf_counter()
    if contender in ("lakeprune", "lakeprune-iceberg"):
        packages = None if contender == "lakeprune" else iceberg_package()
        spark = _session((("spark.driver.maxResultSize", "1m"),), packages)
        ask: Callable[[], tuple[int, int]] = lambda: _lakeprune(spark, table, predicate)  # noqa: E731
    elif contender == "iceberg":
        spark = _session((), iceberg_package())
        ask = lambda: _iceberg(spark, table, predicate)  # noqa: E731
    else:
        extension = ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        catalog = ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        spark = _session((extension, catalog), DELTA)
        ask = lambda: _delta(spark, table, predicate)  # noqa: E731
    started = time.perf_counter() - began
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    costs = []
    for _ in range(int(answers)):
        wall, cpu = time.perf_counter(), _cpu(jvm)
        total, kept = ask()
        costs.append((time.perf_counter() - wall, _cpu(jvm) - cpu))
    reported = {"total": total, "kept": kept, "started": started, "costs": costs, "megabytes": _peak(jvm)}
    print(json.dumps(reported))
    spark.stop()


def _session(conf: tuple[tuple[str, str], ...], packages: str | None) -> Any:
    return open_session(SparkSettings("local[2]", conf=(("spark.driver.memory", HEAP), *conf), packages=packages))


def _lakeprune(spark: Any, table: str, predicate: str) -> tuple[int, int]:
    numbers = lakeprune.explain(table, predicate, spark=spark).numbers
    return numbers.total.files, numbers.kept.files


def _delta(spark: Any, table: str, predicate: str) -> tuple[int, int]:
    """What Delta Spark does when it plans this query: its log, its statistics, its list of files. Nothing is executed."""
    frame = spark.read.format("delta").load(table).where(predicate)
    plan = frame._jdf.queryExecution().optimizedPlan()
    leaf = plan.collectLeaves().head().relation().location()
    scan = leaf.preparedScan()
    return int(scan.total().files().get()), int(scan.files().size())


def _iceberg(spark: Any, table: str, predicate: str) -> tuple[int, int]:
    """Iceberg's planner on the driver; of `column < number` alone. Files are counted inside the JVM."""
    column, number = predicate.split(" < ")
    jvm = spark._jvm
    condition = jvm.org.apache.iceberg.expressions.Expressions.lessThan(column, jvm.java.lang.Long.valueOf(int(number)))
    scan = jvm.org.apache.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration()).load(table).newScan().filter(condition)
    return 0, int(jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables.size(scan.planFiles()))


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(process: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
