"""Evidence of several rungs for one column: merged in SQL as by the reference; a drop is credited to the first that proves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.engines.reference import Container, Domain, holds, merged
from lakeprune.formats.merging import merged_relation
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.planning.planner import Planner
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.patterns import Evaluation
from lakeprune.report.verdict import credit_of
from lakeprune.skipping.ladder import Evidence, Level, Rung, Seen
from lakeprune.skipping.leaves.membership import membership_mask
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import INT, Family, Kind
from tests.builders.engine import ENGINE
from tests.builders.snapshot import File, RowsSnapshot
from tests.skipping.containers import SqlEngine
from tests.skipping.test_engines_agree import POOLS, domains, sets, type_of

LADDER = tuple(Rung(name, name, name, name, Level.FILE, is_exact=False) for name in ("one", "two", "three"))
EVIDENCE = Evidence(LADDER, lambda _column: frozenset(LADDER))
PRINTER = SqlEngine()


class Apart(RowsSnapshot):
    """One container, of which each rung shows another domain."""

    def __init__(self, column: Column, shown: Mapping[Rung, Domain]) -> None:
        super().__init__({}, [])
        self.facts = replace(self.facts, evidence=EVIDENCE)
        self._shown = {Seen(column, frozenset({rung})): domain for rung, domain in shown.items()}

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002
        row = PRINTER.relation({seen: self._shown[seen] for seen in needs.domains})
        return replace(relation_of(needs), source=f"(SELECT {row})")


def by_sql(column: Column, shown: Mapping[Rung, Domain]) -> Domain:
    seen = Seen(column, frozenset(shown))
    names = merged_relation(Apart(column, shown), ENGINE, Needs((seen,)), Profile(0))
    flags = [names.no_null(seen), names.all_null(seen), names.is_counted(seen)]
    is_text, is_real = (column.type.family is family for family in (Family.TEXT, Family.REAL))
    flags.insert(0, names.is_truncated(seen) if is_text else "FALSE")
    flags.insert(3, names.nan_free(seen) if is_real else "FALSE")
    flags.append(names.has_nan(seen) if is_real else "FALSE")
    ((low, high, *found),) = ENGINE.query(f"SELECT {names.lo(seen)}, {names.hi(seen)}, {', '.join(flags)} FROM {names.source}")
    return Domain(low, high, *found)


@pytest.mark.parametrize("kind", POOLS, ids=lambda kind: kind.value)
def test_sql_merges_as_the_reference_does(kind: Kind) -> None:
    column = Column(("x",), ("x",), type_of(kind), Role.DATA)
    is_real = type_of(kind).family is Family.REAL

    @settings(max_examples=40, deadline=None)
    @given(st.lists(domains(kind), min_size=2, max_size=3))
    def check(several: list[Domain]) -> None:
        known = several if is_real else [replace(domain, nan_free=False, has_nan=False) for domain in several]
        assert by_sql(column, dict(zip(LADDER, known, strict=False))) == merged(known)

    check()


@pytest.mark.parametrize("kind", POOLS, ids=lambda kind: kind.value)
def test_what_one_rung_proves_all_prove_unless_they_contradict(kind: Kind) -> None:
    x = Seen(Column(("x",), ("x",), type_of(kind), Role.DATA))

    @settings(max_examples=60, deadline=None)
    @given(domains(kind), domains(kind), sets(kind))
    def check(one: Domain, other: Domain, values: IntervalSet) -> None:
        together = merged([one, other])
        if together == Domain(has_nan=one.has_nan or other.has_nan) or one.has_nan != other.has_nan:
            return
        if any(domain.has_nan and domain.nan_free for domain in (one, other)):
            return  # it contradicts itself
        mask = membership_mask(x, values)
        for fact in (mask.can_true, mask.can_false, mask.can_null):
            if not holds(fact, Container({x: one}, {})):
                assert not holds(fact, Container({x: together}, {}))

    check()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Domain(0, 10), Domain(5, 20), Domain(5, 10)),
        (Domain(0, None), Domain(None, 20), Domain(0, 20)),
        (Domain(0, 4), Domain(5, 9), Domain()),  # contradiction
        (Domain(0, 4, no_null=True, counted=True), Domain(all_null=True, counted=True), Domain()),
        (Domain(no_null=True, counted=True), Domain(1, 2), Domain(1, 2, no_null=True, counted=True)),
        (Domain("a", "ab", truncated=True), Domain("aa", "abz"), Domain("aa", "abz")),  # the prefix is the weaker end
        (Domain("a", "ab", truncated=True), Domain("aa", "aaz"), Domain("aa", "aaz")),
        (Domain("ab", "ab", truncated=True), Domain("abc", None), Domain("abc", "ab", truncated=True)),
        (Domain(1.0, 2.0, nan_free=True), Domain(0.0, 1.5, has_nan=True), Domain(1.0, 1.5, has_nan=True)),
    ],
)
def test_ends_meet_inside(one: Domain, other: Domain, expected: Domain) -> None:
    assert merged([one, other]) == expected
    assert merged([other, one]) == expected


# Files of a column x about which partition values and statistics both say something, and what `where` makes of them.
FILES = [
    File("both", lifted={"x": (0, 10, 0)}, stats={"x": (0, 10, 0)}),
    File("values", lifted={"x": (0, 10, 0)}, stats={"x": (0, 20, 0)}),
    File("bounds", lifted={"x": (0, 20, 0)}, stats={"x": (0, 10, 0)}),
    File("kept", lifted={"x": (0, 20, 0)}, stats={"x": (0, 20, 0)}),
    File("unknown", lifted={"x": (0, 10, 0)}, stats=None),
    File("nowhere"),
]


def judged(where: str, *files: File) -> dict[str, tuple[Verdict, str | None]]:
    snapshot = RowsSnapshot({"x": INT, "p": INT}, files, lifted=["x"])
    planner = Planner(Evaluation(ENGINE, snapshot, Profile(0)))
    question = planner.ask(where)
    found: dict[str, tuple[Verdict, str | None]] = {}
    for file in planner.select(question, frozenset(Verdict)):
        verdict = file.signature.verdict
        found[file.path] = (verdict, credit_of(file.signature, question.plan) if verdict is Verdict.DROP else None)
    return found


def test_a_drop_is_credited_to_the_first_rung_that_proves_it_alone() -> None:
    dropped, kept = Verdict.DROP, (Verdict.KEEP, None)
    assert judged("x > 15", *FILES) == {
        "both": (dropped, "partition"),
        "values": (dropped, "partition"),
        "bounds": (dropped, "statistics"),
        "kept": kept,
        "unknown": (dropped, "partition"),
        "nowhere": kept,
    }


def test_what_only_both_rungs_prove_is_joint() -> None:
    apart = File("f", lifted={"x": (0, 10, 0)}, stats={"x": (5, 20, 0)})
    assert judged("x < 5 OR x > 10", apart) == {"f": (Verdict.DROP, "joint")}
    assert judged("x BETWEEN 5 AND 10", apart) == {"f": (Verdict.FULL, None)}


@pytest.mark.parametrize("where", ["x > 15", "x < 5", "x = 30", "x IS NULL"])
def test_rungs_that_contradict_each_other_drop_nothing(where: str) -> None:
    contradiction = File("f", lifted={"x": (0, 4, 0)}, stats={"x": (5, 9, 0)})
    assert judged(where, contradiction) == {"f": (Verdict.KEEP, None)}


def test_a_listing_shows_the_merged_range() -> None:
    snapshot = RowsSnapshot({"x": INT}, [File("f", lifted={"x": (0, 10, 0)}, stats={"x": (5, 20, 0)})], lifted=["x"])
    planner = Planner(Evaluation(ENGINE, snapshot, Profile(0)))
    (file,) = planner.select(planner.ask("x > 6"), frozenset(Verdict))
    assert file.bounds == ((5, 10),)
    bounds: Any = file.signature.bounds_known
    assert bounds == (True,)
