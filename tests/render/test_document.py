"""The JSON document: valid against the published schema, the same as streamed, and the same numbers as the peer's."""

from __future__ import annotations

import json

import jsonschema
import pytest

from lakeprune.report.gates import Gates
from lakeprune.values.types import LONG, STRING, TIMESTAMP
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File, RowsSnapshot
from tools.generate_schema import DOCUMENTS, OTHERS, SCHEMAS, schema_text, target

SCHEMA = json.loads(target("explain").read_text(encoding="utf-8"))
ALL_GATES = Gates(
    min_pruning=50, min_bytes_pruning=50, max_files=3, max_bytes=10_000, assert_stats=True, require_full_attribution=True
)
TABLE = snapshot(
    *USERS,
    File("empty", rows=5, deleted=5, partition={"country": "DE"}, stats={"age": (50, 60, 0)}),
    File("no stats", rows=None, partition={"country": None}),
    File("böd \x1b[31m", partition={"country": "D\nE"}, stats={"price": (1.5, float("inf"), 0)}),
)
PREDICATES = [
    None,
    "TRUE",
    "FALSE",
    "country = 'DE' AND age > 40",
    "country = 'DE' OR age > 60",
    "lower(country) = 'de' AND price > 3",
    "name LIKE '%x%' AND price != 3",
    "age IS NULL OR name IS NOT NULL",
    "current_date() > '2024-01-01' AND age > 1",
    "age > 5 AND age < 3",
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_regenerating_a_schema_changes_nothing(name: str) -> None:
    assert target(name).read_text(encoding="utf-8") == schema_text(name)


@pytest.mark.parametrize("name", OTHERS)
def test_regenerating_what_is_published_beside_documents_changes_nothing(name: str) -> None:
    assert (SCHEMAS / name).read_text(encoding="utf-8") == OTHERS[name]()


@pytest.mark.parametrize("where", PREDICATES)
@pytest.mark.parametrize("verbose", [True, False])
def test_every_document_is_valid(where: str | None, verbose: bool) -> None:
    gates = ALL_GATES if where is not None else Gates(max_files=1)
    report = report_on(TABLE, where, gates)
    whole = report.to_dict(verbose=verbose)
    jsonschema.validate(whole, SCHEMA)
    assert json.loads(report.to_json(verbose=verbose)) == json.loads(json.dumps(whole))
    assert ("files" in whole) is verbose


def test_a_field_nobody_declared_is_invalid() -> None:
    whole = report_on(TABLE, "age > 40").to_dict()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**whole, "surprise": 1}, SCHEMA)


@pytest.mark.parametrize(("limit", "listed", "truncated"), [(None, 9, False), (9, 9, False), (2, 2, True), (0, 0, True)])
def test_a_limit_cuts_the_listing_and_says_so(limit: int | None, listed: int, truncated: bool) -> None:
    whole = report_on(TABLE, "age > 40").to_dict(verbose=True, limit=limit)
    assert (len(whole["files"]), whole["files_truncated"]) == (listed, truncated)
    assert whole["total_files"] == 9


def test_each_file_carries_its_credit_or_its_reason() -> None:
    whole = report_on(TABLE, "country = 'DE' AND age > 40").to_dict(verbose=True)
    reported = {file["path"]: (file["verdict"], file["credit"], file["clause"], file["reason"]) for file in whole["files"]}
    assert reported["a"] == ("DROP", "partition", "country = 'DE'", None)
    assert reported["e"] == ("KEEP", None, "age > 40", "RANGES_OVERLAP")
    assert reported["f"] == ("DROP", "statistics", "age > 40", None)
    assert reported["empty"] == ("DROP", "statistics", None, None)


def test_without_a_predicate_nothing_is_pruned() -> None:
    whole = report_on(TABLE, None).to_dict(verbose=True)
    assert (whole["analysis"], whole["phases"], whole["clauses"]) == (None, [], [])
    assert whole["final_files"] == whole["total_files"] == 9
    assert all(file["kept"] for file in whole["files"])


def test_credits_of_a_mixed_or_are_joint_and_counted_in_data_skipping() -> None:
    whole = report_on(snapshot(*USERS), "country = 'DE' OR age > 60").to_dict()
    assert whole["credits"]["joint"]["files"] == 3
    assert [(phase["name"], phase["pruned_files"]) for phase in whole["phases"]] == [("Data skipping (min/max statistics)", 3)]
    assert whole["analysis"]["confidence"] == "incomplete"
    assert whole["analysis"]["notes"][0]["code"] == "UNSPLITTABLE_OR"


def test_partition_values_that_decide_a_mixed_clause_alone_get_their_phase() -> None:
    whole = report_on(snapshot(*USERS), "country = 'DE' OR (country = 'US' AND age > 40)").to_dict()
    assert [(phase["name"], phase["pruned_files"]) for phase in whole["phases"]] == [
        ("Partition pruning", 2),
        ("Data skipping (min/max statistics)", 1),
    ]


def test_the_stats_mode_tells_how_many_files_have_statistics() -> None:
    assert report_on(snapshot(*USERS), None).to_dict()["stats"]["mode"] == "exact"
    assert report_on(TABLE, None).to_dict()["stats"]["mode"] == "partial"
    assert report_on(snapshot(File("a"), File("b")), None).to_dict()["stats"]["mode"] == "absent"


@pytest.mark.parametrize(
    ("where", "asks"),
    [
        ("now > 3", False),
        ("`now` > 3 AND name = 'now()'", False),
        ('name > concat("now()", `current_date`)', False),
        ("now > unix_timestamp(stamp)", False),
        ("now > unix_timestamp()", True),
        ("stamp > NOW ()", True),
        ("stamp > current_date", True),
        ("name = 'now()' OR stamp > curdate()", True),
    ],
)
def test_the_moment_is_reported_when_the_predicate_asks_the_clock(where: str, asks: bool) -> None:
    table = RowsSnapshot({"now": LONG, "name": STRING, "current_date": STRING, "stamp": TIMESTAMP}, [File("a")])
    report = report_on(table, where, now="2024-02-29 12:00")
    assert report.session.now == ("2024-02-29 12:00:00" if asks else None)


def test_the_session_is_reported_when_the_predicate_asked_for_it() -> None:
    plain = report_on(TABLE, "name = 'now()'").to_dict()["session"]
    assert plain == {"timezone": None, "now": None, "nan_policy": "guard"}
    asked = report_on(TABLE, "name > current_date()", now="2024-02-29 12:00", timezone="+02:00").to_dict()["session"]
    assert asked == {"timezone": "+02:00", "now": "2024-02-29 12:00:00", "nan_policy": "guard"}
