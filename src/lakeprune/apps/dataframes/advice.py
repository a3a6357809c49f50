"""Where Delta Spark reads more than the metadata asks for: with a rewrite that Delta itself was seen to use.

In: a scan, and the report of its filters. Out: the report with the advice that Spark's own plan bears out. The
model of Delta Spark in formats/delta only proposes; a rewrite is offered when Delta itself plans fewer files for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lakeprune.apps.dataframes.scan import Scan
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Report

if TYPE_CHECKING:
    from lakeprune.apps.dataframes.spark_plans import QueryPlan


def advised(query: QueryPlan, scan: Scan, report: Report) -> Report:
    """The report with the advice that holds in Spark."""
    return report if report.diagnoses is None else replace(report, diagnoses=tuple(_held(query, scan, report.diagnoses)))


def _held(query: QueryPlan, scan: Scan, diagnoses: tuple[Diagnosis, ...]) -> Iterator[Diagnosis]:
    for diagnosis in diagnoses:
        if diagnosis.code == Code.ENGINE_DIFFERS.value:
            yield _tried(query, scan, diagnosis)
        # Spark itself adds `x IS NOT NULL` to joins and comparisons, where it filters nothing.
        elif diagnosis.code != Code.ALWAYS_TRUE.value or not (diagnosis.clause or "").endswith(" IS NOT NULL"):
            yield diagnosis


def _tried(query: QueryPlan, scan: Scan, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with Delta's own count for its rewrite; without the rewrite when that count is not lower."""
    from lakeprune.apps.dataframes.spark_scans import planned_with

    if diagnosis.rewrite is None:
        return diagnosis
    files, name = planned_with(query, scan, diagnosis.rewrite), "delta_spark_files_with_rewrite"
    numbers = {key: value for key, value in diagnosis.numbers.items() if key != name}
    if files is None or files >= int(numbers["delta_spark_files"]):
        suggestion = "no rewrite is known to help it; the other diagnoses say what would"
        return replace(diagnosis, numbers=numbers, suggestion=suggestion, rewrite=None)
    suggestion = f"write the condition so that Delta Spark can use it: then it plans {files_text(files)}"
    return replace(diagnosis, numbers={**numbers, name: files}, suggestion=suggestion)
