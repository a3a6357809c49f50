"""The connectors of table formats: their names in Maven for each line of PySpark, and what a session without them says.

Nothing of PySpark is imported.

Spark loads only what was built for it: each line has its own Delta and its own Iceberg. tests/spark/test_spark_lines.py runs the
Delta ones.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from lakeprune.errors import UsageError

NEWEST = "4.1"
_DELTA = {
    "3.5": "io.delta:delta-spark_2.12:3.3.3",
    "4.0": "io.delta:delta-spark_2.13:4.0.1",
    NEWEST: "io.delta:delta-spark_4.1_2.13:4.4.0",
}
_ICEBERG = {
    "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.12.0",
    NEWEST: "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
LINES = tuple(_DELTA)
CONDITIONS = ("DELTA_",)  # how the error conditions of connectors begin
WITHOUT_MERGE = ("3.5",)  # which lacks a function that the source is asked with
OLDEST_MERGING = next(line for line in LINES if line not in WITHOUT_MERGE)


def installed_line() -> str:
    """The line of the installed PySpark; the newest that is known where there is none, which is reported elsewhere."""
    try:
        return line_of(version("pyspark"))
    except PackageNotFoundError:
        return NEWEST


def line_of(text: str) -> str:
    """
    >>> line_of("3.5.9"), line_of("4.1.0.dev3")
    ('3.5', '4.1')
    """
    return ".".join(text.split(".")[:2])


def delta_package(line: str | None = None) -> str:
    """Delta's connector for a line, the installed one unless given."""
    return _known("Delta", _DELTA, line or installed_line())


def iceberg_package(line: str | None = None) -> str:
    """Iceberg's runtime for a line, the installed one unless given."""
    return _known("Iceberg", _ICEBERG, line or installed_line())


def connector_failure(message: str) -> UsageError | None:
    """What Spark's words mean when a connector is missing or only half there; None when they are about something else."""
    if "[DATA_SOURCE_NOT_FOUND]" in message.strip().split("\n", 1)[0]:
        return no_delta(message.strip().split("\n", 1)[0])
    if "DELTA_CONFIGURE_SPARK_SESSION" in message:
        fix = "set spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension before the session starts"
        return UsageError("LP253", "this Spark session does not have Delta's extension", fix=fix)
    return None


def no_delta(why: str) -> UsageError:
    """The session cannot read Delta tables."""
    fix = f"give --packages {delta_package()}, or a session or server that has Delta"
    return UsageError("LP227", "this Spark session has no Delta connector", why=why, fix=fix)


def check_merges(version_: str) -> None:
    """Refuse a MERGE on a version of Spark that it does not run on.

    >>> check_merges("4.0.5")
    """
    if line_of(version_) in WITHOUT_MERGE:
        fix = f"run it on Spark {OLDEST_MERGING} or newer, or give the MERGE to Delta itself; everything else works here"
        raise UsageError("LP263", f"lakeprune's MERGE needs Spark {OLDEST_MERGING}, and this is {version_}", fix=fix)


def _known(format_: str, packages: dict[str, str], line: str) -> str:
    if line not in packages:
        what = f"no {format_} connector for PySpark {line} is known here"
        why = f"lakeprune runs on PySpark {', '.join(LINES)}"
        raise UsageError("LP254", what, why=why, fix="install one of these, or name the connector of yours with --packages")
    return packages[line]
