"""The pruning summary of reports as OpenMetrics text, for `--metrics-file` and collectors of text files.

In: reports. Out: one gauge per number of the summary, with a sample per report. A number that is not known has no sample, and a
gauge without samples is left out: 0 is a count. Names end in their unit; `_total` at the end is kept for counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.report.summary import Summary

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.model import DataFrameReport
    from lakeprune.report.document import View
    from lakeprune.report.model import Report

LONGEST_PREDICATE = 200  # characters of it in a label; `predicate_id` tells longer ones apart
_ID_LENGTH = 16  # hexadecimal digits


class Family(Struct, frozen=True):
    name: str
    unit: str
    help: str
    value: Callable[[Summary], float | None]


FAMILIES = (
    Family("lakeprune_total_manifests", "manifests", "Data manifests of the snapshot.", lambda s: s.manifests_total),
    Family("lakeprune_kept_manifests", "manifests", "Data manifests that may list a matching file.", lambda s: s.manifests_kept),
    Family("lakeprune_total_files", "files", "Data files of the snapshot.", lambda s: s.files_total),
    Family("lakeprune_kept_files", "files", "Data files that the predicate must read.", lambda s: s.files_kept),
    Family("lakeprune_total_row_groups", "row_groups", "Row groups of the files to read.", lambda s: s.row_groups_total),
    Family("lakeprune_kept_row_groups", "row_groups", "Row groups that the predicate must read.", lambda s: s.row_groups_kept),
    Family("lakeprune_total_bytes", "bytes", "Size of the data files of the snapshot.", lambda s: s.bytes_total),
    Family("lakeprune_kept_bytes", "bytes", "Size of the data files that the predicate must read.", lambda s: s.bytes_kept),
    Family("lakeprune_planning_seconds", "seconds", "Time from opening the table to the counts.", lambda s: s.planning_ms / 1000),
)


def openmetrics(reports: Iterable[Report]) -> str:
    """The summaries of these reports as one exposition."""
    from lakeprune.report.model import Report

    if isinstance(reports, Report) or not isinstance(reports, Iterable):
        fix = "give a list of reports; a single one has to_openmetrics()"
        raise UsageError("LP218", f"a {type(reports).__name__} was given where a list of reports is wanted", fix=fix)
    several = list(reports)
    for number, report in enumerate(several, 1):
        if not isinstance(report, Report):
            what = f"report {number} of {len(several)} is of type {type(report).__name__}"
            raise UsageError("LP218", what, fix="give what `explain` and `explain_many` return")
    return "".join(_lines(several))


def report_chunks(report: Report, _: View) -> Iterator[str]:
    """The exposition of one report."""
    return _lines([report])


def frame_chunks(report: DataFrameReport, _: View) -> Iterator[str]:
    """The exposition of every scan that is explained."""
    return _lines(report.reports)


def escaped(text: str) -> str:
    r"""Text as a label value.

    >>> print(escaped('a = "x\\y"'))
    a = \"x\\y\"
    """
    valid = text.encode("utf-8", "backslashreplace").decode("utf-8")  # half of a surrogate pair is not text
    return valid.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _lines(reports: Sequence[Report]) -> Iterator[str]:
    labels, summaries = _labels(reports), [report.summary for report in reports]
    for family in FAMILIES:
        values = [family.value(summary) for summary in summaries]
        samples = [
            f"{family.name}{{{label}}} {value}\n" for label, value in zip(labels, values, strict=True) if value is not None
        ]
        if samples:
            yield f"# TYPE {family.name} gauge\n# UNIT {family.name} {family.unit}\n# HELP {family.name} {family.help}\n"
            yield from samples
    yield "# EOF\n"


def _labels(reports: Sequence[Report]) -> list[str]:
    """The labels of each report. No two may be the same: what was asked twice is numbered from the second time on."""
    seen: dict[str, int] = {}
    found = []
    for report in reports:
        labels = ",".join(f'{name}="{escaped(value)}"' for name, value in _named(report))
        seen[labels] = seen.get(labels, 0) + 1
        found.append(labels if seen[labels] == 1 else f'{labels},repeat="{seen[labels]}"')
    return found


def _named(report: Report) -> Iterator[tuple[str, str]]:
    yield "table", report.table
    yield "format", report.facts.format
    if (text := report.predicate) is not None:
        yield "predicate", text if len(text) <= LONGEST_PREDICATE else f"{text[:LONGEST_PREDICATE]}..."
        yield "predicate_id", hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:_ID_LENGTH]
