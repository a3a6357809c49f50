"""What differs between the lines of Spark that lakeprune runs on: 3.5, 4.0 and 4.1. The one place that asks for the version.

In: a session, or something of it. Out: the same thing on every line. Before Spark 4 a classic session was the only kind, its
classes were not in a package of their own, and PySpark logged nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyspark
from py4j.java_gateway import JavaClass
from pyspark.sql import Column, DataFrame, SparkSession

if TYPE_CHECKING:
    import pyarrow as pa

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


IS_SPARK_3 = pyspark.__version__.startswith("3.")


def classes_of(jvm: Any) -> Any:
    """The package with the classes of a classic session."""
    sql = jvm.org.apache.spark.sql
    return sql.classic if isinstance(sql.classic.SparkSession, JavaClass) else sql


def frame_of(plan: Any, spark: SparkSession) -> DataFrame:
    """A logical plan of Catalyst as a DataFrame."""
    frames = classes_of(spark._jvm).Dataset  # noqa: SLF001  # PySpark has no other way
    return DataFrame(frames.ofRows(spark._jsparkSession, plan), spark)  # noqa: SLF001


def column_of(expression: Any, jvm: Any) -> Column:
    """An expression of Catalyst as a column."""
    if IS_SPARK_3:
        made: Any = Column
        return made(jvm.org.apache.spark.sql.Column(expression))  # type: ignore[no-any-return]
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(expression))


def seq_of_array(array: Any, jvm: Any) -> Any:
    """A Scala Seq over an array of the JVM, which is not copied."""
    if IS_SPARK_3:
        return jvm.scala.collection.mutable.WrappedArray.make(array)  # Scala 2.12
    return jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(array)


def seq_of_list(listed: Any, jvm: Any) -> Any:
    """A Scala Seq of a Java list."""
    return jvm.org.apache.spark.api.python.PythonUtils.toSeq(listed)


def built(class_: Any, *parts: Any) -> Any:
    """A node of Catalyst. Parts that an older line does not have stand last, and are left out there."""
    (constructor,) = class_._java_lang_class.getConstructors()  # noqa: SLF001  # py4j has no other way
    return class_(*parts[: constructor.getParameterCount()])


def metadata_column(frame: DataFrame, name: str) -> Column:
    """A column of metadata, such as _metadata, also of a table with a column of its own of that name."""
    if hasattr(type(frame), "metadataColumn"):
        return frame.metadataColumn(name)
    made: Any = Column
    return made(frame._jdf.metadataColumn(name))  # type: ignore[no-any-return]  # noqa: SLF001


def arrow_of(frame: DataFrame) -> pa.Table:
    """The rows as an Arrow table."""
    if hasattr(type(frame), "toArrow"):
        return frame.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    rows: Any = frame
    batches = rows._collect_as_arrow()  # noqa: SLF001  # what toArrow of Spark 4 does
    return pa.Table.from_batches(batches, schema=to_arrow_schema(frame.schema))


@contextmanager
def unlogged() -> Iterator[None]:
    """PySpark 4 logs an error of a query, the JVM's stack with it, when it is raised; here one line is enough."""
    if IS_SPARK_3:
        yield
        return
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled
