"""What Spark 4.1 answered, row by row, replayed against binding, evaluation and normalisation.

The answers were recorded by tools/record_spark_answers.py. lakeprune may refuse to say, but where it is definite it must agree
with Spark in every zone and in both ANSI modes; a row on which Spark fails may have any answer. What Spark accepts must not
be an error here, apart from the errors that are documented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Context, Decimal
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.functions.evaluate import Row, evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import And, Column, Either, Expr, IsNull, Not, Opaque, Or, Profile
from lakeprune.values.types import DataType, Kind, Scalar
from tests.scope import IS_WHOLE

ANYTHING: frozenset[bool | None] = frozenset({True, False, None})
TRUTHS: dict[str, bool | None] = {"T": True, "F": False, "N": None}
ZONED = frozenset({"string", "date", "timestamp", "timestamp_ntz"})  # the others were recorded in one zone
NOW = 1_800_000_000_000_000  # the tables hold nothing near it


@cache
def recorded() -> Any:
    return json.loads(Path(__file__).with_name("spark_answers.json").read_text(encoding="utf-8"))


TABLES = tuple(recorded()["tables"])


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("table", TABLES)
def test_lakeprune_never_contradicts_spark(table: str, role: Role) -> None:
    found = list(contradictions(table, role))
    assert not found, f"{len(found)} contradictions\n" + "\n".join(found[:20])


REFUSED = """
d = 2025-01-03 | d = 20250103 | d > 20250103 | d IN (20250103) | d BETWEEN 20250101 AND 20250131 | d != 1.5 | t > 1735800000
t <=> 1735800000 | t IN (1735800000, 0) | b > 0 | b IN (1) | b IN (1, 0) | i IN (true) | d = true | b = DATE '2025-01-03'
d = i | t < l | d + 1 > 20250103 | s = 'EU' || i > 1300 | date_sub(current_date(), INTERVAL 7 DAY) < d
date_add(d, INTERVAL 7 DAY) > DATE '2025-01-03' | x > NaN | i > 1_000 | i > 0x10
"""
REFUSED_UNDER_ANSI = "b = 1 | b = 0 | 1 = b | b != 1.0 | b <=> 1 | i = true | b = i"


@pytest.mark.parametrize("text", [text.strip() for line in REFUSED.split("\n") for text in line.split(" | ") if text])
def test_what_spark_refuses_is_refused(text: str) -> None:
    assert recorded()["tables"]["words"]["answers"][text] == "-"
    for ansi in (True, False):
        assert isinstance(Replay("words", Role.DATA, "UTC").said(text, ansi=ansi), str)


@pytest.mark.parametrize("text", REFUSED_UNDER_ANSI.split(" | "))
def test_what_only_ansi_mode_refuses_is_refused_in_it_alone(text: str) -> None:
    under_ansi, plain = recorded()["tables"]["words"]["answers"][text][:2]
    assert (under_ansi, "-" in plain) == ("-", False)
    replay = Replay("words", Role.DATA, "UTC")
    assert "Spark does not compare them" in replay.said(text, ansi=True)
    assert not isinstance(replay.said(text, ansi=False), str)


def test_a_wrong_answer_is_noticed() -> None:
    replay = Replay("integer", Role.DATA, "UTC")
    assert list(replay.against("c > 3", "".join("N" if row[0] is None else "F" for row in replay.rows), ansi=True))


def test_the_recording_is_large_enough_to_mean_something() -> None:
    tables = recorded()["tables"].values()
    assert sum(len(table["answers"]) * len(table["rows"]) for table in tables) > 50_000


def contradictions(table: str, role: Role) -> Iterator[str]:
    """One line for each predicate, mode and row on which a definite answer differs from Spark's."""
    recording = recorded()
    types = set(recording["tables"][table]["columns"].values())
    modes = recording["modes"] if types & ZONED else recording["modes"][:2]
    replays = {zone: Replay(table, role, zone) for zone in dict.fromkeys(zone for zone, _ in modes)}
    for text, answer in share_of_answers(recording["tables"][table]["answers"], role):
        answers = [answer] if isinstance(answer, str) else answer
        reported = set()
        for (zone, ansi), letters in zip(modes, cycle(answers), strict=False):
            for problem in replays[zone].against(text, letters, ansi=ansi):
                if (zone, problem) not in reported:
                    reported.add((zone, problem))
                    yield f"{table} {role.value} {zone} {'ANSI' if ansi else 'plain'}: {problem}"


def share_of_answers(answers: dict[str, Any], role: Role) -> list[tuple[str, Any]]:
    """All of them in `make conformance`; in `make test` every other one as a partition column, the rest as data."""
    return list(answers.items())[slice(None) if IS_WHOLE else slice(role is Role.PARTITION, None, 2)]


