"""`lakeprune explain`: flags in, a document on stdout, failed gates on stderr."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from lakeprune.cli.output import deliver, tell, terminal_width
from lakeprune.cli.spark_flags import add_spark_flags, session_of
from lakeprune.cli.store_flags import access_of, add_store_flags, without_values
from lakeprune.cli.values import count, percentage, predicate, size
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.report.model import Report

_EXAMPLES = """\
examples:
  lakeprune explain ./users -w "country = 'DE' AND age > 40"
  lakeprune explain ./users -w "age > 40" --verbose --limit 20
  lakeprune explain ./users -w "country = 'DE'" --min-pruning 60 --max-bytes 10GB
  lakeprune explain ./users --assert-stats --format json
  lakeprune explain s3://lake/users -w "age > 40" --region eu-west-1 --profile lake

exit codes: 0 fine, 1 a gate failed, 2 usage or predicate error, 3 the table cannot be read
"""
_SESSION_AND_GATES = (
    "timezone", "now", "nan_policy",
    "min_pruning", "min_bytes_pruning", "max_files", "max_bytes", "assert_stats", "require_full_attribution",
    "explain_why",
)  # fmt: skip


def run(argv: Sequence[str]) -> int:
    """Explain one predicate; 1 when a gate failed."""
    parser = _parser()
    try:
        given = parser.parse_args(_with_predicates_joined(argv))
    except SystemExit as done:  # argparse ends this way after printing its help
        return int(done.code or EXIT_OK)
    from lakeprune.explanation import Job

    options = {name: value for name in _SESSION_AND_GATES if (value := getattr(given, name)) is not None}
    if given.format == "html":
        options["explain_why"] = True  # a page is read later and by others: it carries every answer
    spark = session_of(given)
    with nullcontext() if spark is None else _shown_progress(spark):
        # Not `explain`, which would close the engine: the process ends anyway.
        job = Job.begin(given.table, given.at_version, given.at_timestamp, {**options, **access_of(given), "spark": spark})
        try:
            (report,) = job.reports([given.where])
            deliver(_chunks(report, given), given.output)
        finally:
            job.close()
    for assertion in report.assertions:
        if not assertion.passed:
            tell(f"ASSERTION FAILED: {assertion.message}")
    return EXIT_OK if report.passed else EXIT_GATE_FAILED


def _shown_progress(spark: SparkSession) -> AbstractContextManager[None]:
    from lakeprune.engines.spark_progress import shown_progress

    return shown_progress(spark)


def _chunks(report: Report, given: argparse.Namespace) -> Iterator[str]:
    if given.format == "json":
        from lakeprune.report.as_json import json_chunks

        return json_chunks(report, verbose=given.verbose, limit=given.limit)
    if given.format == "html":
        from lakeprune.report.html.page import html_chunks

        return html_chunks(report)
    if given.output is None and (width := terminal_width()) is not None:
        from lakeprune.report.as_terminal import terminal_chunks

        return terminal_chunks(report, verbose=given.verbose, limit=given.limit, width=width)
    from lakeprune.report.as_text import text_chunks

    return text_chunks(report, verbose=given.verbose, limit=given.limit)


def _with_predicates_joined(argv: Sequence[str]) -> list[str]:
    """`-w PREDICATE` as one argument, so that a predicate may begin with `-`.

    >>> _with_predicates_joined(["t", "-w", "-x < 5", "--verbose"])
    ['t', '--where=-x < 5', '--verbose']
    """
    joined: list[str] = []
    rest = list(argv)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return [*joined, argument, *rest]
        # `--` starts a comment in SQL, so what begins with it is the next flag and the predicate was forgotten.
        if argument in ("-w", "--where") and rest and not rest[0].startswith("--"):
            argument = f"--where={rest.pop(0)}"
        joined.append(argument)
    return joined


class _Parser(argparse.ArgumentParser):
    """argparse, with help and errors going the way of every other document and error."""

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002  # argparse's signature
        deliver([self.format_help()], None)

    def error(self, message: str) -> NoReturn:
        raise UsageError("LP202", without_values(message), where="lakeprune explain", fix="see `lakeprune explain --help`")


class _Once(argparse.Action):
    """A flag that a second one must not replace silently: a gate would judge half of what was asked."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "given twice; join the conditions with AND")
        setattr(namespace, self.dest, values)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="lakeprune explain",
        description="Explain which files of a table a predicate must read, and why.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("table", metavar="TABLE", help="path or file:// URL of the table, or s3://, az://, abfss://, gs://")
    condition = "SQL condition as in a Spark WHERE clause; @FILE reads it from a file, @- from standard input"
    parser.add_argument("-w", "--where", metavar="PREDICATE", type=predicate, action=_Once, help=condition)
    moment = parser.add_argument_group("which version").add_mutually_exclusive_group()
    moment.add_argument("--at-version", metavar="N", type=count, help="the table at this version")
    moment.add_argument("--at-timestamp", metavar="TIME", help="the table as it was at this time")
    _add_session(parser.add_argument_group("how the predicate is read"))
    _add_output(parser.add_argument_group("output"))
    _add_gates(parser.add_argument_group("gates (exit 1 when one fails)"))
    add_spark_flags(parser.add_argument_group("which engine"))
    add_store_flags(parser)
    return parser


def _add_session(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--timezone", metavar="ZONE", help="session time zone (default UTC)")
    group.add_argument("--now", metavar="TIME", help="what current_date() and current_timestamp() mean (default: the clock)")
    group.add_argument(
        "--nan-policy",
        choices=("guard", "spark-writers"),
        help="guard: NaN may hide outside min/max (default); spark-writers: all writers keep NaN in the maximum",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-v", "--verbose", action="store_true", help="list every file with its verdict and why")
    group.add_argument("--explain-why", action="store_true", help="say why files stay, with numbers and what would help")
    group.add_argument("--limit", metavar="N", type=count, help="with --verbose, list at most N files")
    group.add_argument("--format", choices=("text", "json", "html"), default="text", help="default: text")
    group.add_argument("--output", metavar="FILE", help="write the document to FILE instead of stdout")


def _add_gates(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--min-pruning", metavar="PCT", type=percentage, help="at least this share of files is dropped")
    group.add_argument("--min-bytes-pruning", metavar="PCT", type=percentage, help="at least this share of bytes is dropped")
    group.add_argument("--max-files", metavar="N", type=count, help="at most N files are left to read")
    group.add_argument("--max-bytes", metavar="SIZE", type=size, help="at most SIZE is left to read (500MB, 2GiB)")
    group.add_argument("--assert-stats", action="store_true", help="every file has the statistics that the predicate needs")
    group.add_argument("--require-full-attribution", action="store_true", help="every clause is decided by one kind of evidence")
