"""`lakeprune explain`: flags in, a document on stdout, failed gates on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lakeprune.cli.output import show, tell
from lakeprune.cli.parser import chosen, parsed
from lakeprune.cli.progress import TerminalProgress
from lakeprune.cli.spark_session import advice, session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError

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


def run(argv: Sequence[str]) -> int:
    """Explain one predicate; 1 when a gate failed."""
    given = parsed("explain", "Explain which files of a table a predicate must read, and why.", _EXAMPLES, argv)
    if given.sql is not None:
        from lakeprune.cli.explain_query import run_query

        return run_query(given)
    if given.table is None:
        raise UsageError("LP202", "the following arguments are required: TABLE", where=_PROGRAM, fix=f"see `{_PROGRAM} --help`")
    from lakeprune.apps.explain.explain import Options, opened
    from lakeprune.planning.opening import At

    options = chosen(given, Options.__annotations__)
    if given.format == "html":
        options["explain_why"] = True  # a page is read later and by others: it carries every answer
    if "://" in given.table and sys.stderr is not None and sys.stderr.isatty():
        options["progress"] = TerminalProgress()
    with session_of(given) as options["spark"]:
        # Not `explain`, which would close the engine: the process ends anyway.
        explainer, conditions = opened(given.table, [given.where], At(given.version, given.timestamp), options)
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
