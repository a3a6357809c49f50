"""The optimised plan of a DataFrame or of SQL text, in a session of its own. Nothing is executed.

In: a DataFrame, or a session and text. Out: plans of the JVM. The user's session keeps its settings, and its plans stay
untouched: the analysed plan is optimised again in a clone. Text that is not a query is refused before it is analysed, because
Spark would run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.lines import unlogged
from lakeprune.engines.spark.nodes import class_name, descendants, is_a
from lakeprune.engines.spark.packages import no_delta
from lakeprune.errors import LakepruneError, PredicateError, TableError, UsageError

_SETTINGS = {
    # A longer list becomes a set, which is asked for its values: the JSON of a list takes time with the square of its length.
    "spark.sql.optimizer.inSetConversionThreshold": "100",
    # Both are decided while a query runs; planned here they would only repeat scans and add conditions nobody wrote.
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
}
_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
_STATEMENTS = (f"{_LOGICAL}.Command", f"{_LOGICAL}.ParsedStatement")
_RUN_EARLY = ("Compound", "ExecuteImmediate")  # scripts, and text that Spark runs while it analyses it
_ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_VERSION_NOT_FOUND")
_LONGEST = 300


class QueryPlan(Struct, frozen=True):
    """A plan of the JVM and the session it was made in."""

    spark: SparkSession
    analyzed: Any
    optimized: Any
    text: str | None  # of the query, None for a DataFrame

    @property
    def zone(self) -> str:
        return str(self.spark.conf.get("spark.sql.session.timeZone"))

    def version_of(self, connector: str) -> str:
        """The version of the connector that reads a format; Spark's own for Parquet."""
        if connector == "delta":
            return str(self.jvm.io.delta.package.VERSION())
        return str(self.jvm.org.apache.iceberg.IcebergBuild.version()) if connector == "iceberg" else str(self.spark.version)

    def again(self, plan: Any) -> Any:
        """Another analysed plan, optimised as this one was."""
        return _planned(self.spark, plan, None).optimized

    @property
    def jvm(self) -> Any:
        return self.spark._jvm  # noqa: SLF001  # PySpark has no other way to a plan


def plan_of_frame(frame: DataFrame, settings: Mapping[str, str] = MappingProxyType({})) -> QueryPlan:
    """The plan that Spark would run for this DataFrame; `settings` are for the planning alone."""
    _check_classic(frame, "DataFrame")
    if frame.isStreaming:
        fix = "explain the table that the stream reads"
        raise TableError("LP345", "no Delta, Iceberg or Parquet table is read here", why="the DataFrame is a stream", fix=fix)
    with query_errors(None):
        spark = _own(frame.sparkSession)
        for key, value in settings.items():
            spark.conf.set(key, value)
        analyzed = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        return _planned(spark, analyzed, None)


def plan_of_text(spark: SparkSession, text: str, zone: str | None = None) -> QueryPlan:
    """The plan of a query; other statements are refused and never run."""
    _check_classic(spark, "session")
    with query_errors(text):
        own = _own(spark)
        if zone is not None:
            own.conf.set("spark.sql.session.timeZone", zone)
        parsed = own._jsparkSession.sessionState().sqlParser().parsePlan(text)  # noqa: SLF001
        _check_query(own, parsed, text)
        return _planned(own, parsed, text)


def _planned(spark: SparkSession, plan: Any, text: str | None) -> QueryPlan:
    mode = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()  # type: ignore[union-attr]  # noqa: SLF001
    execution = spark._jsparkSession.sessionState().executePlan(plan, mode)  # noqa: SLF001
    if text is not None:
        _check_query(spark, execution.analyzed(), text)  # some statements of Delta become commands only here
    return QueryPlan(spark, execution.analyzed(), execution.optimizedPlan(), text)


def _own(spark: SparkSession) -> SparkSession:
    own = clone(spark)
    for key, value in _SETTINGS.items():
        own.conf.set(key, value)
    return own


def _check_classic(given: object, what: str) -> None:
    if type(given).__module__.startswith("pyspark.sql.connect"):
        raise UsageError(
            "LP240",
            f"a {what} of Spark Connect has no plan that can be read: explaining it needs a classic Spark session",
            fix='give the table and the condition: lakeprune.explain(table, "...", spark=spark)',
        )


def _check_query(spark: SparkSession, parsed: Any, text: str) -> None:
    for node in descendants(parsed):
        runs_early = any(word in class_name(node) for word in _RUN_EARLY)
        if runs_early or any(is_a(spark, node, kind) for kind in _STATEMENTS):
            why = "explaining executes nothing, and this would be executed"
            raise UsageError("LP242", "this is a statement, not a query", where=text[:_LONGEST], why=why, fix="give a SELECT")


@contextmanager
def query_errors(text: str | None) -> Iterator[None]:
    """Spark's errors in one line: the stack of a JVM helps nobody who asked about a query."""
    try:
        with unlogged():
            yield
    except (PySparkException, Py4JError) as error:
        raise _failure(error, text) from error


def _failure(error: PySparkException | Py4JError, text: str | None) -> LakepruneError:
    message = _sentence(str(getattr(error, "java_exception", error)).strip())
    if "[DATA_SOURCE_NOT_FOUND]" in message:
        return no_delta(message)
    if text is not None and message.startswith(tuple(f"[{condition}" for condition in _ABSENT)):
        fix = "check the name and the version; a table without a name in the catalog is delta.`/path`"
        return TableError("LP348", "a table of the query is not there", where=text[:_LONGEST], why=message, fix=fix)
    if text is not None:
        fix = "correct the query: it must be one that this Spark session can run"
        return PredicateError("LP109", "Spark cannot plan the query", where=text[:_LONGEST], why=message, fix=fix)
    fix = "check that the DataFrame can still be read; its own explain() says more"
    return TableError("LP346", "Spark cannot plan the DataFrame", why=message, fix=fix)


def _sentence(message: str) -> str:
    """The first line; Delta's messages have line breaks inside a sentence, Spark's go on with a plan."""
    first = message.split("\n\n" if message.startswith("[DELTA_") else "\n", 1)[0]
    return " ".join(first.split())[:_LONGEST]
