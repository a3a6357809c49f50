"""`lakeprune.explain` from Python: what it takes, what it gives, what it raises."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

import lakeprune
from lakeprune.formats.relation import Relation, relation_of
from lakeprune.formats.snapshot import Expected
from tests.builders import delta
from tests.builders.reports import USERS, report_on, reports_on, snapshot

WHERE = "country = 'DE' AND age > 40"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("api") / "users")


def test_a_path_as_text_and_as_object_give_the_same(users: Path) -> None:
    first, second = lakeprune.explain(str(users), WHERE), lakeprune.explain(users, where=WHERE)
    assert first.numbers == second.numbers
    assert [file.path for file in first.files] == [file.path for file in second.files]


def test_a_delta_table_is_explained_at_its_loaded_version(users: Path) -> None:
    assert lakeprune.explain(DeltaTable(users), WHERE).facts.version == 5
    assert lakeprune.explain(DeltaTable(users, version=2), "age > 40").numbers.total.files == 3


def test_a_version_and_a_time_choose_the_snapshot(users: Path) -> None:
    assert lakeprune.explain(users, "age > 40", version=1).numbers.total.files == 2
    future = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    assert lakeprune.explain(users, "age > 40", timestamp="2999-01-01").facts.version == 5
    assert lakeprune.explain(users, "age > 40", timestamp=future).facts.version == 5


def test_something_else_is_no_table() -> None:
    odd: Any = 42
    with pytest.raises(lakeprune.UsageError, match="a int is not a table"):
        lakeprune.explain(odd, WHERE)


def test_an_unknown_option_is_refused(users: Path) -> None:
    options: dict[str, Any] = {"min_prunning": 90}
    with pytest.raises(TypeError, match="min_prunning"):
        lakeprune.explain(users, WHERE, **options)


def test_a_report_has_what_a_notebook_needs(users: Path) -> None:
    report = lakeprune.explain(users, WHERE, min_pruning=90)
    assert isinstance(report, lakeprune.Report)
    assert not report.passed
    assert [phase.after.files for phase in report.phases] == [2, 1]
    assert [clause.clause.text for clause in report.clauses] == ["country = 'DE'", "age > 40"]
    assert len(report.files) == 6
    assert report.to_dict()["final_files"] == 1
    assert "Total reduction: 6 -> 1 files" in report.to_text()


def test_many_predicates_give_the_same_reports_as_one_by_one(users: Path) -> None:
    wheres = [f"age > {limit} AND country != 'X{limit}'" for limit in range(0, 80, 4)] + ["country = 'DE' OR age > 60", "TRUE"]
    together = lakeprune.explain_many(users, wheres)
    assert [report.numbers for report in together] == [lakeprune.explain(users, where).numbers for where in wheres]
    assert [report.predicate for report in together] == wheres


def test_many_predicates_are_one_read_of_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    table = snapshot(*USERS)
    asked: list[Relation] = []
    original = type(table).relation

    def counted(*args: Any) -> Relation:
        asked.append(original(*args))
        return asked[-1]

    monkeypatch.setattr(type(table), "relation", counted)
    assert len(reports_on(table, [f"age > {limit}" for limit in range(100)])) == 100
    assert len(asked) == 1


def test_no_predicates_give_no_reports(users: Path) -> None:
    assert lakeprune.explain_many(users, []) == []


def test_a_wrong_predicate_in_a_batch_is_named(users: Path) -> None:
    with pytest.raises(lakeprune.PredicateError, match=r"predicate 2 of 3: .*nope"):
        lakeprune.explain_many(users, ["age > 1", "nope > 1", "age > 2"])


@pytest.mark.parametrize("expected", [Expected(files=7, source="5.crc"), Expected(files=6, bytes=4501, source="5.crc")])
def test_a_snapshot_that_disagrees_with_its_checksum_is_refused(expected: Expected) -> None:
    with pytest.raises(lakeprune.TableError, match="its checksum") as caught:
        report_on(snapshot(*USERS, expected=expected), WHERE)
    assert (caught.value.code, caught.value.exit_code) == ("LP320", 3)


def test_a_snapshot_that_agrees_with_its_checksum_is_explained() -> None:
    assert report_on(snapshot(*USERS, expected=Expected(6, 4500, "5.crc")), WHERE).numbers.kept.files == 1


def test_what_the_engine_cannot_read_is_a_table_error_in_short_words(monkeypatch: pytest.MonkeyPatch) -> None:
    table = snapshot(*USERS)
    unreadable = "(SELECT " + "nothing, " * 200 + "1)"
    monkeypatch.setattr(type(table), "relation", lambda _self, _engine, needs, _profile: relation_of(needs, unreadable))
    with pytest.raises(lakeprune.TableError, match="cannot be read") as caught:
        report_on(table, WHERE)
    assert caught.value.code == "LP306"
    assert len(caught.value.why or "") < 310


def test_names_are_exported_and_others_are_not() -> None:
    assert lakeprune.explain.__module__ == "lakeprune.apps.explain.explain"
    assert set(dir(lakeprune)) >= {"explain", "explain_many", "Report", "TableError"}
    with pytest.raises(AttributeError, match="nonsense"):
        lakeprune.nonsense  # noqa: B018  # the access is the test
