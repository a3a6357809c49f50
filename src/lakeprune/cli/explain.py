"""`lakeprune explain`: flags in, a document on stdout, failed gates on stderr."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lakeprune.cli.output import show, tell
from lakeprune.cli.question import Parser, add_question, parsed
from lakeprune.cli.spark_flags import add_engine_flags, advice, session_of, shown_progress
from lakeprune.cli.store_flags import access_of, add_store_flags
from lakeprune.cli.values import count, percentage, size
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
from lakeprune.render.registry import formats

_EXAMPLES = """\
examples:
  lakeprune explain ./users -w "country = 'DE' AND age > 40"
  lakeprune explain ./users -w "age > 40" --verbose --limit 20
  lakeprune explain ./users -w "country = 'DE'" --min-pruning 60 --max-bytes 10GB
  lakeprune explain ./users --assert-stats --format json
  lakeprune explain s3://lake/users -w "age > 40" --region eu-west-1 --profile lake
  lakeprune explain --engine spark --sql "SELECT * FROM delta.`/lake/users` WHERE age > 40"

exit codes: 0 fine, 1 a gate failed, 2 usage or predicate error, 3 the table cannot be read
"""
_PROGRAM = "lakeprune explain"
_SESSION_AND_GATES = (
    "timezone", "now", "nan_policy",
    "min_pruning", "min_bytes_pruning", "max_files", "max_bytes", "assert_stats", "require_full_attribution",
    "explain_why",
)  # fmt: skip


def run(argv: Sequence[str]) -> int:
    """Explain one predicate; 1 when a gate failed."""
    given = parsed(_parser(), argv)
    if isinstance(given, int):
        return given
    if given.sql is not None:
        from lakeprune.cli.explain_query import run_query

        return run_query(given)
    if given.table is None:
        raise UsageError("LP202", "the following arguments are required: TABLE", where=_PROGRAM, fix=f"see `{_PROGRAM} --help`")
    from lakeprune.apps.explain.explain import opened
    from lakeprune.planning.opening import At

    options = {name: value for name in _SESSION_AND_GATES if (value := getattr(given, name)) is not None}
    if given.format == "html":
        options["explain_why"] = True  # a page is read later and by others: it carries every answer
    spark = session_of(given)
    with shown_progress(spark):
        # Not `explain`, which would close the engine: the process ends anyway.
        at = At(given.at_version, given.at_timestamp)
        explainer, conditions = opened(given.table, [given.where], at, {**options, **access_of(given), "spark": spark})
        try:
            (report,) = explainer.reports(conditions)
            show(report, given)
        finally:
            explainer.close()
    if (note := advice(given.engine, report.numbers.total.files)) is not None:
        tell(note)
    for assertion in report.assertions:
        if not assertion.passed:
            tell(f"ASSERTION FAILED: {assertion.message}")
    return EXIT_OK if report.passed else EXIT_GATE_FAILED


def _parser() -> Parser:
    parser = Parser("explain", "Explain which files of a table a predicate must read, and why.", _EXAMPLES)
    add_question(parser, is_required=False, needs_table=False)
    query = "explain every scan of this query instead of TABLE; needs --engine spark, and executes nothing"
    parser.add_argument("--sql", metavar="QUERY", help=query)
    _add_output(parser.add_argument_group("output"))
    _add_gates(parser.add_argument_group("gates (exit 1 when one fails)"))
    add_engine_flags(parser.add_argument_group("which engine"))
    add_store_flags(parser)
    return parser


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-v", "--verbose", action="store_true", help="list every file with its verdict and why")
    group.add_argument("--explain-why", action="store_true", help="say why files stay, with numbers and what would help")
    group.add_argument("--limit", metavar="N", type=count, help="with --verbose, list at most N files")
    group.add_argument("--format", choices=formats("explain"), default="text", help="default: text")
    group.add_argument("--output", metavar="FILE", help="write the document to FILE instead of stdout")


def _add_gates(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--min-pruning", metavar="PCT", type=percentage, help="at least this share of files is dropped")
    group.add_argument("--min-bytes-pruning", metavar="PCT", type=percentage, help="at least this share of bytes is dropped")
    group.add_argument("--max-files", metavar="N", type=count, help="at most N files are left to read")
    group.add_argument("--max-bytes", metavar="SIZE", type=size, help="at most SIZE is left to read (500MB, 2GiB)")
    group.add_argument("--assert-stats", action="store_true", help="every file has the statistics that the predicate needs")
    group.add_argument("--require-full-attribution", action="store_true", help="every clause is decided by one kind of evidence")
