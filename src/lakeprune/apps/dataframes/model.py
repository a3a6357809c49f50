"""What a DataFrame reads, explained: one section per scan, what needs no file, what is not explained. Renderers add nothing."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from lakeprune.apps.dataframes.scan import DeltaScan, ParquetScan, Unexplained
from lakeprune.report.document import Document, Envelope, View
from lakeprune.report.gates import Assertion
from lakeprune.report.model import Report


class DeltaSection(Struct, frozen=True):
    """A scan of a Delta table: what Spark's plan says of it, and the report of its filters on its version."""

    scan: DeltaScan
    report: Report

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        return self.report.assertions


class ParquetSection(Struct, frozen=True):
    """A scan of plain Parquet, whose file statistics are not read yet: the numbers are Spark's."""

    scan: ParquetScan
    assertions: tuple[Assertion, ...]
    report: None = None


Section = DeltaSection | ParquetSection


class DataFrameReport(Document, frozen=True):
    kind: ClassVar[str] = "dataframe"

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
        """The reports of the Delta scans, in the order of the plan."""
        return tuple(section.report for section in self.sections if section.report is not None)

    def to_struct(self, view: View) -> Envelope:
        from lakeprune.apps.dataframes.document import dataframe_document

        return dataframe_document(self, view)


def _place(section: Section) -> str:
    if isinstance(section, DeltaSection):
        numbers = section.report.numbers
        return f"{section.scan.location} version {section.scan.version}, {numbers.total.files} -> {numbers.kept.files} files"
    return ", ".join(section.scan.locations)
