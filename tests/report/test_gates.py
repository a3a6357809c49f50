"""Gates on tables made of Python rows: each passes and fails where it should, with its stable name and its words."""

from __future__ import annotations

import pytest

from lakeprune.errors import UsageError
from lakeprune.report.gates import Gates
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File

WHERE = "country = 'DE' AND age > 40"  # keeps one file of six, 750 of 4500 bytes

PASSING = [
    Gates(min_pruning=83.3),
    Gates(min_bytes_pruning=83),
    Gates(max_files=1),
    Gates(max_bytes=750),
    Gates(assert_stats=True),
    Gates(require_full_attribution=True),
]
FAILING = [
    (Gates(min_pruning=90), "min_pruning", "total pruning 83.3% is below threshold 90.0%"),
    (Gates(min_pruning=83.34), "min_pruning", "total pruning 83.33% is below threshold 83.34%"),
    (Gates(min_bytes_pruning=99.5), "min_bytes_pruning", "bytes pruning 83.3% is below threshold 99.5%"),
    (Gates(max_files=0), "max_files", "1 file(s) to read are above the limit of 0"),
    (Gates(max_bytes=749), "max_bytes", "750 B (750 bytes) to read are above the limit of 749 bytes"),
]


@pytest.mark.parametrize("gates", PASSING)
def test_a_gate_that_is_met_passes(gates: Gates) -> None:
    report = report_on(snapshot(*USERS), WHERE, gates)
    assert [assertion.passed for assertion in report.assertions] == [True]
    assert report.passed
    assert report.to_dict()["result"] == "pass"


@pytest.mark.parametrize(("gates", "name", "message"), FAILING)
def test_a_gate_that_is_not_met_fails_and_says_by_how_much(gates: Gates, name: str, message: str) -> None:
    report = report_on(snapshot(*USERS), WHERE, gates)
    assert [(a.name, a.passed, a.message) for a in report.assertions] == [(name, False, message)]
    assert not report.passed
    assert report.to_dict()["result"] == "fail"


def test_without_gates_there_is_no_result() -> None:
    report = report_on(snapshot(*USERS), WHERE)
    assert report.passed
    assert report.to_dict()["result"] is None


def test_the_stats_gate_asks_only_for_what_the_predicate_needs() -> None:
    table = snapshot(*USERS, File("g", partition={"country": "FR"}, stats=None))
    gates = Gates(assert_stats=True)
    assert report_on(table, "country = 'DE'", gates).passed
    assert report_on(table, "age > 40", gates).to_dict()["assertions"] == [
        {"name": "stats_complete", "result": "fail", "missing_count": 1}
    ]
    assert report_on(table, "name > 'a'", gates).to_dict()["assertions"][0]["missing_count"] == 7
    assert report_on(table, None, gates).to_dict()["assertions"][0]["missing_count"] == 1


def test_a_file_without_live_rows_needs_no_statistics() -> None:
    assert report_on(snapshot(File("a", rows=5, deleted=5)), "age > 40", Gates(assert_stats=True)).passed


@pytest.mark.parametrize("where", ["name LIKE '%x%'", "country = 'DE' OR age > 60", "age > 40 AND rand() < 0.5"])
def test_full_attribution_fails_on_clauses_that_one_kind_of_evidence_cannot_decide(where: str) -> None:
    report = report_on(snapshot(*USERS), where, Gates(require_full_attribution=True))
    assert report.to_dict()["assertions"] == [{"name": "full_attribution", "result": "fail", "unattributed_clauses": 1}]


def test_a_table_without_files_passes_pruning_gates_because_there_is_nothing_to_read() -> None:
    report = report_on(snapshot(), "age > 40", Gates(min_pruning=90, min_bytes_pruning=90, max_files=0, assert_stats=True))
    assert report.passed
    assert report.to_dict()["assertions"][0] == {
        "name": "min_pruning",
        "result": "pass",
        "threshold": 90.0,
        "actual": 100.0,
        "note": "nothing to read",
    }
    assert report.to_dict()["total_pruning_pct"] == 0.0


def test_a_share_that_only_rounds_to_the_threshold_fails() -> None:
    files = [File(f"f{i}", stats={"age": (50, 60, 0) if i == 0 else (1, 2, 0)}) for i in range(3)]
    assert report_on(snapshot(*files), "age > 40", Gates(min_pruning=66.66)).passed
    report = report_on(snapshot(*files), "age > 40", Gates(min_pruning=66.6667))
    assert not report.passed


@pytest.mark.parametrize(
    "gates", [Gates(min_pruning=101), Gates(min_pruning=float("nan")), Gates(max_files=-1), Gates(min_bytes_pruning=-0.1)]
)
def test_a_demand_that_cannot_be_meant_is_a_usage_error(gates: Gates) -> None:
    with pytest.raises(UsageError, match=r"(min|max)_"):
        report_on(snapshot(*USERS), WHERE, gates)


def test_a_pruning_gate_without_a_predicate_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="needs a predicate"):
        report_on(snapshot(*USERS), None, Gates(min_pruning=50))
    assert report_on(snapshot(*USERS), None, Gates(max_files=6)).passed


UNREAD = (
    *USERS,
    File("unread", size=None, partition={"country": "FR"}),
    File("unread too", size=None, partition={"country": "FR"}),
)


def test_a_gate_on_bytes_passes_by_what_is_known_and_says_what_is_not() -> None:
    report = report_on(snapshot(*UNREAD), WHERE, Gates(min_bytes_pruning=83, max_bytes=750))
    shares, limit = report.assertions
    assert (shares.passed, limit.passed) == (True, True)
    assert shares.details["note"] == "at least: 2 files in manifests that were not read"
    assert "note" not in limit.details, "every file that is left has known bytes"


def test_a_gate_that_would_need_the_unknown_bytes_fails_and_says_so() -> None:
    (assertion,) = report_on(snapshot(*UNREAD), WHERE, Gates(min_bytes_pruning=90)).assertions
    assert not assertion.passed
    assert assertion.message == (
        "bytes pruning 83.3% is below threshold 90.0%, as far as bytes are known: "
        "2 files in manifests that were not read; --exhaustive reads every manifest"
    )


def test_unknown_bytes_to_read_are_above_every_limit() -> None:
    (assertion,) = report_on(snapshot(*UNREAD), "country = 'FR'", Gates(max_bytes=10**9)).assertions
    assert not assertion.passed
    assert assertion.message.startswith("the bytes to read are not known: 2 files")


def test_bytes_that_are_not_known_are_all_pruned_when_no_file_is_left() -> None:
    (assertion,) = report_on(snapshot(*UNREAD), "country = 'XX'", Gates(min_bytes_pruning=100)).assertions
    assert (assertion.passed, assertion.details["actual"]) == (True, 100.0)
