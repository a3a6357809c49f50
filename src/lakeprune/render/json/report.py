"""The report as the JSON document of the contract, plus bytes, rows, credits, clauses and reasons.

The document is made in chunks and the files come last, so that a listing of a million files never stands in memory. Pure ASCII:
it survives any terminal, and text that is not valid Unicode stays visible as escapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeprune import __version__
from lakeprune.predicate.tree import Bucket
from lakeprune.report.amount import Amount, percent
from lakeprune.report.document import View
from lakeprune.report.model import (
    PARTITION_PHASE,
    SKIPPING_PHASE,
    ClauseReport,
    Diagnosis,
    FileReport,
    Phase,
    Report,
)
from lakeprune.report.verdict import Credit, Keeps
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.report import explanation as shape


def document(report: Report, *, verbose: bool, limit: int | None) -> dict[str, Any]:
    """The whole document as Python values."""
    whole: dict[str, Any] = _head(report)
    if verbose:
        whole |= _fetched(report)
        whole["files_truncated"] = _is_truncated(report, limit)
        whole["files"] = [_file(file) for file in report.listing(limit)]
    return whole


def json_chunks(report: Report, view: View) -> Iterator[str]:
    """The document as text, piece by piece."""
    head: dict[str, Any] = _head(report)
    if not view.verbose:
        yield json.dumps(head, indent=2) + "\n"
        return
    head |= _fetched(report)
    head["files_truncated"] = _is_truncated(report, view.limit)
    yield json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "files": ['
    separator = "\n    "
    for file in report.listing(view.limit):
        yield separator + json.dumps(_file(file))
        separator = ",\n    "
    yield "\n  ]\n}\n"


def _fetched(report: Report) -> dict[str, Any]:
    """The traffic with an object store, for those who want to know every detail."""
    traffic = report.traffic
    if traffic is None:
        return {}
    fetched: shape.Fetched = {
        "requests": traffic.requests,
        "bytes": traffic.bytes,
        "cached_files": traffic.cached_files,
        "cached_bytes": traffic.cached_bytes,
    }
    return {"fetched": fetched}


def _is_truncated(report: Report, limit: int | None) -> bool:
    return limit is not None and limit < report.numbers.total.files


def _head(report: Report) -> dict[str, Any]:
    """Everything but the files."""
    head: dict[str, Any] = dict(_explanation(report))
    if report.diagnoses is not None:
        head["explain"] = [_diagnosis(diagnosis) for diagnosis in report.diagnoses]
    return head


def _explanation(report: Report) -> shape.Explanation:
    numbers, facts = report.numbers, report.facts
    total, kept = numbers.total, numbers.kept
    return {
        "table": report.table,
        "format": facts.format,
        "version": facts.version,
        "predicate": report.predicate,
        "total_files": total.files,
        "final_files": kept.files,
        "total_pruning_pct": percent(total.files - kept.files, total.files),
        "total_bytes": total.bytes,
        "final_bytes": kept.bytes,
        "bytes_pruning_pct": percent(total.bytes - kept.bytes, total.bytes),
        "total_rows": total.rows,
        "final_rows": kept.rows,
        "files_without_rows": total.files_without_rows,
        "full_files": numbers.full.files,
        "full_rows": numbers.full.rows,
        "analysis": None if report.predicate is None else _analysis(report),
        "phases": [_phase(phase) for phase in report.phases],
        "credits": {
            "partition": quantity(numbers.credits[Credit.PARTITION]),
            "statistics": quantity(numbers.credits[Credit.STATISTICS]),
            "joint": quantity(numbers.credits[Credit.JOINT]),
            "no_live_rows": quantity(numbers.empty),
        },
        "clauses": [_clause(clause) for clause in report.clauses],
        "stats": _stats(report),
        "assertions": _assertions(report),
        "result": None if not report.assertions else "pass" if report.passed else "fail",
        "session": {
            "timezone": report.session.timezone,
            "now": report.session.now,
            "nan_policy": report.session.nan_policy,
        },
        "notes": [{"code": note.code, "message": note.message} for note in facts.notes],
        "table_features": _features(report),
        "catalog": None,
        "elapsed_ms": report.elapsed_ms,
        "schema_version": report.schema_version,
        "tool_version": __version__,
    }


def _analysis(report: Report) -> shape.Analysis:
    reasons = dict.fromkeys(reason for clause in report.clauses for reason in clause.clause.reasons)
    return {
        "partition_safe": report.text_of(Bucket.PARTITION_SAFE),
        "partition_exact": report.text_of(Bucket.PARTITION_EXACT),
        "stats_safe": report.text_of(Bucket.STATS_SAFE),
        "unsplittable": report.text_of(Bucket.UNSPLITTABLE),
        "confidence": report.confidence.value,
        "notes": [{"code": reason.code.value, "message": reason.message} for reason in reasons],
        "stats_coverage": [
            {
                "column": coverage.column,
                "requirement": coverage.requirement.value,
                "covered_files": coverage.covered,
                "candidate_files": coverage.candidates,
                "coverage_pct": percent(coverage.covered, coverage.candidates),
            }
            for coverage in report.numbers.coverage
        ],
    }


def _phase(phase: Phase) -> shape.Phase:
    before, after = phase.before, phase.after
    return {
        "name": PARTITION_PHASE if phase.name == PARTITION_PHASE else SKIPPING_PHASE,
        "predicate": phase.predicate,
        "input_files": before.files,
        "output_files": after.files,
        "pruned_files": before.files - after.files,
        "pruning_pct": percent(before.files - after.files, before.files),
        "confidence": phase.confidence.value,
        "input_bytes": before.bytes,
        "output_bytes": after.bytes,
        "input_rows": before.rows,
        "output_rows": after.rows,
    }


def quantity(amount: Amount) -> shape.Quantity:
    """An amount, as every document has it."""
    return {
        "files": amount.files,
        "bytes": amount.bytes,
        "rows": amount.rows,
        "files_without_rows": amount.files_without_rows,
    }


def _clause(report: ClauseReport) -> shape.Clause:
    clause, credit = report.clause, report.credit
    return {
        "text": clause.text,
        "rewritten": clause.rewritten,
        "bucket": clause.bucket.value,
        "dropped_alone": quantity(credit.drops_alone),
        "dropped_first": quantity(credit.drops_first),
        "dropped_any": quantity(credit.drops_any),
        "kept_overlap": quantity(credit.kept[Keeps.RANGES_OVERLAP]),
        "kept_missing_statistic": quantity(credit.kept[Keeps.MISSING_STATISTIC]),
        "kept_nan_possible": quantity(credit.kept[Keeps.NAN_POSSIBLE]),
        "kept_not_decidable": quantity(credit.kept[Keeps.NOT_DECIDABLE]),
        "kept_all_rows_match": quantity(credit.kept[Keeps.ALL_ROWS_MATCH]),
        "reasons": [{"code": reason.code.value, "message": reason.message} for reason in clause.reasons],
    }


def _diagnosis(diagnosis: Diagnosis) -> shape.Diagnosis:
    return {
        "code": diagnosis.code,
        "severity": diagnosis.severity.value,
        "clause": diagnosis.clause,
        "column": diagnosis.column,
        "message": diagnosis.message,
        "numbers": diagnosis.numbers,
        "suggestion": diagnosis.suggestion,
        "rewrite": diagnosis.rewrite,
    }


def _file(file: FileReport) -> shape.File:
    dropped = file.verdict is Verdict.DROP
    by_partition = file.credit is Credit.PARTITION
    return {
        "path": file.path,
        "kept": not dropped,
        "pruned_by": None if not dropped else PARTITION_PHASE if by_partition else SKIPPING_PHASE,
        "has_stats": file.has_stats,
        "num_records": file.records,
        "live_rows": file.live_rows,
        "size_bytes": file.size,
        "partition_values": file.partition,
        "bounds": {column: {"min": lo, "max": hi} for column, (lo, hi) in file.bounds.items()},
        "verdict": file.verdict.value,
        "credit": None if file.credit is None else file.credit.value,
        "clause": file.clause,
        "reason": None if file.keeps is None else file.keeps.value,
    }


def _stats(report: Report) -> shape.Stats:
    files, total = report.numbers.with_stats, report.numbers.total.files
    return {
        "mode": "absent" if files == 0 else "exact" if files == total else "partial",
        "files_with_stats": files,
        "total_files": total,
        "pct": percent(files, total),
    }


def _assertions(report: Report) -> list[shape.Assertion]:
    found: list[Any] = [
        {"name": assertion.name, "result": "pass" if assertion.passed else "fail", **assertion.details}
        for assertion in report.assertions
    ]
    return found


def _features(report: Report) -> shape.TableFeatures:
    features = report.facts.features
    mapping = features.column_mapping_mode
    return {
        "clustering_columns": None if features.clustering_columns is None else list(features.clustering_columns),
        "column_mapping_mode": None if mapping == "none" else mapping,
        "deletion_vectors": {
            "enabled": features.deletion_vectors_enabled,
            "files_with_deletion_vectors": report.numbers.with_deletion_vectors,
        },
        "in_commit_timestamps": features.in_commit_timestamps,
        "notes": list(features.notes),
        "unrecognized_writer_features": list(features.unrecognized_writer_features),
    }
