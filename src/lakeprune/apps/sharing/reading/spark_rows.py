"""A shared table as a DataFrame of Spark: every file is fetched by a task of its own, on the executors.

In: what the server offered. Out: a DataFrame on which Spark itself applies predicate and limit. Nothing goes through the driver
but the list of files. The reader is sent by value, since executors need pyarrow and not lakeprune.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.sharing.reading import file_reader
from lakeprune.apps.sharing.reading.read import Asking, Request
from lakeprune.values.names import quote_name

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_MOST_TASKS = 10_000


def read_frame(spark: SparkSession, request: Request) -> DataFrame:
    """The rows as a DataFrame; the time zone of the predicate is the session's, unless another one is given."""
    zone = request.session.get("timezone") or spark.conf.get("spark.sql.session.timeZone")
    asked = Asking.of(replace(request, session={**request.session, "timezone": zone}))
    # With a predicate every column is fetched: only Spark knows which of them it reads.
    prepared = asked.prepare(request.columns if request.where is None else None, ())
    frame = _frame(spark, [(json.dumps(prepared.task(file)),) for file in prepared.answer.files], prepared.schema)
    if request.where is not None:
        frame = frame.where(request.where)
    if request.columns is not None:
        frame = frame.select(*map(quote_name, request.columns))
    return frame if request.limit is None else frame.limit(request.limit)


def _frame(spark: SparkSession, tasks: list[tuple[str]], schema: Any) -> DataFrame:
    kept = spark_schema(schema)
    if not tasks:
        return spark.createDataFrame([], kept)
    cloudpickle.register_pickle_by_value(file_reader)  # type: ignore[no-untyped-call]  # PySpark does not type it
    content = schema.serialize().to_pybytes()
    read = file_reader.spark_batches

    def batches(found: Iterable[Any]) -> Iterable[Any]:
        return read(found, content)

    listed = spark.createDataFrame(tasks, "task STRING").repartition(min(_MOST_TASKS, len(tasks)))
    return listed.mapInArrow(batches, kept)


def spark_schema(schema: Any) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
