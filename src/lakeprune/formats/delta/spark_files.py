"""Exactly these data files of a Delta table, as a DataFrame, through Delta's own connector.

In: a session with a JVM, a table at a version, paths as the log records them. Out: the live rows of those files under the table's
own column names: deletion vectors, column mapping, partition values and widened types are the connector's business. A filter on
`_metadata.file_path` would open every file of the table: this opens no other than those named, and none before an action runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.lines import metadata_column, seq_of_array
from lakeprune.engines.spark.packages import no_delta
from lakeprune.engines.spark.session import active, has_jvm
from lakeprune.errors import TableError, UsageError

FILE = "__lakeprune_file"  # a name that no table has
_BETWEEN = "\x00"  # no path holds it


def read_files(spark: SparkSession, location: str, version: int, paths: Sequence[str]) -> DataFrame:
    """The live rows of these files (each `add.path` as the log has it) of the table at this version."""
    if not has_jvm(spark):
        what = "single files of a Delta table cannot be chosen over Spark Connect, which gives no JVM handle"
        raise UsageError("LP246", what, fix="use a classic session (--master), or verify the whole table without --sample")
    with row_errors(location), active(spark):
        jvm: Any = spark._jvm  # noqa: SLF001  # PySpark has no other way
        none = getattr(getattr(jvm.scala, "None$"), "MODULE$")
        logs = jvm.org.apache.spark.sql.delta.DeltaLog
        if not isinstance(logs, JavaClass):  # a package without classes is what py4j makes of a name that it does not know
            raise no_delta("the class of Delta's log is not there")
        log = logs.forTable(spark._jsparkSession, location)  # noqa: SLF001
        snapshot = snapshot_at(log, version, none)
        adds = snapshot.getSpecificFilesWithStats(_scala_strings(jvm, paths))
        found, asked = int(adds.size()), len(set(paths))
        if found != asked:
            why = f"version {version} has {found} of the {asked} files that were asked for"
            raise TableError("LP342", "files of the log are not among the files that Delta Spark knows", where=location, why=why)
        return DataFrame(log.createDataFrame(snapshot, adds, False, none), spark)


def snapshot_at(log: Any, version: int, none: Any) -> Any:
    """A version of one of Delta's logs; `none` is Scala's None."""
    try:
        return log.getSnapshotAt(version, none, none, False)
    except Py4JError as error:
        if isinstance(error, Py4JJavaError) or "does not exist" not in str(error):
            raise
        return log.getSnapshotAt(version, none, none)  # before Delta 4.1 it has no fourth parameter


def with_file(rows: DataFrame) -> DataFrame:
    """The rows with the URL of the file they lie in, as `FILE`; also of a table with a column of its own named _metadata."""
    return rows.withColumn(FILE, metadata_column(rows, "_metadata").getField("file_path"))


def _scala_strings(jvm: Any, texts: Sequence[str]) -> Any:
    """A Scala Seq of these texts: one call for all of them, not one for each."""
    array = jvm.org.apache.commons.lang3.StringUtils.split(_BETWEEN.join(texts), _BETWEEN)
    return seq_of_array(array, jvm)
