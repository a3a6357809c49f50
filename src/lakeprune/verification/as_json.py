"""A verification as a JSON document: the explanation under `plan`, the truth and what contradicts beside it."""

from __future__ import annotations

from typing import Any

from lakeprune.verification.model import Verification


def document(verification: Verification) -> dict[str, Any]:
    """The whole document as Python values."""
    return {
        "result": "pass" if verification.passed else "fail",
        "violation_count": verification.violation_count,
        "violations": [
            {
                "path": violation.path,
                "verdict": violation.verdict.value,
                "live_rows": violation.live,
                "matching_rows": violation.matching,
                "message": violation.message,
            }
            for violation in verification.violations
        ],
        "truth": {
            "live_rows": verification.live_rows,
            "matching_rows": verification.matching_rows,
            "files_with_match": verification.files_with_match,
            "bytes_with_match": verification.bytes_with_match,
            "files_with_wrong_row_count": verification.files_told_wrong,
        },
        "kept_without_match": verification.kept_without_match,
        "efficiency": verification.efficiency,
        "read_amplification": verification.read_amplification,
        "delta_spark_files": verification.delta_spark_files,
        "slack": [
            {"clause": slack.clause, "reason": slack.keeps.value, "files": slack.files, "bytes": slack.bytes}
            for slack in verification.slack
        ],
        "plan": verification.report.to_dict(),
        "elapsed_ms": verification.elapsed_ms,
    }
