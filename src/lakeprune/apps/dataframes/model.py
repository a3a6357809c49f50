"""What a DataFrame reads, explained: one section per scan, what needs no file, what is not explained. Renderers add nothing."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from lakeprune.apps.dataframes.scan import Scan, Unexplained
from lakeprune.report.document import WHOLE, Document, Envelope, View
from lakeprune.report.gates import Assertion
from lakeprune.report.model import Report


class Section(Struct, frozen=True):
    """A scan and the report of its filters on its version; Parquet files that are not listed here have Spark's numbers alone."""

    scan: Scan
    report: Report | None
    assertions: tuple[Assertion, ...]


class DataFrameReport(Document, frozen=True):
    kind: ClassVar[str] = "dataframe"
    schema_version: ClassVar[str] = "1.3.0"

    sections: tuple[Section, ...]
    unread: tuple[str, ...]  # tables of which Spark needs no file: no row can match, or the metadata has the answer
    unexplained: tuple[Unexplained, ...]
    zone: str
    query: str | None  # the SQL text, None for a DataFrame
    elapsed_ms: int

    def __repr__(self) -> str:
        places = ", ".join(_place(section) for section in self.sections)
        scans = f"{len(self.sections)} scan{'' if len(self.sections) == 1 else 's'}"
        return f"<DataFrameReport on {scans}: {places}>" if places else "<DataFrameReport: no file is read>"

    @property
    def passed(self) -> bool:
        """Whether every gate passed on every scan."""
        return all(assertion.passed for section in self.sections for assertion in section.assertions)

    @property
    def reports(self) -> tuple[Report, ...]:
        """The reports of the scans, in the order of the plan."""
        return tuple(section.report for section in self.sections if section.report is not None)

    def to_openmetrics(self) -> str:
        """The pruning summaries of the scans that are explained."""
        return self._rendered("openmetrics", WHOLE)

    def to_struct(self, view: View) -> Envelope:
        from lakeprune.apps.dataframes.document import dataframe_document

        return dataframe_document(self, view)


def _place(section: Section) -> str:
    if section.report is None:
        return section.scan.location
    numbers = section.report.numbers
    version = "" if section.scan.version is None else f" version {section.scan.version}"
    return f"{section.scan.location}{version}, {numbers.total.files} -> {numbers.kept.files} files"
