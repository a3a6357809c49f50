"""`lakeprune explain --sql QUERY --engine spark`: every scan of a query, explained on Spark. Nothing is executed."""

from __future__ import annotations

import argparse

from lakeprune.cli.output import show, tell
from lakeprune.cli.parser import chosen
from lakeprune.cli.spark_session import delta_session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
from lakeprune.storage.access import AccessOptions

_ELSEWHERE = {  # what belongs to a table that is named, and where a query says it
    "table": ("TABLE", "name the table in the query: delta.`/path`"),
    "where": ("--where", "write the condition into the query"),
    "version": ("--at-version", "write VERSION AS OF into the query"),
    "timestamp": ("--at-timestamp", "write TIMESTAMP AS OF into the query"),
    "now": ("--now", "the query has Spark's own clock"),
}


def run_query(given: argparse.Namespace) -> int:
    """Explain one query; 1 when a gate failed on one of its scans."""
    _check(given)
    from lakeprune.apps.dataframes.explain_frame import FrameOptions, explain_frame

    with delta_session_of(given) as spark:
        report = explain_frame(spark, given.sql, chosen(given, FrameOptions.__annotations__))
        show(report, given)
    for number, section in enumerate(report.sections, 1):
        for assertion in section.assertions:
            if not assertion.passed:
                tell(f"ASSERTION FAILED: scan {number}: {assertion.message}")
    return EXIT_OK if report.passed else EXIT_GATE_FAILED


def _check(given: argparse.Namespace) -> None:
    if given.engine != "spark":
        why = "only Spark knows the tables and views that a query names"
        raise UsageError("LP243", "--sql needs Spark, which was not asked for", why=why, fix="add --engine spark")
    for name, (flag, fix) in _ELSEWHERE.items():
        if getattr(given, name) is not None:
            raise UsageError("LP244", f"{flag} and --sql do not go together", fix=fix)
    if chosen(given, AccessOptions.__annotations__):
        fix = "give Spark its own settings with --conf, such as spark.hadoop.fs.s3a.*"
        raise UsageError("LP244", "flags for object stores and --sql do not go together", why="Spark reads the tables", fix=fix)
