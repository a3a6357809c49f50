"""The table a statement is planned on and the Spark session that will write it.

In: a table, the user's session, options. Out: a `Target`: metadata at one version, and a session of our own, cloned from the
user's, that reads SQL as lakeprune does, in the same time zone. The user's session keeps its settings.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.apps.statements.model import Candidate, Operation
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.failures import row_errors, words_of
from lakeprune.engines.spark.packages import no_delta
from lakeprune.engines.spark.session import active, has_jvm
from lakeprune.errors import StatementError, UsageError
from lakeprune.formats.delta.demand import delta_version
from lakeprune.formats.delta.spark_files import read_files, snapshot_at
from lakeprune.formats.delta.spark_scan import DeltaScan, scan_of
from lakeprune.planning.opened import OpenedTable
from lakeprune.planning.opening import At, located, open_planner
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.predicate.schema import Field, Role
from lakeprune.storage.local import LocalStorage

if TYPE_CHECKING:
    from lakeprune.planning.opened import OpenedTable
    from lakeprune.planning.opening import Table

# How lakeprune reads a predicate; a session that is set otherwise would read another one.
_READING = {
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}


class Target(Struct, frozen=True):
    planner: Planner
    spark: SparkSession
    location: str  # as Delta's connector takes it

    @property
    def version(self) -> int:
        return delta_version(self.planner.facts, "a statement")

    @property
    def moment(self) -> str:
        """The clock of the plan: planning a statement again must not change what it means."""
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.planner.profile.now)).isoformat()

    def uses_vectors(self, operation: Operation) -> bool:
        """Whether Delta hides rows behind deletion vectors instead of rewriting their files."""
        setting = f"spark.databricks.delta.{operation.value}.deletionVectors.persistent"
        return self.planner.facts.features.deletion_vectors_enabled and self.is_set(setting, "true")

    def is_set(self, setting: str, default: str) -> bool:
        return str(self.spark.conf.get(setting, default)).lower() == "true"

    def frame(self) -> DataFrame:
        """The whole table at this version."""
        with active(self.spark):
            return self.spark.read.format("delta").option("versionAsOf", self.version).load(self.location)

    def rows_of(self, files: Sequence[Candidate]) -> DataFrame:
        """The live rows of these files."""
        return read_files(self.spark, self.location, self.version, [file.path for file in files])

    def scan(self, where: str) -> DeltaScan:
        """What Delta itself would scan for a condition."""
        with row_errors(self.location):
            return scan_of(self.spark, self.location, self.version, where)


def open_target(table: Table, spark: SparkSession, options: Mapping[str, Any], version: int | None = None) -> Target:
    """The table at its latest version, or at an older one that is looked at once more."""
    if not hasattr(spark, "sparkContext") and not hasattr(spark, "client"):
        fix = "give spark=SparkSession..., one that has Delta's extension and catalog"
        raise UsageError("LP250", f"a {type(spark).__name__} is not a Spark session", fix=fix)
    if not has_jvm(spark):
        what = "statements need a classic Spark session: Spark Connect gives no handle on Delta's transaction"
        raise UsageError("LP250", what, fix="use --master, or a session that was not made with remote()")
    if isinstance(jvm_of(spark).org.apache.spark.sql.delta.DeltaLog, JavaPackage):  # what py4j makes of a class that is not there
        raise no_delta("the class of Delta's log is not there")
    location, _ = located(table, None)
    place = location.partition("://")
    is_local = not place[1] or place[0].lower() == "file"
    zone = options.get("timezone") or spark.conf.get("spark.sql.session.timeZone")
    profile, _ = profile_of(**{**options, "timezone": zone})
    profile = replace(profile, ansi=spark.conf.get("spark.sql.ansi.enabled") == "true")
    is_current = isinstance(table, OpenedTable) and version is None and table.snapshot.newest_version() == table.version
    asked = table if is_current else location  # a table that was opened earlier may have changed since
    planner = open_planner(asked, At(version), profile, access={}, spark=None if is_local else spark)
    where = f"file://{LocalStorage(location).root}" if is_local else location
    return Target(planner, own_session(spark, profile.zone), where)


def own_session(spark: SparkSession, zone: str) -> SparkSession:
    """A session beside the user's in which a condition means what lakeprune planned."""
    own = clone(spark)
    own.conf.set("spark.sql.session.timeZone", zone)
    for key, value in _READING.items():
        own.conf.set(key, value)
    return own


