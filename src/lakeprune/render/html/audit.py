"""An audit as one self-contained HTML page, as a part of the page of a verification, and as a fragment for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.html.frame import framed, heading, page_end, page_top, section
from lakeprune.render.html.words import code, plain_list, words
from lakeprune.render.text.audit import audit_verdict, counted_text
from lakeprune.report.amount import files_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.verify.audit_model import Audit

_LONGEST_PATH = 400
SOURCE = "the table’s metadata and its rows"


def page(audit: Audit, _: View) -> Iterator[str]:
    """The whole page."""
    yield page_top(audit.table, heading(about(audit.version), audit.table, None) + outcome(audit))
    yield section("statistics", "Recorded statistics", content(audit))
    yield page_end(audit.elapsed_ms, SOURCE)


def notebook(audit: Audit, _: View) -> Iterator[str]:
    """For a notebook cell."""
    yield f'<div class="lakeprune-audit">{outcome(audit)}{content(audit)}</div>'


def about(version: int | None) -> str:
    return f"verification · Delta table · version {version}"


def outcome(audit: Audit) -> str:
    return framed("Statistics", audit_verdict(audit), is_good=audit.passed)


def content(audit: Audit) -> str:
    """How much was compared, and what is wrong."""
    looked = f"<p>{files_text(audit.checked_files)} of {audit.files:,} looked into, {len(audit.columns):,} columns compared.</p>"
    if audit.sampled is not None:
        looked += f'<p class="muted">{words(audit.sampled.worth, 1000)}</p>'
    if audit.passed:
        return looked
    counted = plain_list(words(counted_text(count)) for count in audit.counts)
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("File", "Column", "What is wrong", "Written by"))
    rows = "".join(
        f'<tr><th scope="row">{code(fault.path, _LONGEST_PATH)}</th><td>{words(fault.column or "")}</td>'
        f"<td>{words(fault.message)}</td><td>{words(fault.writer)}</td></tr>"
        for fault in audit.faults
    )
    table = f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f"{looked}{counted}{table}"
