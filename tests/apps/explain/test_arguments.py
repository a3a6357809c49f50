"""Arguments of the wrong kind are reported in words, and a report is easy to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from tests.builders import delta


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("arguments") / "users")


@pytest.mark.parametrize("where", [5, b"age > 1", ["age > 1"], True])
def test_a_predicate_that_is_no_text_is_refused(users: Path, where: Any) -> None:
    with pytest.raises(lakeprune.UsageError, match="the predicate is of type"):
        lakeprune.explain(users, where)


def test_one_predicate_is_not_a_list_of_letters(users: Path) -> None:
    with pytest.raises(lakeprune.UsageError, match="where a list is wanted"):
        lakeprune.explain_many(users, "age > 1")
    for wrong in (None, 5):
        with pytest.raises(lakeprune.UsageError, match="the predicates are of type"):
            lakeprune.explain_many(users, wrong)  # type: ignore[arg-type]
    for unordered in ({"old": "age > 1"}, {"age > 1", "age > 2"}):
        with pytest.raises(lakeprune.UsageError, match=r"come in the order of a list\n  fix:   give a list"):
            lakeprune.explain_many(users, unordered)  # type: ignore[arg-type]
    odd: Any = ["age > 1", None]
    with pytest.raises(lakeprune.UsageError, match="predicate 2 of 2 is of type NoneType"):
        lakeprune.explain_many(users, odd)


@pytest.mark.parametrize("version", ["3", 3.0, True])
def test_a_version_that_is_no_whole_number_is_refused(users: Path, version: Any) -> None:
    with pytest.raises(lakeprune.UsageError, match="is not a version"):
        lakeprune.explain(users, version=version)


@pytest.mark.parametrize(
    ("option", "value"),
    [("min_pruning", "x"), ("min_pruning", True), ("max_files", "3"), ("max_bytes", "5MB"), ("max_files", float("nan"))],
)
def test_a_gate_that_is_no_number_is_refused(users: Path, option: str, value: Any) -> None:
    with pytest.raises(lakeprune.UsageError, match=rf"{option} is .*, which (is not a (number|percentage)|no table can meet)"):
        lakeprune.explain(users, "age > 1", **{option: value})


def test_a_time_zone_that_is_no_text_is_refused(users: Path) -> None:
    odd: Any = 5
    with pytest.raises(lakeprune.UsageError, match="not a time zone"):
        lakeprune.explain(users, "age > 1", timezone=odd)


def test_an_unknown_option_names_the_known_ones(users: Path) -> None:
    odd: Any = {"max_file": 3}
    with pytest.raises(TypeError, match=r"no option 'max_file'.*max_files"):
        lakeprune.explain(users, "age > 1", **odd)


def test_a_negative_limit_is_the_caller_s_mistake_not_the_table_s(users: Path) -> None:
    report = lakeprune.explain(users, "age > 1")
    with pytest.raises(lakeprune.UsageError, match="the limit is -1"):
        report.to_dict(verbose=True, limit=-1)
    assert report.to_dict(verbose=True, limit=0)["files"] == []


def test_a_report_shows_what_matters(users: Path) -> None:
    report = lakeprune.explain(users, "age > 40")
    assert repr(report) == f"<Report on {str(users)!r} version 5, 'age > 40': reads 3 of 6 files>"
    assert str(report) == report.to_text()


def test_a_typo_is_reported_even_when_the_table_is_missing(tmp_path: Path) -> None:
    with pytest.raises(lakeprune.PredicateError) as caught:
        lakeprune.explain(tmp_path / "nowhere", "age >")
    assert caught.value.code == "LP101"


def test_what_needs_the_schema_comes_after_the_table(tmp_path: Path) -> None:
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(tmp_path / "nowhere", "no_such_column > 5")
    assert caught.value.code == "LP301"
