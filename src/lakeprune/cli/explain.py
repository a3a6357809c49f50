"""`lakeprune explain`: flags in, a document on stdout, failed gates on stderr. With --sql, every scan of a query on Spark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lakeprune.cli.output import FooterProgress, TerminalProgress, is_listed, shown, tell
from lakeprune.cli.parser import chosen, parsed
from lakeprune.cli.spark_session import advice, delta_session_of, session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from lakeprune.report.gates import Assertion

_EXAMPLES = """\
examples:
  lakeprune explain ./users -w "country = 'DE' AND age > 40"
  lakeprune explain ./users -w "age > 40" --kept --sort size --limit 20
  lakeprune explain ./users -w "country = 'DE'" --min-pruning 60 --max-bytes 10GB
  lakeprune explain ./users --assert-stats --format json
  lakeprune explain s3://lake/users -w "age > 40" --region eu-west-1 --profile lake
  lakeprune explain --engine spark --sql "SELECT * FROM delta.`/lake/users` WHERE age > 40"

exit codes: 0 fine, 1 a gate failed, 2 usage or predicate error, 3 the table cannot be read
"""
_ELSEWHERE = {  # what belongs to a table that is named, and where a query says it
    "table": ("TABLE", "name the table in the query: delta.`/path`"),
    "where": ("--where", "write the condition into the query"),
    "version": ("--at-version", "write VERSION AS OF into the query"),
    "timestamp": ("--at-timestamp", "write TIMESTAMP AS OF into the query"),
    "ref": ("--at-ref", "write VERSION AS OF 'NAME' into the query"),
    "catalog": ("--catalog", "name the table in the query, by a catalog of Spark's"),
    "scan_report": ("--scan-report", "explain the scan's table with -w"),
    "now": ("--now", "the query has Spark's own clock"),
    "kept": ("--kept", "explain the scan's table with -w"),
    "dropped": ("--dropped", "explain the scan's table with -w"),
    "file": ("--file", "explain the scan's table with -w"),
    "sort": ("--sort", "explain the scan's table with -w"),
}


def run(command: str, argv: Sequence[str]) -> int:
    """Explain one predicate, or one query; 1 when a gate failed."""
    given = parsed(command, "Explain which files of a table a predicate must read, and why.", _EXAMPLES, argv)
    return _explain(given) if given.sql is None else _explain_query(given)


def _explain(given: argparse.Namespace) -> int:
    if given.table is None:
        raise UsageError("LP202", "TABLE is missing", where="lakeprune explain", fix="give it, see the examples of --help")
    from lakeprune.apps.explain.opening import DEFAULTS, Options, opened
    from lakeprune.planning.opening import At

    options = {**DEFAULTS, **chosen(given, Options.__annotations__)}
    if given.explain_why is None:
        options["explain_why"] = _is_for_people(given)
    if ("://" in given.table or given.catalog is not None) and sys.stderr is not None and sys.stderr.isatty():
        options["progress"] = TerminalProgress()
    if given.row_groups:
        options["footer_progress"] = FooterProgress()
    with session_of(given) as options["spark"]:
        # Not `explain`, which would close the engine: the process ends anyway.
        explainer, conditions = opened(given.table, [given.where], At(given.version, given.timestamp, given.ref), options)
        try:
            (report,) = explainer.reports(conditions)
            deliver = shown(report, given)
        finally:
            explainer.close()
    deliver()
    if not is_listed(given):
        for name in ("limit", "sort"):
            if getattr(given, name) is not None:
                tell(f"note: --{name} is about the list of files, which was not asked for: add --verbose, --kept or --dropped")
    if (note := advice(given.engine, report.numbers.total.files)) is not None:
        tell(note)
    for remark in report.remarks:
        tell(f"note: {remark}")
    return _judged(("", each) for each in report.assertions)


def _is_for_people(given: argparse.Namespace) -> bool:
    """A page is read later and by others: it carries every answer. A pipe gets what it asks for."""
    if given.format == "text":
        return given.output is None and sys.stdout is not None and sys.stdout.isatty()
    return given.format in ("html", "markdown")


def _explain_query(given: argparse.Namespace) -> int:
    """Nothing is executed."""
    _check_query_flags(given)
    from lakeprune.apps.dataframes.explain_frame import FrameOptions, explain_frame

    with delta_session_of(given) as spark:
        report = explain_frame(spark, given.sql, chosen(given, FrameOptions.__annotations__))
        deliver = shown(report, given)
    deliver()
    for number, section in enumerate(report.sections, 1):
        for remark in () if section.report is None else section.report.remarks:
            tell(f"note: scan {number}: {remark}")
    return _judged((f"scan {n}: ", each) for n, section in enumerate(report.sections, 1) for each in section.assertions)


def _judged(assertions: Iterable[tuple[str, Assertion]]) -> int:
    failed = [f"ASSERTION FAILED: {place}{assertion.message}" for place, assertion in assertions if not assertion.passed]
    for message in failed:
        tell(message)
    return EXIT_GATE_FAILED if failed else EXIT_OK


def _check_query_flags(given: argparse.Namespace) -> None:
    from lakeprune.storage.access import AccessOptions

    if given.engine != "spark":
        why = "only Spark knows the tables and views that a query names"
        raise UsageError("LP243", "--sql needs Spark, which was not asked for", why=why, fix="add --engine spark")
    for name, (flag, fix) in _ELSEWHERE.items():
        if getattr(given, name) is not None:
            raise UsageError("LP244", f"{flag} and --sql do not go together", fix=fix)
    if given.row_groups or given.bloom or given.sample is not None:
        fix = "explain the table itself, with --where"
        raise UsageError("LP244", "flags for row groups and --sql do not go together", fix=fix)
    if given.exhaustive:
        raise UsageError("LP244", "--exhaustive and --sql do not go together", fix="leave it out: Spark reads every manifest")
    if chosen(given, AccessOptions.__annotations__):
        fix = "give Spark its own settings with --conf, such as spark.hadoop.fs.s3a.*"
        raise UsageError("LP244", "flags for object stores and --sql do not go together", why="Spark reads the tables", fix=fix)
