"""Plans as text and JSON without Spark: each statement has its own lines, everything else is said once for all of them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from lakeprune.apps.statements.model import Operation, Status, effects_of
from lakeprune.apps.statements.plan import SetColumn, Skipping, StatementPlan, StatementText, Strengthening
from lakeprune.formats.delta.spark_scan import DeltaScan
from lakeprune.report.amount import Amount
from tests.builders.documents import CLAUSES, execution, merge_part, plan

SET = StatementText(Operation.UPDATE, "id = 1", "id = 1", "UTC", (SetColumn("x", "x + 1"), SetColumn("`a b`", "NULL")))


def merged(**changes: Any) -> StatementPlan:
    text = StatementText(Operation.MERGE, "t.id = s.id", "t.id = s.id", "UTC", clauses=CLAUSES)
    return plan(Operation.MERGE, **{"statement": text, "merge": merge_part(), **changes})


def step(number: int, document: StatementPlan) -> list[str]:
    """The lines of one step."""
    (found,) = [part for part in document.to_text().split("\n\n") if part.startswith(f"{number}. ")]
    return [line.removeprefix("   ") for line in found.splitlines()[1:]]


@pytest.mark.parametrize(
    ("document", "statement"),
    [
        (plan(), "DELETE WHERE year(day) = 2024"),
        (plan(Operation.UPDATE, statement=SET), "UPDATE SET x = x + 1, `a b` = NULL WHERE id = 1"),
        (merged(), "MERGE USING ./changes ON t.id = s.id WHEN MATCHED THEN DELETE"),
    ],
)
def test_the_statement_is_one_line(document: StatementPlan, statement: str) -> None:
    assert f"Statement:   {statement}\n" in document.to_text()


def test_update_and_delete_say_what_metadata_decides() -> None:
    assert step(1, plan())[1:] == ["year(day) = 2024  means  day >= '2024-01-01'", "id > 3"]
    assert step(2, plan())[1:] == ["1 file (10 B) fully matched, 3 files (30 B) undecided"]
    assert step(3, plan()) == ["one scan of 3 files, reading day: 1 without a match"]
    text = StatementText(Operation.DELETE, "day = 1", "day = 1", "UTC", is_partition_only=True)
    whole = plan(skipping=Skipping(Amount(9, 90), Amount(3, 30), Amount()), statement=text)
    assert step(1, whole)[1:] == ["the condition is about partition columns only: metadata decides it"]
    assert step(3, whole) == ["nothing is undecided, so no file is read"]


def test_a_merge_says_what_its_source_has_and_what_stands_in_the_way() -> None:
    assert step(1, merged())[-3:] == [
        "source: 5 rows, read once and kept: these are the rows that are merged",
        "schema: if a row changes, the table gets 1 new column: note",
        "key t.id = s.id: 4 values, 1 NULL",
    ]
    assert step(2, merged())[1:] == [
        "3 files (30 B) may hold a row with a key of the source",
        "note: ON has no equality on day",
        "  add t.day = s.day: Delta would scan 3 files instead of 9",
    ]
    assert step(3, merged()) == ["one join of the source with 3 files, reading day: 3 to be changed"]


@pytest.mark.parametrize("is_zoned", [True, False])
def test_the_time_zone_is_shown_where_it_matters(is_zoned: bool) -> None:
    text = StatementText(Operation.DELETE, "ts < now()", "ts < now()", "Asia/Tokyo", is_zoned=is_zoned)
    document = plan(statement=text)
    assert ("Time zone:   Asia/Tokyo\n" in document.to_text()) is is_zoned
    assert json.loads(document.to_json())["statement"]["timezone_matters"] is is_zoned


@pytest.mark.parametrize(
    ("document", "nothing"), [(plan(is_empty=True), "nothing matches"), (merged(is_empty=True), "no row changes")]
)
def test_a_statement_without_effect_says_so(document: StatementPlan, nothing: str) -> None:
    assert step(4, document) == [f"{nothing}: no commit"]
    assert f"Result: {nothing}, so there is nothing to commit; the table stays at version 7\n" in document.to_text()
    assert json.loads(document.to_json())["result"] == "nothing_matches"


def test_the_effects_name_only_what_happens() -> None:
    assert step(5, plan())[:5] == [
        "rewrite 1 file (10 B)",
        "remove 1 file (10 B) whole, without rewriting",
        "write deletion vectors for 1 file (10 B) instead of rewriting",
        "6 rows deleted, 2 rows copied along unchanged",
        "write amplification 0.33 (rows written per row changed)",
    ]
    assert step(5, plan(effects=effects_of((), deleted=None), guards=())) == [
        "an unknown number of rows deleted, 0 rows copied along unchanged"
    ]


def test_the_executed_condition_is_shown_with_what_delta_scans_for_it() -> None:
    scanned = Strengthening(DeltaScan(20, 2000), "(a) AND (b)", ("b",), DeltaScan(1, 100), True)
    found = plan(strengthening=scanned)
    written = "to find these rows Delta scans 20 files (2.0 KB) for the condition as written"
    assert f"{written}, 1 file (100 B) for the strengthened one" in step(5, found)
    assert step(6, found)[:2] == ["condition, with what it implies beside it (time zone UTC):", "  (a) AND (b)"]
    as_it_is = Strengthening(DeltaScan(1, 100), None, (), None, True)
    assert step(6, plan(strengthening=as_it_is))[0] == "condition, to which nothing needs to be added: year(day) = 2024"
    unwanted = Strengthening(DeltaScan(1, 100), None, (), None, False)
    assert step(6, plan(strengthening=unwanted))[0] == "condition, as written: year(day) = 2024"
    assert plan(strengthening=scanned).condition == "(a) AND (b)"
    assert plan(strengthening=unwanted).condition == "year(day) = 2024"


def test_an_execution_says_how_it_ended() -> None:
    assert execution().to_text().endswith("Result: committed as version 8, as planned\n")
    conflict = execution(Status.CONFLICT).to_text()
    assert "Result: CONFLICT, nothing of this statement is in the table: ConcurrentAppendException" in conflict
    assert "but it DIFFERS from the plan: see step 7" in execution(differs=True).to_text()


def test_a_plan_is_a_value() -> None:
    assert plan() == plan()
    assert copy.deepcopy(merged()) == merged()
    assert repr(plan()) == "<Plan of DELETE on ./users version 7: 3 files>"
