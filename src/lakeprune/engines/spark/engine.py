"""Spark as the engine: the same queries as the embedded one, run by the user's cluster.

In: SQL text around the dialect. Out: rows; a query over files brings home patterns, one row per file only when files are listed,
and then partition by partition. Works on a session of its own, cloned from the user's, whose settings stay as they are. Never
asks for a JVM handle, so that it also runs over Spark Connect; sends no Python to executors but the reader of footers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, DecimalType, StructType

from lakeprune.engines.dialect import Shape
from lakeprune.engines.engine import Engine, EngineError, Footers, ManifestEntries, ReadFooters, Row, Truth, Typed
from lakeprune.engines.spark.dialect import Spark3Dialect, SparkDialect
from lakeprune.engines.spark.lines import IS_SPARK_3, arrow_of
from lakeprune.storage.storage import Storage

if TYPE_CHECKING:
    import pyarrow as pa

# Whatever the user's session is set to, metadata is read one way.
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",  # a statistic that overflows is a missing one, not an error
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",  # a bound that loses digits no longer bounds
    # Decimals of two scales are compared in the finer one: in the coarser 0.01 is 0, and `cents <> whole` would drop the file.
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "true",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parser.doubleQuotedIdentifiers": "false",
    "spark.sql.json.enablePartialResults": "true",  # one odd statistic does not take the others with it
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "true",  # of a checkpoint only the needed fields are read
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.debug.maxToStringFields": "25",
    "spark.sql.constraintPropagation.enabled": "false",  # a filter that is inferred parses every line of the log again
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",  # not one task per commit
}
# Hidden .crc files beside local ones are Hadoop's own; a table that was copied or repaired has stale ones.
_RAW_FILES = {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.file.impl.disable.cache": "true"}
_TYPE_NAMES = {
    "string": "STRING", "binary": "BINARY", "boolean": "BOOLEAN", "byte": "TINYINT", "short": "SMALLINT", "integer": "INTEGER",
    "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "date": "DATE",
    "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP",
}  # fmt: skip


class SparkEngine(Engine):
    name = "spark"
    dialect: SparkDialect

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self.dialect = Spark3Dialect() if IS_SPARK_3 else SparkDialect()
        with _engine_errors():
            self._spark = _own_session(spark)
        self._user = spark
        self._is_remote = type(spark).__module__.startswith("pyspark.sql.connect")
        self._views: dict[tuple[str, ...], str] = {}
        self._fields: dict[tuple[str, ...], StructType] = {}
        self._kept: list[tuple[str, DataFrame]] = []
        self._footers: dict[tuple[str, ...], ReadFooters] = {}  # among what is kept
        self._numbers = count(1)

    def storage(self, location: str) -> Storage | None:
        """A classic session's driver is this process: it sees local files as anybody does."""
        scheme, separator, _ = location.partition("://")
        is_local = not separator or scheme.lower() == "file"
        if is_local and not self._is_remote:
            return None
        from lakeprune.engines.spark.storage import SparkStorage

        return SparkStorage(self._spark, f"file://{location}" if location.startswith("/") else location)

    def query(self, sql: str) -> list[Row]:
        with _engine_errors():
            return [tuple(row) for row in self._spark.sql(sql).collect()]

    def stream(self, sql: str) -> Iterator[Row]:
        with _engine_errors():
            for row in self._spark.sql(sql).toLocalIterator(prefetchPartitions=True):
                yield tuple(row)

    def arrow(self, sql: str) -> pa.Table:
        with _engine_errors():
            return arrow_of(self._spark.sql(sql))

    def json_source(self, paths: Sequence[str], shape: Shape, *, largest_file: int) -> str:  # noqa: ARG002  Spark reads by lines
        key = ("text", *paths)
        if key not in self._views:
            with _engine_errors():
                lines = self._reader().option("lineSep", "\n").text(_urls(paths))
                self._views[key] = self._view(lines.selectExpr("_metadata.file_path AS filename", "value AS line"))
        # The permissive mode would turn a broken line into an object without fields.
        no_object = self.dialect.fail("a line is not a JSON object")
        checked = f"CASE WHEN startswith(ltrim(line), '{{') THEN line ELSE {no_object} END"
        schema = self.dialect.text(self.dialect.schema_text(shape))
        parsed = f"from_json({checked}, {schema}, map('mode', 'FAILFAST'))"
        fields = ", ".join(f"action.{self.dialect.identifier(name)}" for name in shape)
        lines_sql = f"SELECT filename, {parsed} AS action FROM {self._views[key]} WHERE trim(line) <> ''"
        return f"(SELECT {fields}, filename FROM ({lines_sql}))"

    def parquet_source(self, paths: Sequence[str]) -> str:
        key = ("parquet", *paths)
        if key not in self._views:
            schema = self._schema(paths)
            with _engine_errors():
                self._views[key] = self._view(self._reader().schema(schema).parquet(*_urls(paths)))
        return self._views[key]

    def parquet_fields(self, paths: Sequence[str]) -> dict[str, Any]:
        return {field.name: _type_name(field.dataType) for field in self._schema(paths).fields}

    def manifest_entries(self, metadata: str, snapshot_id: int, fields: Mapping[int, str]) -> ManifestEntries | None:
        from lakeprune.engines.spark.entries import entries_of, no_runtime

        (place,) = _urls([metadata])
        # Iceberg's rows give NULL for timestamps without a zone to expressions that Spark interprets; compiled ones read them.
        self._spark.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY")
        try:
            with _engine_errors(), self._checked_files():
                frame, types = entries_of(self._spark, place, snapshot_id, fields)
                return ManifestEntries(self._view(frame), types)
        except EngineError as error:
            if "[DATA_SOURCE_NOT_FOUND]" in str(error):
                raise no_runtime(str(error)) from error
            raise

    def footers(self, paths: Sequence[str]) -> Footers:
        key = ("footers", *paths)
        if key not in self._footers:
            self._footers[key] = self.read_footers(paths)
        read = self._footers[key]
        names = ("rows", "num_values", "min_text", "max_text", "is_max_exact", "nulls", "nans", "has_type_order")
        chunks = (
            f"SELECT c.file AS file, c.column_path AS column_path, {', '.join(f'c.{name} AS {name}' for name in names)}, "
            f"f.created_by AS created_by FROM {read.chunks} AS c JOIN {read.files} AS f ON c.file = f.file"
        )
        schemas = f"SELECT elements, min(file) AS file FROM {read.files} GROUP BY elements"
        julian = f"(SELECT file FROM {read.files} WHERE is_julian)"
        return Footers(f"(SELECT file, rows FROM {read.files})", julian, f"({schemas})", f"({chunks})")

    def read_footers(self, paths: Sequence[str]) -> ReadFooters:
        from lakeprune.engines.spark.footers import first_problem, footers_frame

        with _engine_errors():
            frame = footers_frame(self._spark, paths, _urls(paths)).persist()
            name = self._view(frame)
            self._kept.append((name, frame))
            problems = first_problem(self._spark, name)
        if problems:
            raise EngineError(": ".join(problems[0]))
        files = f"(SELECT file, file_rows AS rows, created_by, elements, is_julian FROM {name} WHERE leaf IS NULL)"
        return ReadFooters(files, f"(SELECT * FROM {name} WHERE leaf IS NOT NULL)")

    def evaluates(self, condition: Typed) -> bool:
        from lakeprune.engines.spark.conditions import Conditions

        return Conditions(self._user).evaluates(condition)

    def truths(self, condition: Typed, rows: Sequence[Sequence[str | None]]) -> list[Truth]:
        from lakeprune.engines.spark.conditions import Conditions

        return Conditions(self._user).truths(condition, rows)

    def lookup(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Row]) -> str:
        schema = ", ".join(f"{self.dialect.identifier(name)} {kind}" for name, kind in zip(columns, types, strict=True))
        with _engine_errors():
            return self._view(self._spark.createDataFrame(list(rows), schema))

    def kept(self, sql: str, where: str = "") -> str:
        # Spark would write the definition of every column into the condition, and theirs into them: seconds of planning.
        # Beside a column that has another value at each call it leaves the condition where it is.
        barrier = f"SELECT * FROM (SELECT *, monotonically_increasing_id() AS barrier FROM ({sql}) AS f) AS f WHERE {where}"
        with _engine_errors():
            frame = self._spark.sql(barrier if where else sql).persist()
            name = self._view(frame)
        self._kept.append((name, frame))
        return name

    def _schema(self, paths: Sequence[str]) -> StructType:
        key = tuple(paths)
        if key not in self._fields:
            with _engine_errors():
                merged = "true" if len(paths) > 1 else "false"
                self._fields[key] = self._reader().option("mergeSchema", merged).parquet(*_urls(paths)).schema
        return self._fields[key]

    def _reader(self) -> Any:
        """A reader that takes paths as they are written: `[1]` in a directory's name is not a pattern."""
        return self._spark.read.option("__globPaths__", "false").option("recursiveFileLookup", "false")

    def _view(self, frame: DataFrame) -> str:
        name = f"lakeprune_{id(self):x}_{next(self._numbers)}"
        frame.createOrReplaceTempView(name)
        return name

    @contextmanager
    def _checked_files(self) -> Iterator[None]:
        """What is loaded inside reads local files as Hadoop does by itself: Iceberg's runtime knows no other way."""
        for key in _RAW_FILES:
            self._spark.conf.unset(key)
        try:
            yield
        finally:
            for key, value in _RAW_FILES.items():
                self._spark.conf.set(key, value)

    def _let_go(self) -> None:
        # A session that has ended has let go of everything by itself.
        with suppress(PySparkException, Py4JError):
            for name, frame in self._kept:
                frame.unpersist()
                self._spark.catalog.dropTempView(name)
        self._kept.clear()
        self._footers.clear()


