"""`lakeprune verify`: a plan, or the recorded statistics, confronted with the rows on Spark; 1 when something contradicts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.output import show, tell
from lakeprune.cli.question import SESSION, Parser, add_question, parsed
from lakeprune.cli.spark_flags import add_spark_flags, delta_session_of, shown_progress
from lakeprune.cli.values import fraction
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
from lakeprune.render.registry import formats
from lakeprune.report.amount import files_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.verify.audit_model import Audit
    from lakeprune.apps.verify.model import Verification

_EXAMPLES = """\
examples:
  lakeprune verify ./users -w "country = 'DE' AND age > 40"
  lakeprune verify s3a://lake/users -w "age > 40" --master spark://host:7077 --packages org.apache.hadoop:hadoop-aws:3.4.2
  lakeprune verify ./users -w "age > 40" --sample 0.05 --format json
  lakeprune verify ./users --audit-stats

exit codes: 0 the rows agree, 1 a file contradicts its verdict or its statistics, 2 usage or predicate error, 3 the table
cannot be read
"""


def run(argv: Sequence[str]) -> int:
    """Verify one plan; 1 when the rows contradict it."""
    given = parsed(_parser(), argv)
    if isinstance(given, int):
        return given
    if given.where is None and not given.audit_stats:
        fix = "give -w PREDICATE to verify a plan, --audit-stats to check the recorded statistics, or both"
        raise UsageError("LP248", "nothing to verify was named", where="lakeprune verify", fix=fix)
    spark = delta_session_of(given)
    options = {name: value for name in SESSION if (value := getattr(given, name)) is not None}
    options.update(version=given.at_version, timestamp=given.at_timestamp, sample=given.sample)
    with shown_progress(spark):
        found = _found(given, spark, options)
        show(found, given)
    for message in _failures(found):
        tell(f"VERIFICATION FAILED: {message}")
    return EXIT_OK if found.passed else EXIT_GATE_FAILED


def _found(given: argparse.Namespace, spark: SparkSession, options: dict[str, Any]) -> Verification | Audit:
    if given.where is None:
        from lakeprune.apps.verify.audit import audit

        return audit(given.table, spark=spark, **options)
    from lakeprune.apps.verify.verify import verify

    return verify(given.table, given.where, spark=spark, audit_stats=given.audit_stats, **options)


def _failures(found: Verification | Audit) -> Iterator[str]:
    if hasattr(found, "violation_count") and found.violation_count:
        yield f"the rows contradict the verdict on {files_text(found.violation_count)}"
    audit = getattr(found, "audit", found if hasattr(found, "wrong_files") else None)
    if audit is not None and audit.wrong_files:
        yield f"recorded statistics are wrong in {files_text(audit.wrong_files)}"


def _parser() -> Parser:
    what = "Scan the data on Spark and confront the plan with the truth: do the rows agree with what metadata was said to prove?"
    parser = Parser("verify", what, _EXAMPLES)
    add_question(parser, is_required=False)
    how = parser.add_argument_group("what is verified")
    share = "look into every kept file and this share of the dropped ones, chosen by their paths (0.1: a tenth)"
    how.add_argument("--sample", metavar="FRACTION", type=fraction, help=share)
    audited = "compare the log's bounds, null counts and row counts with the values; without -w nothing else is verified"
    how.add_argument("--audit-stats", action="store_true", help=audited)
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=formats("verify"), default="text", help="default: text")
    output.add_argument("--output", metavar="FILE", help="write the document to FILE instead of stdout")
    add_spark_flags(parser.add_argument_group("where Spark runs"))
    return parser
