"""A report on an Iceberg table as Iceberg's ScanReport: the body of a REST catalog's report-metrics request.

In: a report. Out: JSON with Iceberg's own names. Counters that are not known are left out, as Iceberg leaves them out. `explain`
has no projection, so all columns are projected.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.predicate.schema import leaf_paths
from lakeprune.render.scan_report.expressions import filter_of
from lakeprune.report.verdict import CONSTANT
from lakeprune.skipping.ladder import Level

if TYPE_CHECKING:
    from lakeprune.report.document import View
    from lakeprune.report.model import Report

NO_SNAPSHOT = -1  # as Iceberg writes it
_FIRST_RESERVED_ID = 2_147_483_447  # from here on ids are those of metadata columns, which no schema declares


class Counter(Struct, frozen=True):
    unit: str  # "count" or "bytes"
    value: int


class Timer(Struct, frozen=True, rename="kebab"):
    count: int
    time_unit: str
    total_duration: int


class ScanReport(Struct, frozen=True, rename="kebab"):
    """Iceberg's ReportMetricsRequest of a scan."""

    report_type: str
    table_name: str
    snapshot_id: int
    filter: Any  # an expression
    schema_id: int
    projected_field_ids: list[int]
    projected_field_names: list[str]
    metrics: dict[str, Counter | Timer]
    metadata: dict[str, str]


def report_chunks(report: Report, _: View) -> Iterator[str]:
    """The scan report as JSON text."""
    yield json.dumps(msgspec.to_builtins(scan_report(report)), indent=2) + "\n"


def scan_report(report: Report) -> ScanReport:
    """What Iceberg's planner would report of this scan. UsageError for a table of another format."""
    facts = report.facts
    if facts.format != "iceberg":
        what = f"a scan report is Iceberg's, and this is a {facts.title}"
        fix = "use --metrics-file, or the `summary` of the JSON document, which every format has"
        raise UsageError("LP249", what, where=report.table, fix=fix)
    condition, is_whole = filter_of(report.condition)
    paths = [path for path in leaf_paths(facts.schema.fields) if int(path[-1].physical) < _FIRST_RESERVED_ID]
    metadata = {"engine-name": "lakeprune", "engine-version": report.tool_version}
    if report.predicate is not None:
        metadata |= {"predicate": report.predicate, "filter-is-whole": str(is_whole).lower()}
    return ScanReport(
        report_type="scan-report",
        table_name=report.table,
        snapshot_id=NO_SNAPSHOT if facts.version is None else facts.version,
        filter=condition,
        schema_id=facts.schema_id or 0,
        projected_field_ids=[int(path[-1].physical) for path in paths],
        projected_field_names=[".".join(field.name for field in path) for path in paths],
        metrics=dict(_metrics(report)),
        metadata=metadata,
    )


def _metrics(report: Report) -> Iterator[tuple[str, Counter | Timer]]:
    summary, numbers = report.summary, report.numbers
    yield "total-planning-duration", Timer(1, "nanoseconds", summary.planning_ms * 1_000_000)
    yield "result-data-files", Counter("count", summary.files_kept)
    if summary.bytes_kept is not None:
        yield "total-file-size-in-bytes", Counter("bytes", summary.bytes_kept)
    if summary.manifests_total is not None and summary.manifests_kept is not None:
        yield "total-data-manifests", Counter("count", summary.manifests_total)
        yield "scanned-data-manifests", Counter("count", summary.manifests_kept)
        yield "skipped-data-manifests", Counter("count", summary.manifests_total - summary.manifests_kept)
    # Iceberg counts the skipped files of manifests that it reads; those of skipped manifests it never sees.
    above = [CONSTANT, *(rung.name for rung in report.facts.evidence.ladder if rung.level is Level.MANIFEST)]
    unseen = sum(numbers.credits[name].files for name in above if name in numbers.credits)
    yield "skipped-data-files", Counter("count", summary.files_total - summary.files_kept - unseen)
