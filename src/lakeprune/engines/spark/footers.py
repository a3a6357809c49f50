"""Footers as a job of Spark: so many files that one process would take long are read by all executors.

In: paths, and where executors find them. Out: a DataFrame of footer_reader.SCHEMA. The reader is sent by value, since executors
need not have lakeprune.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.engines.spark import footer_reader
from lakeprune.errors import TableError

_PER_TASK = 16
_MOST_TASKS = 10_000


def footers_frame(spark: SparkSession, paths: Sequence[str], urls: Sequence[str]) -> DataFrame:
    """The footers of these files, one task for a few of them."""
    cloudpickle.register_pickle_by_value(footer_reader)  # type: ignore[no-untyped-call]  # PySpark does not type it
    tasks = min(_MOST_TASKS, -(-len(paths) // _PER_TASK))
    listed = spark.createDataFrame(list(zip(paths, urls, strict=True)), "file STRING, url STRING").repartition(tasks)
    return listed.mapInArrow(footer_reader.read_batches, footer_reader.SCHEMA)


def first_problem(spark: SparkSession, view: str) -> list[Any]:
    """A file whose footer could not be read, and why. The first query on the view: it reads the footers."""
    try:
        return spark.sql(f"SELECT file, problem FROM {view} WHERE problem IS NOT NULL LIMIT 1").collect()
    except PySparkException as error:
        if "No module named 'pyarrow'" not in str(error):
            raise
        why = "footers are read by Python workers on executors"
        fix = "install pyarrow there, set PYSPARK_PYTHON to a Python that has it, or explain without Spark"
        raise TableError("LP354", "the Python of Spark's executors has no pyarrow", why=why, fix=fix) from error
