"""The Spark session that the flags ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
_DELTA_SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)
SERVED_BETTER_FROM = 20_000_000  # files: half a minute embedded, on two cores
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")


def session_of(given: argparse.Namespace) -> AbstractContextManager[SparkSession | None]:
    """The session the flags ask for, its progress shown on a terminal; None when this process reads the metadata itself."""
    if given.engine == "spark":
        return _session_of(given)
    for flag in ("master", "remote", "conf", "packages", "spark_log"):
        if getattr(given, flag):
            what = f"--{flag.replace('_', '-')} is for Spark, which was not asked for"
            raise UsageError("LP226", what, fix="add --engine spark")
    return nullcontext()


def delta_session_of(given: argparse.Namespace) -> AbstractContextManager[SparkSession]:
    """The same with Delta's connector in it, unless a server or the settings bring one."""
    if given.remote is None:
        given.packages = ",".join(filter(None, [_DELTA, given.packages]))
        given.conf = [*_DELTA_SETTINGS, *given.conf]
    return _session_of(given)


@contextmanager
def _session_of(given: argparse.Namespace) -> Iterator[SparkSession]:
    from lakeprune.engines.spark.progress import shown_progress
    from lakeprune.engines.spark.session import SparkSettings, open_session

    settings = SparkSettings(given.master, given.remote, tuple(given.conf), given.packages, given.spark_log)
    spark = open_session(settings)
    with shown_progress(spark):
        yield spark


def advice(engine: str, files: int) -> str | None:
    """A note on the engine after a log of so many files was read in this process; None when there is nothing to note.

    >>> advice("auto", 6)
    >>> advice("auto", 30_000_000)
    'note: this log has 30,000,000 files; with a cluster at hand, --engine spark --master M shares the work'
    """
    if engine != "auto" or files < SERVED_BETTER_FROM:
        return None
    return f"note: this log has {files:,} files; with a cluster at hand, --engine spark --master M shares the work"
