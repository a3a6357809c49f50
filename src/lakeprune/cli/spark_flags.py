"""The flags that say which engine reads the metadata, and where Spark runs; every command that can use Spark has them."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
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
_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")


def add_engine_flags(group: argparse._ArgumentGroup) -> None:
    """Which engine, and where Spark runs."""
    where = (
        "duckdb: in this process; spark: on Spark, for logs that no one machine should read; "
        f"auto: in this process, and say so when Spark would serve better, from {SERVED_BETTER_FROM:,} files (default: auto)"
    )
    group.add_argument("--engine", choices=("auto", "duckdb", "spark"), default="auto", help=where)
    add_spark_flags(group)


def add_spark_flags(group: argparse._ArgumentGroup) -> None:
    """Where Spark runs, for a command that always does."""
    place = group.add_mutually_exclusive_group()
    place.add_argument("--master", metavar="M", help="Spark master (default: local[*])")
    place.add_argument("--remote", metavar="URL", help="Spark Connect server, sc://host:port")
    group.add_argument("--conf", metavar="K=V", action="append", default=[], type=setting, help="Spark setting; may be repeated")
    group.add_argument("--packages", metavar="LIST", help="Maven coordinates that Spark resolves, with commas between")
    group.add_argument("--spark-log", metavar="LEVEL", choices=_LEVELS, help=f"show Spark's own log: {', '.join(_LEVELS)}")


def setting(text: str) -> tuple[str, str]:
    """A setting as key and value.

    >>> setting("spark.executor.memory=2g")
    ('spark.executor.memory', '2g')
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"`{text}` is no setting, which has a name and a value with `=` between")
    return key.strip(), value


def session_of(given: argparse.Namespace) -> SparkSession | None:
    """The session the flags ask for, None when this process reads the metadata itself."""
    if given.engine != "spark":
        flags = ("master", "remote", "conf", "packages", "spark_log")
        if named := [f"--{flag.replace('_', '-')}" for flag in flags if getattr(given, flag)]:
            raise UsageError("LP226", f"{named[0]} is for Spark, which was not asked for", fix="add --engine spark")
        return None
    return open_session_of(given)


def advice(engine: str, files: int) -> str | None:
    """What to say about the engine after a log of so many files was read in this process; None when nothing is.

    >>> advice("auto", 6)
    >>> advice("auto", 30_000_000)
    'note: this log has 30,000,000 files; with a cluster at hand, --engine spark --master M shares the reading'
    """
    if engine != "auto" or files < SERVED_BETTER_FROM:
        return None
    return f"note: this log has {files:,} files; with a cluster at hand, --engine spark --master M shares the reading"


def delta_session_of(given: argparse.Namespace) -> SparkSession:
    """The same with Delta's connector in it, unless a server or the settings bring one."""
    if given.remote is None:
        given.packages = ",".join(filter(None, [_DELTA, given.packages]))
        given.conf = [*_DELTA_SETTINGS, *given.conf]
    return open_session_of(given)


def open_session_of(given: argparse.Namespace) -> SparkSession:
    from lakeprune.engines.spark.session import SparkSettings, open_session

    return open_session(SparkSettings(given.master, given.remote, tuple(given.conf), given.packages, given.spark_log))


def shown_progress(spark: SparkSession | None) -> AbstractContextManager[None]:
    """What Spark does, on a terminal; nothing without Spark."""
    if spark is None:
        return nullcontext()
    from lakeprune.engines.spark import progress as spark_progress

    return spark_progress.shown_progress(spark)
