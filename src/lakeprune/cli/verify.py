"""`lakeprune verify`: a plan confronted with the rows on Spark; 1 when a file contradicts its verdict."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.output import deliver, tell
from lakeprune.cli.question import SESSION, Parser, add_question, parsed
from lakeprune.cli.spark_flags import add_spark_flags, delta_session_of, shown_progress
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK
from lakeprune.report.amount import files_text

_EXAMPLES = """\
examples:
  lakeprune verify ./users -w "country = 'DE' AND age > 40"
  lakeprune verify s3a://lake/users -w "age > 40" --master spark://host:7077 --packages org.apache.hadoop:hadoop-aws:3.4.2
  lakeprune verify ./users -w "age > 40" --format json

exit codes: 0 the rows agree, 1 a file contradicts its verdict, 2 usage or predicate error, 3 the table cannot be read
"""


def run(argv: Sequence[str]) -> int:
    """Verify one plan; 1 when the rows contradict it."""
    given = parsed(_parser(), argv)
    if isinstance(given, int):
        return given
    spark = delta_session_of(given)
    from lakeprune.verification.verify import verify

    options = {name: value for name in SESSION if (value := getattr(given, name)) is not None}
    moment = {"version": given.at_version, "timestamp": given.at_timestamp}
    with shown_progress(spark):
        found = verify(given.table, given.where, spark=spark, **moment, **options)
    deliver([found.to_json() if given.format == "json" else found.to_text()], given.output)
    if not found.passed:
        tell(f"VERIFICATION FAILED: the rows contradict the verdict on {files_text(found.violation_count)}")
    return EXIT_OK if found.passed else EXIT_GATE_FAILED


def _parser() -> Parser:
    what = "Scan the data on Spark and confront the plan with the truth: do the rows agree with what metadata was said to prove?"
    parser = Parser("verify", what, _EXAMPLES)
    add_question(parser, is_required=True)
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    output.add_argument("--output", metavar="FILE", help="write the document to FILE instead of stdout")
    add_spark_flags(parser.add_argument_group("where Spark runs"))
    return parser
