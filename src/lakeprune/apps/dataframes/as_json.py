"""A DataFrame's report as a JSON document: a section per scan, with the document of `explain` in each Delta section."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakeprune import __version__
from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection
from lakeprune.apps.dataframes.scan import DeltaPlan
from lakeprune.report.document import View
from lakeprune.report.gates import Assertion

if TYPE_CHECKING:
    from lakeprune.apps.dataframes import document as shape


def json_chunks(report: DataFrameReport, view: View) -> Iterator[str]:
    yield json.dumps(document(report, verbose=view.verbose, limit=view.limit), indent=2) + "\n"


def document(report: DataFrameReport, *, verbose: bool, limit: int | None) -> shape.DataFrameExplanation:
    """The whole document as Python values."""
    has_gates = any(section.assertions for section in report.sections)
    return {
        "query": report.query,
        "timezone": report.zone,
        "scans": [
            _delta(section, verbose=verbose, limit=limit) if isinstance(section, DeltaSection) else _parquet(section)
            for section in report.sections
        ],
        "not_read": list(report.unread),
        "not_explained": [{"source": other.source, "why": other.why} for other in report.unexplained],
        "result": None if not has_gates else "pass" if report.passed else "fail",
        "elapsed_ms": report.elapsed_ms,
        "schema_version": report.schema_version,
        "tool_version": __version__,
    }


def _delta(section: DeltaSection, *, verbose: bool, limit: int | None) -> shape.Scan:
    scan, explanation = section.scan, section.report.to_dict(verbose=verbose, limit=limit)
    return {
        "format": "delta",
        "table": scan.table,
        "locations": [scan.location],
        "version": scan.version,
        "cached": scan.is_cached,
        "filters": [one.sql for one in scan.filters],
        "spark": None if scan.plan is None else _delta_plan(scan.plan),
        "explanation": explanation,  # type: ignore[typeddict-item]  # the document of `explain`, which its own types hold
        "assertions": [_gate(assertion) for assertion in section.assertions],
    }


def _delta_plan(plan: DeltaPlan) -> shape.Planned:
    return {
        "files": plan.files,
        "bytes": plan.bytes,
        "total_files": plan.total_files,
        "total_bytes": plan.total_bytes,
        "kind": plan.kind,
        "unused_filters": list(plan.unused),
        "partition_filters": [],
        "pushed_filters": None,
    }


def _parquet(section: ParquetSection) -> shape.Scan:
    scan = section.scan
    return {
        "format": "parquet",
        "table": scan.table,
        "locations": list(scan.locations),
        "version": None,
        "cached": scan.is_cached,
        "filters": list(scan.filters),
        "spark": {
            "files": scan.files,
            "bytes": scan.bytes,
            "total_files": scan.total_files,
            "total_bytes": scan.total_bytes,
            "kind": None,
            "unused_filters": [],
            "partition_filters": list(scan.partition_filters),
            "pushed_filters": scan.pushed_filters,
        },
        "explanation": None,
        "assertions": [_gate(assertion) for assertion in section.assertions],
    }


def _gate(assertion: Assertion) -> shape.Gate:
    found: dict[str, Any] = {"name": assertion.name, "result": "pass" if assertion.passed else "fail", **assertion.details}
    return found  # type: ignore[return-value]  # the details of an assertion are the gate's other fields
