"""One question, many answers: what is selected, and what is left to filter in each container."""

from __future__ import annotations

import pytest

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.planning.planner import Planner
from lakeprune.predicate.tree import Profile
from lakeprune.predicate.write.show import show
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import EVERY, KEPT, Order
from lakeprune.skipping.verdict import Verdict
from tests.builders.reports import USERS, snapshot
from tests.builders.snapshot import File

WHERE = "country = 'IT' AND age > 40"
EMPTY = File("z", 10, 3, 3, {"country": "IT"}, {"age": (41, 65, 0)})


def planner(*files: File) -> Planner:
    return Planner(Evaluation(DuckDBEngine(), snapshot(*(files or USERS)), Profile(0)))


def paths(found: Planner, where: str | None, verdicts: frozenset[Verdict], **options: object) -> list[str]:
    return [file.path for file in found.select(found.ask(where), verdicts, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "verdict", "expected"),
    [
        (WHERE, Verdict.FULL, ["a"]),
        (WHERE, Verdict.KEEP, []),
        (WHERE, Verdict.DROP, ["b", "c", "d", "e", "f"]),
        ("age > 40", Verdict.FULL, ["a"]),
        ("age > 40", Verdict.KEEP, ["c", "e"]),
        ("age > 40", Verdict.DROP, ["b", "d", "f"]),
        (None, Verdict.FULL, ["a", "b", "c", "d", "e", "f"]),
        (None, Verdict.DROP, []),
    ],
)
def test_select_gives_the_containers_of_a_verdict(where: str | None, verdict: Verdict, expected: list[str]) -> None:
    assert paths(planner(), where, frozenset({verdict})) == expected


@pytest.mark.parametrize(
    "where", [WHERE, "age > 40", "age > 22 OR country = 'DE'", "1 = 0", "1 = 1", "age IS NULL", "name = 'x'"]
)
def test_every_verdict_is_the_one_of_the_signature(where: str) -> None:
    found = planner(*USERS, EMPTY)
    by_verdict = {verdict: set(paths(found, where, frozenset({verdict}))) for verdict in Verdict}
    listed = {file.path: file.signature.verdict for file in found.select(found.ask(where), EVERY)}
    assert {path: verdict for verdict, several in by_verdict.items() for path in several} == listed


def test_a_container_without_live_rows_is_selected_only_on_request() -> None:
    found = planner(*USERS, EMPTY)
    assert paths(found, "age > 40", KEPT) == ["a", "c", "e"]
    assert paths(found, "age > 40", KEPT, with_empty=True) == ["a", "c", "e", "z"]


def test_order_and_limit() -> None:
    assert paths(planner(), "age > 20", KEPT, order=Order.LARGEST, limit=3) == ["b", "f", "d"]


@pytest.mark.parametrize(
    ("path", "residual"),
    [("a", "TRUE"), ("c", "age > 40"), ("e", "age > 40")],
)
def test_the_residual_is_what_metadata_does_not_prove(path: str, residual: str) -> None:
    found = planner()
    question = found.ask("country IN ('IT', 'US', 'DE') AND age > 40")
    (file,) = [file for file in found.select(question, KEPT) if file.path == path]
    assert show(found.residual(question, file), "UTC") == residual


def test_the_residual_is_the_predicate_as_bound_not_its_rewrite() -> None:
    found = planner()
    question = found.ask("age + 1 > 41")
    residuals = {file.path: show(found.residual(question, file), "UTC") for file in found.select(question, KEPT)}
    assert residuals["c"] == "age + 1 > 41"


@pytest.mark.parametrize(
    ("where", "rows", "expected"),
    [
        (None, 0, []),
        (None, 1, ["a"]),
        (None, 3, ["a"]),
        (None, 4, ["a", "b"]),
        (None, 1000, ["a", "b", "c", "d", "e", "f"]),
        ("age > 40", 3, ["a"]),  # c and e match in part: their rows never count
        ("age > 40", 4, ["a", "c", "e"]),
        ("1 = 0", 5, []),
    ],
)
def test_a_limit_counts_only_rows_that_match_for_certain(where: str | None, rows: int, expected: list[str]) -> None:
    found = planner()
    assert [file.path for file in found.needed(found.ask(where), rows)] == expected


def test_files_without_counts_are_needed_only_where_the_others_do_not_suffice() -> None:
    found = planner(File("a", 10, None, 0, {"country": "IT"}, {}), File("b", 10, 4, 0, {"country": "IT"}, {}))
    assert [file.path for file in found.needed(found.ask(None), 4)] == ["b"]
    assert [file.path for file in found.needed(found.ask(None), 5)] == ["a", "b"]
