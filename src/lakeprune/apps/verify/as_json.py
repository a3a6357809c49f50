"""Verifications and audits as JSON documents; document.py gives their shape. The explanation is under `plan`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lakeprune import __version__
from lakeprune.apps.verify.audit_model import Audit
from lakeprune.apps.verify.model import Verification
from lakeprune.apps.verify.sampled import Sampled
from lakeprune.report.document import View


def json_chunks(verification: Verification, _: View) -> Iterator[str]:
    yield json.dumps(document(verification), indent=2) + "\n"


def audit_chunks(audit: Audit, _: View) -> Iterator[str]:
    yield json.dumps(audit_document(audit), indent=2) + "\n"


def document(verification: Verification) -> dict[str, Any]:
    """The whole document as Python values."""
    truth = verification.truth
    return {
        "result": "pass" if verification.passed else "fail",
        "is_complete": verification.is_complete,
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
            "checked_files": truth.checked_files,
            "live_rows": truth.live_rows,
            "matching_rows": truth.matching_rows,
            "files_with_match": truth.files_with_match,
            "bytes_with_match": truth.bytes_with_match,
            "files_with_wrong_row_count": truth.files_told_wrong,
        },
        "sample": _sample(verification.sampled),
        "kept_without_match": verification.kept_without_match,
        "efficiency": verification.efficiency,
        "read_amplification": verification.read_amplification,
        "delta_spark": {"files": verification.delta_spark_files, "bytes": verification.delta_spark_bytes},
        "slack": [
            {"clause": slack.clause, "reason": slack.keeps.value, "files": slack.files, "bytes": slack.bytes}
            for slack in verification.slack
        ],
        "audit": None if verification.audit is None else audit_document(verification.audit),
        "plan": verification.report.to_dict(),
        "elapsed_ms": verification.elapsed_ms,
        "schema_version": verification.schema_version,
        "tool_version": __version__,
    }


def audit_document(audit: Audit) -> dict[str, Any]:
    """The whole document as Python values."""
    return {
        "table": audit.table,
        "version": audit.version,
        "result": "pass" if audit.passed else "fail",
        "total_files": audit.files,
        "checked_files": audit.checked_files,
        "columns": list(audit.columns),
        "sample": _sample(audit.sampled),
        "wrong_files": audit.wrong_files,
        "fault_count": audit.fault_count,
        "counts": [{"column": count.column, "fault": count.fault.value, "files": count.files} for count in audit.counts],
        "faults": [
            {
                "path": fault.path,
                "column": fault.column,
                "fault": fault.fault.value,
                "recorded": fault.recorded,
                "found": fault.found,
                "writer": fault.writer,
                "message": fault.message,
            }
            for fault in audit.faults
        ],
        "elapsed_ms": audit.elapsed_ms,
        "schema_version": audit.schema_version,
        "tool_version": __version__,
    }


def _sample(sampled: Sampled | None) -> dict[str, Any] | None:
    if sampled is None:
        return None
    return {
        "share": sampled.share,
        "files": sampled.files,
        "checked_files": sampled.checked,
        "unchecked_files": sampled.files - sampled.checked,
        "probability_of_missing_one": sampled.miss_probability(1),
        "one_percent_files": sampled.one_percent,
        "probability_of_missing_one_percent": sampled.miss_probability(sampled.one_percent),
        "proves": sampled.worth,
    }
