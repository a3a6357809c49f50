"""`python -m bench.statement_worker CONTENDER STATEMENT TABLE WARM-UP`: one statement on a real table, costs as JSON.

A process of its own. The same statement first runs on the small warm-up table, so that no contender pays for a cold JVM. What was
read comes from Spark's own scan metrics; deltalake has none, so what its process read is asked of the kernel.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATEMENTS = ("update by function", "update by range", "merge 1,000 keys")
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    ("spark.sql.shuffle.partitions", "4"),
)
FUNCTION = "year(at) = 2024 AND month(at) = 3 AND day(at) = 5 AND id % 10 = 0"
RANGE = "at >= '2024-03-05' AND at < '2024-03-06' AND id % 10 = 0"
# Twenty runs of fifty neighbouring keys, as a batch of late changes has them.
KEYS = "explode(sequence(50000 * run, 50000 * run + 49)) AS id"


def main(contender: str, statement: str, table: str, warm_up: str) -> None:
    run = _deltalake if contender == "deltalake" else _on_spark(contender)
    run(statement, warm_up)
    print(json.dumps(run(statement, table)))


def _on_spark(contender: str) -> Any:
    from lakeprune.engines.spark.session import SparkSettings, open_session

    spark = open_session(SparkSettings("local[2]", conf=SETTINGS, packages=DELTA))
    spark.sql(f"SELECT {KEYS}, 'merged' AS status FROM range(20) AS runs(run)").createOrReplaceTempView("changes")

    def run(statement: str, table: str) -> dict[str, Any]:
        since, began = _last(spark), time.perf_counter()
        if contender == "lakeprune":
            _lakeprune(spark, statement, table)
        else:
            _plain(spark, statement, table)
        wall = time.perf_counter() - began
        return {"wall": wall, "scans": list(_scans(spark, since)), **_committed(table)}

    return run


def _lakeprune(spark: Any, statement: str, table: str) -> None:
    import lakeprune

    if statement.startswith("update"):
        where = FUNCTION if "function" in statement else RANGE
        plan = lakeprune.update(table, "status = 'archived'", where=where, spark=spark)
    else:
        plan = lakeprune.merge(
            table, spark.table("changes"), on="t.id = s.id", spark=spark, when_matched_update="status = s.status"
        )
    assert plan.execute().passed


def _plain(spark: Any, statement: str, table: str) -> None:
    if statement.startswith("update"):
        spark.sql(f"UPDATE delta.`{table}` SET status = 'archived' WHERE {FUNCTION if 'function' in statement else RANGE}")
    else:
        merge = f"MERGE INTO delta.`{table}` t USING changes s ON t.id = s.id"
        spark.sql(f"{merge} WHEN MATCHED THEN UPDATE SET t.status = s.status")


def _deltalake(statement: str, table: str) -> dict[str, Any]:
    import pyarrow as pa
    from deltalake import DeltaTable

    before, began = _read_by_process(), time.perf_counter()
    if statement.startswith("update"):
        parts = "date_part('year', at) = 2024 AND date_part('month', at) = 3 AND date_part('day', at) = 5 AND id % 10 = 0"
        range_ = "at >= '2024-03-05T00:00:00Z' AND at < '2024-03-06T00:00:00Z' AND id % 10 = 0"
        DeltaTable(table).update(predicate=parts if "function" in statement else range_, updates={"status": "'archived'"})
    else:
        ids = [50_000 * run + key for run in range(20) for key in range(50)]
        source = pa.table({"id": pa.array(ids, pa.int64()), "status": ["merged"] * len(ids)})
        merge = DeltaTable(table).merge(source, predicate="t.id = s.id", source_alias="s", target_alias="t")
        merge.when_matched_update(updates={"status": "s.status"}).execute()
    wall = time.perf_counter() - began
    return {"wall": wall, "scans": None, "read": _read_by_process() - before, **_committed(table)}


def _committed(table: str) -> dict[str, int]:
    """What the last commit took out of the table."""
    last = max((Path(table) / "_delta_log").glob("*.json"))
    removed = [line["remove"] for line in map(json.loads, last.read_text().splitlines()) if "remove" in line]
    return {"rewritten": len(removed), "rewritten_bytes": sum(action.get("size") or 0 for action in removed)}


def _scans(spark: Any, since: int) -> Iterator[tuple[int, int]]:
    """Files and bytes of every scan of data files since that execution."""
    store = spark._jsparkSession.sharedState().statusStore()
    for execution in _items(store.executionsList()):
        if execution.executionId() <= since:
            continue
        values = store.executionMetrics(execution.executionId())
        for node in _items(store.planGraph(execution.executionId()).allNodes()):
            if node.name().strip() == "Scan parquet":
                known = [metric for metric in _items(node.metrics()) if values.contains(metric.accumulatorId())]
                reported = {metric.name(): values.get(metric.accumulatorId()).get() for metric in known}
                if "number of files read" in reported:
                    yield int(reported["number of files read"].replace(",", "")), _bytes(reported["size of files read"])


def _last(spark: Any) -> int:
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    return max((execution.executionId() for execution in _items(store.executionsList())), default=-1)


def _bytes(text: str) -> int:
    number, unit = re.findall(r"([\d.,]+)\s*([KMG]?i?B)", text)[0]
    return round(float(number.replace(",", "")) * {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit])


def _read_by_process() -> int:
    return int(re.findall(r"rchar: (\d+)", Path("/proc/self/io").read_text())[0])


def _items(scala: Any) -> Iterator[Any]:
    iterator = scala.iterator()
    while iterator.hasNext():
        yield iterator.next()


if __name__ == "__main__":
    main(*sys.argv[1:])
