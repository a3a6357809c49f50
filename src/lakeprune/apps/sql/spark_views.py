"""The same query on Spark: each table is a temporary view of its pruned DataFrame while the query is analysed.

In: a session, plans, a query. Out: a DataFrame. Views of the session are never replaced, and none is left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.scan.model import ScanPlan


def run_on_spark(spark: SparkSession, plans: Mapping[str, ScanPlan], query: str) -> DataFrame:
    """The DataFrame of a query over these plans."""
    taken = {table.name.lower() for table in spark.catalog.listTables() if table.isTemporary}
    for name in plans:
        if name.lower() in taken:
            fix = "give the table another name in the query"
            raise UsageError("LP288", f"the session has a temporary view `{name}` already", fix=fix)
    made = []
    try:
        for name, scan in plans.items():
            scan.to_spark(spark).createTempView(name)
            made.append(name)
        return spark.sql(query)
    finally:
        for name in made:
            spark.catalog.dropTempView(name)
