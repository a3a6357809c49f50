"""The pruning summary: the same numbers as the report, for every document, with null for levels that a format does not have."""

from __future__ import annotations

import pytest

from lakeprune.render.html.funnel import funnel
from lakeprune.render.html.summary import answer
from tests.builders.documents import frame
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File
from tests.builders.verifications import verification


def test_the_summary_counts_files_and_bytes_before_and_after() -> None:
    summary = report_on(snapshot(*USERS), "country = 'DE' AND age > 40").summary
    assert (summary.files_total, summary.files_kept) == (6, 1)
    assert (summary.bytes_total, summary.bytes_kept) == (4500, 750)


def test_a_level_that_the_format_does_not_have_is_null_and_not_zero() -> None:
    whole = report_on(snapshot(*USERS), "country = 'XX'").to_dict()["summary"]
    assert [name for name, value in whole.items() if value is None] == [
        "manifests_total",
        "manifests_kept",
        "row_groups_total",
        "row_groups_kept",
    ]
    assert whole["files_kept"] == whole["bytes_kept"] == 0


@pytest.mark.parametrize("where", [None, "age > 40", "FALSE", "country = 'DE' OR age > 60"])
def test_the_summary_agrees_with_the_rest_of_the_document(where: str | None) -> None:
    whole = report_on(snapshot(*USERS), where).to_dict()
    summary = whole["summary"]
    assert (summary["files_total"], summary["files_kept"]) == (whole["total_files"], whole["final_files"])
    assert (summary["bytes_total"], summary["bytes_kept"]) == (whole["total_bytes"], whole["final_bytes"])
    assert 0 <= summary["planning_ms"] <= whole["elapsed_ms"]


def test_documents_that_contain_an_explanation_carry_its_summary() -> None:
    assert frame().to_dict()["scans"][0]["explanation"]["summary"]["files_kept"] == 1
    assert verification().to_dict()["plan"]["summary"]["files_total"] > 0


UNREAD = (*USERS, File("unread", size=None, partition={"country": "FR"}))


def test_bytes_that_are_not_known_are_null_in_the_summary_and_counted_in_the_document() -> None:
    whole = report_on(snapshot(*UNREAD), "country = 'DE' AND age > 40").to_dict()
    assert (whole["summary"]["bytes_total"], whole["summary"]["bytes_kept"]) == (None, 750)
    assert (whole["total_bytes"], whole["files_without_bytes"]) == (4500, 1)
    assert whole["credits"]["partition"]["files_without_bytes"] == 1
    assert [phase["input_files_without_bytes"] for phase in whole["phases"]] == [1, 0]


def test_readers_see_that_bytes_are_not_known() -> None:
    report = report_on(snapshot(*UNREAD), "country = 'DE' AND age > 40")
    words = "at least 4.5 KB -> 750 B (at least 83% pruned); 1 file in manifests that were not read"
    assert words in report.to_text()
    assert "Bytes exclude 1 file in manifests that were not read." in funnel(report)
    assert 'at least <data value="4500">4.5 KB</data>' in answer(report)
    assert "at least 4.5 KB" in report._repr_html_()


def test_nothing_is_known_of_bytes_when_no_file_has_any() -> None:
    report = report_on(snapshot(File("a", size=None, partition={"country": "FR"})), "country = 'DE'")
    assert "  bytes:         unknown -> 0 B (100% pruned); 1 file in manifests that were not read" in report.to_text()
    assert report.to_dict()["bytes_pruning_pct"] == 100.0
