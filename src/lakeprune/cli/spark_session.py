"""The Spark session that the flags ask for: quiet, in the time zone of every other command, and without a trace on the disk.

What the user gives with --conf wins over every setting here.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from lakeprune.cli.output import tell
from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.engines.spark.session import SparkSettings

_DELTA_SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)
_ZONE = ("spark.sql.session.timeZone", "UTC")
_SMALL_LOG = 16 << 20  # bytes of a Delta log on disk whose state fits into two partitions
SERVED_BETTER_FROM = 20_000_000  # files: half a minute embedded, on two cores
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")


def session_of(given: argparse.Namespace) -> AbstractContextManager[SparkSession | None]:
    """The session the flags ask for, its progress shown on a terminal; None when this process reads the metadata itself."""
    if given.engine == "spark":
        add_iceberg(given)
        return _session_of(given)
    for flag in ("master", "remote", "conf", "packages", "spark_log"):
        if getattr(given, flag):
            what = f"--{flag.replace('_', '-')} is for Spark, which was not asked for"
            raise UsageError("LP226", what, fix="add --engine spark")
    return nullcontext()


def delta_session_of(given: argparse.Namespace) -> AbstractContextManager[SparkSession]:
    """The same with Delta's connector in it, unless a server or the settings bring one."""
    add_iceberg(given)
    if given.remote is None:
        if "delta-" not in (given.packages or ""):
            from lakeprune.engines.spark.packages import delta_package

            given.packages = ",".join(filter(None, [delta_package(), given.packages]))
        given.conf = [*_DELTA_SETTINGS, *given.conf]
    return _session_of(given)


def add_iceberg(given: argparse.Namespace) -> None:
    """Iceberg's runtime for an Iceberg table of this machine; of others it is not known yet what they are."""
    brought = [given.packages or "", *(value for _, value in given.conf)]
    if given.remote is None and not any("iceberg-spark-runtime" in names for names in brought) and _is_iceberg(given.table):
        from lakeprune.engines.spark.packages import iceberg_package

        given.packages = ",".join(filter(None, [iceberg_package(), given.packages]))


def _is_iceberg(table: str | None) -> bool:
    from lakeprune.planning.opening import path_of

    place = path_of(table or "").removeprefix("file://")
    if place.endswith((".metadata.json", ".metadata.json.gz")):
        return True
    try:
        return any(".metadata.json" in name for name in os.listdir(os.path.join(place, "metadata")))
    except (OSError, ValueError):
        return False


def is_of_this_machine(given: argparse.Namespace) -> bool:
    """Whether Spark runs in a process of ours, and sees the files that we see."""
    return given.remote is None and str(given.master or "local").startswith("local")


def use_given_zone(given: argparse.Namespace) -> None:
    """A time zone that was given to Spark is that of the command, unless the command has its own."""
    if getattr(given, "timezone", "") is None:
        given.timezone = dict(getattr(given, "conf", ())).get(_ZONE[0])


@contextmanager
def _session_of(given: argparse.Namespace) -> Iterator[SparkSession]:
    import tempfile

    from lakeprune.engines.spark.progress import shown_progress
    from lakeprune.engines.spark.session import open_session

    with tempfile.TemporaryDirectory(prefix="lakeprune-") as scratch:
        with _announced(given):
            spark = open_session(settings_of(given, scratch))
        with shown_progress(spark):
            yield spark


def settings_of(given: argparse.Namespace, scratch: str) -> SparkSettings:
    """What a session is opened with; of two settings with one name the later counts."""
    from lakeprune.engines.spark.session import SparkSettings

    conf = (_ZONE, *_local_settings(given, scratch), *given.conf)
    return SparkSettings(given.master, given.remote, conf, given.packages, given.spark_log)


def _local_settings(given: argparse.Namespace, scratch: str) -> Iterator[tuple[str, str]]:
    """What a Spark of our own is given: no folder in the working directory, few tasks where there is little to do."""
    if not is_of_this_machine(given):
        return
    yield "spark.sql.warehouse.dir", scratch
    if given.table is not None and _has_small_log(given.table):
        yield "spark.databricks.delta.snapshotPartitions", "2"
        if not hasattr(given, "source"):  # a MERGE shuffles rows, everything else one row for each file
            yield "spark.sql.shuffle.partitions", "4"


def _has_small_log(table: str) -> bool:
    from lakeprune.planning.opening import path_of

    size = 0
    try:
        with os.scandir(os.path.join(path_of(table).removeprefix("file://"), "_delta_log")) as entries:
            for entry in entries:
                size += entry.stat().st_size
                if size > _SMALL_LOG:
                    return False
    except (OSError, ValueError):
        return False
    return True


@contextmanager
def _announced(given: argparse.Namespace) -> Iterator[None]:
    """That Spark starts, which takes a while: a line on stderr, which a terminal loses again."""
    from lakeprune.engines.spark.session import place_of

    if sys.stderr is None or not sys.stderr.isatty():
        verb, fetched = "starting", "; its packages are fetched the first time" if given.packages else ""
        if given.remote is not None:
            verb = "connecting to"
        tell(f"{verb} Spark ({place_of(given.master, given.remote)}){fetched}")
        yield
        return
    sys.stderr.write("Spark: starting")
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def advice(engine: str, files: int) -> str | None:
    """A note on the engine after a log of so many files was read in this process; None when there is nothing to note.

    >>> advice("auto", 6)
    >>> advice("auto", 30_000_000)
    'note: this log has 30,000,000 files; with a cluster at hand, --engine spark --master M shares the work'
    """
    if engine != "auto" or files < SERVED_BETTER_FROM:
        return None
    return f"note: this log has {files:,} files; with a cluster at hand, --engine spark --master M shares the work"
