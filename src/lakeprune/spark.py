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

if TYPE_CHECKING:
    from typing import Unpack

    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.dataframes.model import DataFrameReport

__all__ = ["Options", "explain"]


def explain(source: DataFrame | SparkSession, query: str | None = None, **options: Unpack[Options]) -> DataFrameReport:
    """Every Delta or Parquet scan of a DataFrame or a query: what it must read and why, and what Spark reads instead."""
    return explain_frame(source, query, dict(options))
