"""An audit as text: whether the recorded statistics are right, and which are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable
from lakeprune.render.text.report import about
from lakeprune.report.amount import files_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.audit_model import Audit
    from lakeprune.programs.audit import FaultyFiles


def text_chunks(audit: Audit, view: View) -> Iterator[str]:  # noqa: ARG001  # the faults are named up to a limit of their own
    """The text report."""
    yield "\n".join([*about(audit.table, audit.version), "", *audit_lines(audit)]) + "\n"


def audit_lines(audit: Audit) -> Iterator[str]:
    """The outcome and what is wrong."""
    yield f"Statistics: {audit_verdict(audit)}{'' if audit.passed else ':'}"
    for fault in audit.faults:
        column = "" if fault.column is None else f" {printable(fault.column)}:"
        yield f"  {printable(fault.path)}:{column} {printable(fault.message)} (written by {printable(fault.writer)})"
    if (more := audit.fault_count - len(audit.faults)) > 0:
        yield f"  ... and {more} more; in all {'; '.join(map(counted_text, audit.counts))}"
    if audit.sampled is not None:
        yield f"Sample: {audit.checked_files} of {files_text(audit.files)} were checked. {audit.sampled.worth}"


def audit_verdict(audit: Audit) -> str:
    """The outcome in one sentence."""
    looked = f"{files_text(audit.checked_files)} checked, {len(audit.columns)} column{'' if len(audit.columns) == 1 else 's'}"
    if audit.passed:
        return f"right ({looked}). No live row lies outside what the log promises."
    return f"WRONG in {files_text(audit.wrong_files)} ({looked}). Engines that trust them lose rows"


def counted_text(count: FaultyFiles) -> str:
    return f"{printable(count.column or 'rows')}: {count.fault.value} in {files_text(count.files)}"