def mind_padding(target: Target, named: Collection[str], *, reads_padded: bool) -> None:
    """Set the session up for CHAR columns, as far as the conditions name some (in lower case); LP415 where Delta would miss rows.

    Spark pads CHAR on reading and in literals, but Delta's statistics and partition values have no blanks: a statement that skips
    by them misses rows. Delta's DELETE cannot read them padded at all (`reads_padded`), so that it may not look at them.
    """
    if not reads_padded:
        target.spark.conf.set("spark.sql.readSideCharPadding", "false")
    for field in target.planner.facts.schema.fields:
        if not _is_padded(field) or field.name.lower() not in named:
            continue
        if not reads_padded or field.role is Role.PARTITION:
            what = f"Delta compares {field.name} without the blanks that CHAR has in queries: rows would be missed"
            fix = "name other columns in the condition, or make the column a STRING"
            raise StatementError("LP415", what, where=target.planner.facts.location, fix=fix)
        target.spark.conf.set("spark.databricks.delta.stats.skipping", "false")


def _is_padded(field: Field) -> bool:
    return field.type.collation == "CHAR" or any(map(_is_padded, field.children))


def check_writable(target: Target, *, only_inserts: bool = False) -> None:
    """Refuse, before anything is planned, a table that the statement may not change (LP407, LP408, LP409)."""
    facts = target.planner.facts
    if not only_inserts and facts.configuration.get("delta.appendOnly", "").lower() == "true":
        why = "its property delta.appendOnly is true"
        raise StatementError("LP407", "the table only takes new rows", where=facts.location, why=why)
    with row_errors(target.location):
        log = jvm_of(target.spark).org.apache.spark.sql.delta.DeltaLog.forTable(target.spark._jsparkSession, target.location)  # noqa: SLF001
        none = scala_object(jvm_of(target.spark).scala, "None")
        protocol = snapshot_at(log, target.version, none).protocol()
    try:
        log.protocolWrite(protocol)
    except (PySparkException, Py4JError) as error:
        why = words_of(error).strip().split("\n", 1)[0]
        raise StatementError("LP408", "this Delta connector cannot write the table", where=facts.location, why=why) from error
    _check_permitted(target, log)


def jvm_of(spark: SparkSession) -> Any:
    return spark._jvm  # noqa: SLF001  # PySpark has no other way


def scala_object(package: Any, name: str) -> Any:
    return getattr(getattr(package, f"{name}$"), "MODULE$")


def delta_table(spark: SparkSession, location: str) -> Any:
    """Delta's own handle on the table, in the JVM."""
    return jvm_of(spark).io.delta.tables.DeltaTable.forPath(spark._jsparkSession, location)  # noqa: SLF001


def _check_permitted(target: Target, log: Any) -> None:
    fix = "run it as somebody who may write the table"
    if target.location.startswith("file://"):
        root = target.location.removeprefix("file://")
        for folder in (root, f"{root}/_delta_log"):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise StatementError("LP409", "the table cannot be written: permission denied", where=folder, fix=fix)
        return
    place, actions = log.logPath(), jvm_of(target.spark).org.apache.hadoop.fs.permission.FsAction
    try:
        place.getFileSystem(log.newDeltaHadoopConf()).access(place, actions.WRITE)
    except Py4JError as error:
        why = words_of(error).strip().split("\n", 1)[0]
        raise StatementError("LP409", "the table cannot be written", where=target.location, why=why, fix=fix) from error
