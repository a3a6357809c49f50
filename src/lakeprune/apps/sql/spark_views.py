"""The same query on Spark: each table is a temporary view of its pruned DataFrame while the query is analysed.

In: a session, plans, a query. Out: a DataFrame. Views of the session are never replaced, and none is left behind. Over Spark
Connect a query is analysed when it runs, and no view would be there any more: each table is a WITH around the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from lakeprune.engines.spark.session import has_jvm
from lakeprune.errors import UsageError
from lakeprune.values.names import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.scan.model import ScanPlan


def zone_of(spark: SparkSession) -> str:
    """The zone in which a session reads moments without one."""
    return str(spark.conf.get("spark.sql.session.timeZone"))


def run_on_spark(spark: SparkSession, plans: Mapping[str, ScanPlan], query: str) -> DataFrame:
    """The DataFrame of a query over these plans."""
    if not has_jvm(spark):
        return _around(spark, plans, query)
    made = []
    try:
        for name, scan in plans.items():
            _create_view(scan.to_spark(spark), name)
            made.append(name)
        return spark.sql(query)
    finally:
        for name in made:
            spark.catalog.dropTempView(name)


def _create_view(frame: DataFrame, name: str) -> None:
    try:
        frame.createTempView(quote_name(name))
    except AnalysisException as error:
        if error.getCondition() != "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS":
            raise
        fix = "give the table another name in the query"
        raise UsageError("LP288", f"the session has a temporary view `{name}` already", fix=fix) from error


def _around(spark: SparkSession, plans: Mapping[str, ScanPlan], query: str) -> DataFrame:
    frames = {f"frame_{number}": scan.to_spark(spark) for number, scan in enumerate(plans.values())}
    if not frames:
        return spark.sql(query)
    tables = [f"{_escaped(quote_name(name))} AS (SELECT * FROM {{{frame}}})" for name, frame in zip(plans, frames, strict=True)]
    inside = _escaped(query.rstrip().removesuffix(";"))
    return spark.sql(f"WITH {', '.join(tables)} (\n{inside}\n)", **frames)


def _escaped(text: str) -> str:
    """Text that PySpark's formatter leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")
