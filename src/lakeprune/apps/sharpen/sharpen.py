"""The application behind `lakeprune.spark.sharpen`: the same rows, fewer files.

In: a DataFrame, or a session and a table. Out: a `Sharpening`. Nothing is executed, except the small side of a join where that
was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.sharpen.model import Sharpening


def sharpen_frame(frame: Any, *, joins: bool = False) -> Sharpening:
    """The DataFrame with conditions beside its own that its connectors can use."""
    if not hasattr(frame, "sparkSession"):
        raise UsageError("LP264", f"{type(frame).__name__} cannot be sharpened", fix="give a DataFrame")
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise UsageError(
            "LP265",
            "a DataFrame of Spark Connect has no plan that can be rebuilt: sharpening it needs a classic Spark session",
            fix='name the table instead: lakeprune.spark.read(spark, table, where="...")',
        )
    from lakeprune.apps.sharpen.spark_sharpen import sharpened

    return sharpened(frame, joins=joins)


def read_table(spark: SparkSession, table: Any, where: str | None) -> DataFrame:
    """The rows of a table under a condition, sharpened; over Spark Connect by conditions that stand in the query itself."""
    if not hasattr(spark, "createDataFrame"):
        raise UsageError("LP264", f"{type(spark).__name__} is not a Spark session", fix="give the session first, then the table")
    from lakeprune.apps.sharpen.spark_read import read_sharpened

    return read_sharpened(spark, table, where)