class Replay:
    """lakeprune's answers on one recorded table, in one zone."""

    def __init__(self, table: str, role: Role, zone: str) -> None:
        recording = recorded()["tables"][table]
        self.types = {name: data_type(written) for name, written in recording["columns"].items()}
        self.schema = Schema(tuple(Field(name, name, type_, role) for name, type_ in self.types.items()))
        self.columns = [Column((name,), (name,), type_, role) for name, type_ in self.types.items()]
        self.profile = Profile(now=NOW, zone=zone, zone_is_given=True)
        self.rows = [[scalar(v, t) for v, t in zip(row, self.types.values(), strict=True)] for row in recording["rows"]]
        self.plain = Profile(now=NOW, zone=zone, zone_is_given=True, ansi=False)
        self._known: dict[tuple[str, Profile], list[tuple[str, frozenset[bool | None]]] | str] = {}

    def against(self, text: str, letters: str, *, ansi: bool) -> Iterator[str]:
        if letters == "-" or "?" in letters:
            return
        mine = self._answers(text, self.profile)
        if isinstance(mine, str) and not ansi:
            mine = self._answers(text, self.plain)
        if isinstance(mine, str):
            if not is_listed_error(mine, letters, ansi=ansi):
                yield f"{text}  -> {mine}"
            return
        for index, letter in enumerate(letters):
            if letter in TRUTHS:
                for name, possible in mine[2 * index : 2 * index + 2]:
                    if TRUTHS[letter] not in possible:
                        said = "/".join(sorted(str(value) for value in possible))
                        yield f"{text}  on {self.rows[index]}: Spark {TRUTHS[letter]}, {name} {said}"

    def said(self, text: str, *, ansi: bool) -> list[tuple[str, frozenset[bool | None]]] | str:
        return self._answers(text, self.profile if ansi else self.plain)

    def _answers(self, text: str, profile: Profile) -> list[tuple[str, frozenset[bool | None]]] | str:
        """What evaluation and what the clauses say on each row, in turns; the code of the error when there is one."""
        if (text, profile) not in self._known:
            try:
                bound = bind(parse_predicate(text, profile), self.schema, profile, text)
                clauses = And(tuple(clause.predicate for clause in split(bound, profile)))
            except PredicateError as error:
                self._known[text, profile] = f"{error.code} {error}"
            else:
                rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
                self._known[text, profile] = [
                    answer
                    for row in rows
                    for answer in (("evaluate", _evaluated(bound, row, profile)), ("split", possible(clauses, row, profile)))
                ]
        return self._known[text, profile]


def is_listed_error(error: str, letters: str, *, ansi: bool) -> bool:
    """No predicate (LP104), other rows (LP105), text that is not of the type (LP106) where ANSI mode fails on a row, too.

    'NaN' against a decimal is such text: Spark, which compares both as doubles, accepts it. Types that Spark does not compare
    are its own refusal: what it answers is never one.
    """
    if "Spark does not compare them" in error:
        return False
    if error.startswith("LP106"):
        return not ansi or "e" in letters or "'NaN' is not a value of type decimal" in error
    return error.startswith(("LP104", "LP105"))


def _evaluated(bound: Expr, row: Row, profile: Profile) -> frozenset[bool | None]:
    try:
        found = evaluate(bound, row, profile)
    except EvaluationFailed:
        return ANYTHING
    assert found is None or isinstance(found, bool)
    return frozenset({found})


def possible(expr: Expr, row: Row, profile: Profile) -> frozenset[bool | None]:
    """What the truth of a normalised tree can be on one row; anything, for what fails."""
    match expr:
        case Opaque():
            return ANYTHING
        case Either(outer, inner):
            return possible(outer, row, profile) | possible(inner, row, profile)
        case And(parts) | Or(parts):
            decisive = isinstance(expr, Or)
            found: frozenset[bool | None] = frozenset({not decisive})
            for part in parts:
                options = possible(part, row, profile)
                found = frozenset(_connected(a, b, decisive=decisive) for a in found for b in options)
            return found
        case Not(part):
            return frozenset(None if value is None else not value for value in possible(part, row, profile))
        case IsNull(part):
            return frozenset(value is None for value in possible(part, row, profile))
        case _:
            return _evaluated(expr, row, profile)


def _connected(a: bool | None, b: bool | None, *, decisive: bool) -> bool | None:
    if a is decisive or b is decisive:
        return decisive
    return None if a is None or b is None else not decisive


def data_type(written: str) -> DataType:
    if written.startswith("decimal"):
        precision, scale = written[8:-1].split(",")
        return DataType(Kind.DECIMAL, int(precision), int(scale))
    return DataType(Kind(written))


def scalar(value: Any, type_: DataType) -> Scalar:
    if value is None:
        return None
    match type_.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return float(value)
        case Kind.DECIMAL:
            return Decimal(value).normalize(Context(prec=40))  # a value is a number: its scale is its type's
        case Kind.BINARY:
            return bytes.fromhex(value)
    assert isinstance(value, bool | int | str)
    return value
