"""`lakeprune verify`: a plan, or the recorded statistics, checked against the rows on Spark; 1 when something contradicts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.output import shown, tell
from lakeprune.cli.parser import check_early, chosen, parsed
from lakeprune.cli.spark_session import delta_session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
from lakeprune.planning.session import SessionOptions
from lakeprune.report.amount import files_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.apps.verify.model import Audit, Verification

_WHAT = "Scan the data on Spark and check the plan against the rows: do they agree with what metadata proves?"
_EXAMPLES = """\
examples:
  lakeprune verify ./users -w "country = 'DE' AND age > 40"
  lakeprune verify s3a://lake/users -w "age > 40" --master spark://host:7077 --packages org.apache.hadoop:hadoop-aws:3.4.2
  lakeprune verify ./users -w "age > 40" --sample 0.05 --format json
  lakeprune verify ./users --audit-stats

exit codes: 0 the rows agree, 1 a file contradicts its verdict or its statistics, 2 usage or predicate error, 3 the table
cannot be read
"""


def run(command: str, argv: Sequence[str]) -> int:
    """Verify one plan; 1 when the rows contradict it."""
    given = parsed(command, _WHAT, _EXAMPLES, argv)
    if given.where is None and not given.audit_stats:
        fix = "give -w PREDICATE to verify a plan, --audit-stats to check the recorded statistics, or both"
        raise UsageError("LP248", "nothing to verify was named", where="lakeprune verify", fix=fix)
    check_early(given)
    options = chosen(given, ("version", "timestamp", "ref", "sample", *SessionOptions.__annotations__))
    with delta_session_of(given) as spark:
        found = _found(given, spark, options)
        deliver = shown(found, given)
    deliver()
    for message in _failures(found):
        tell(f"VERIFICATION FAILED: {message}")
    return EXIT_OK if found.passed else EXIT_GATE_FAILED


def _found(given: argparse.Namespace, spark: SparkSession, options: dict[str, Any]) -> Verification | Audit:
    if given.where is None:
        from lakeprune.apps.verify.verify import audit

        return audit(given.table, spark=spark, **options)
    from lakeprune.apps.verify.verify import verify

    return verify(given.table, given.where, spark=spark, audit_stats=bool(given.audit_stats), **options)


def _failures(found: Verification | Audit) -> Iterator[str]:
    if hasattr(found, "violation_count") and found.violation_count:
        yield f"the rows contradict the verdict on {files_text(found.violation_count)}"
    audit = getattr(found, "audit", found if hasattr(found, "wrong_files") else None)
    if audit is not None and audit.wrong_files:
        yield f"recorded statistics are wrong in {files_text(audit.wrong_files)}"