def clone(spark: SparkSession) -> SparkSession:
    """A session with the settings of this one, which can be changed without it."""
    if hasattr(spark, "cloneSession"):  # Spark Connect
        remote: Any = spark
        cloned: SparkSession = remote.cloneSession()
        for listener in remote.client._progress_handlers:  # noqa: SLF001  # who listens to the one wants to hear of the other
            cloned.registerProgressHandler(listener)
        return cloned
    return SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())  # noqa: SLF001  # PySpark has no other way


def _own_session(spark: SparkSession) -> SparkSession:
    own = clone(spark)
    for key, value in (_SETTINGS | _RAW_FILES).items():
        own.conf.set(key, value)
    return own


def _urls(paths: Sequence[str]) -> list[str]:
    """Local paths as URLs: on a cluster a bare path would be looked for in its default file system."""
    return [f"file://{path}" if path.startswith("/") else path for path in paths]


def _type_name(kind: DataType) -> Any:
    if isinstance(kind, StructType):
        return {field.name: _type_name(field.dataType) for field in kind.fields}
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _TYPE_NAMES.get(kind.typeName(), kind.simpleString().upper())


@contextmanager
def _engine_errors() -> Iterator[None]:
    """Spark's errors as those of every engine, in one line: the stack of a JVM helps nobody who asked about a table."""
    try:
        yield
    except PySparkException as error:
        raise EngineError(_first_line(str(error))) from error
    except Py4JError as error:
        raise EngineError(_first_line(str(getattr(error, "java_exception", error)))) from error


def _first_line(message: str) -> str:
    return message.strip().split("\n", 1)[0]
