"""What a PySpark DataFrame or a query reads, explained scan by scan.

    >>> import lakeprune.spark
    >>> lakeprune.spark.explain(df)  # doctest: +SKIP
    >>> lakeprune.spark.explain(spark, "SELECT * FROM sales WHERE year(ts) = 2024")  # doctest: +SKIP

Nothing is executed, and the session keeps its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.dataframes.explain_frame import FrameOptions as Options
from lakeprune.apps.dataframes.explain_frame import explain_frame
from lakeprune.apps.sharpen.sharpen import read_table, sharpen_frame
from lakeprune.apps.signature import takes

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.dataframes.model import DataFrameReport
    from lakeprune.apps.sharpen.model import Sharpening

__all__ = ["Options", "explain", "read", "sharpen", "sharpening"]


@takes(Options, explain_why="False: look for no diagnoses")
def explain(source: DataFrame | SparkSession, query: str | None = None, **options: Unpack[Options]) -> DataFrameReport:
    """Every Delta or Parquet scan of a DataFrame or a query: what it must read and why, and what Spark reads instead."""
    return explain_frame(source, query, dict(options))


def sharpen(frame: DataFrame, *, joins: bool = False) -> DataFrame:
    """A DataFrame with the same rows that reads fewer files: its Delta and Iceberg scans carry what their filters imply.

    With `joins`, the small side of a join is read once, here, and the keys it has are conditions on the other side. Where nothing
    can be added the DataFrame itself comes back; `sharpening` says what was added, and what could not be.
    """
    return sharpening(frame, joins=joins).frame


def sharpening(frame: DataFrame, *, joins: bool = False) -> Sharpening:
    """What `sharpen` does, with its findings: the frame, what was added to which scan, what was not, and why."""
    return sharpen_frame(frame, joins=joins)


def read(spark: SparkSession, table: str | os.PathLike[str], where: str | None = None) -> DataFrame:
    """The rows of a table for which the condition is TRUE, read from as few files as its connector can be brought to.

    `table` is the path or URL of a Delta or Iceberg table, or a name in the session's catalog. Over Spark Connect, too.
    """
    return read_table(spark, table, where)
