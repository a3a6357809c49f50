"""A fuzzer of both hint parsers: whatever a client sends, there is an answer, and what is not understood drops no file.

Inputs are made from the pieces of real hints, joined, cut, doubled and mutated; a seed makes a batch of them.
"""

from __future__ import annotations

import json
from random import Random

from lakeprune.apps.sharing.hints.ask import Hinted, ask_hints
from lakeprune.planning.planner import Planner
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind
from tests.builders.snapshot import RowsSnapshot
from tests.builders.tables import planner_over
from tests.soundness.sharing.hints import random_json, random_sql

BATCH = 100
_COLUMNS = {
    "p": STRING, "pd": DATE, "pt": TIMESTAMP, "i": INT, "l": LONG, "x": DOUBLE, "f": DataType(Kind.FLOAT), "S": STRING, "d": DATE,
    "ts": TIMESTAMP, "b": BOOLEAN, "n": TIMESTAMP_NTZ, "m": DataType(Kind.DECIMAL, 10, 2), "y": DataType(Kind.BINARY),
}  # fmt: skip
_SQL = [
    "(", ")", ",", " AND ", " OR ", "NOT ", " IS NULL", " IN (", " BETWEEN ", " LIKE ", "=", "<=>", "<>", ">=", "'",
    '"', "`", "''", "\\", ";", "--", "/*", "*/", "CAST(", " AS DATE)", " AS TIMESTAMP)", "partitionValues.", "DATE '",
    "TIMESTAMP '", "2021-04-29", "9999999999999999999999", "1e999", "-", "+", "0x1", ".", "NULL", "TRUE", "i", "p",
    "ts", "n", "m", "y", "current_date()", "rand()", "CASE WHEN ", " END", "[", "]", "{", "}", "$", "?", ":a", "\0",
    "\n", "é", "\ud800", "\U0001f600", "INTERVAL 1 DAY", "x'", "r'", "%", "||", "!", "@", "~", "&&",
]  # fmt: skip
_JSON = [
    "{", "}", "[", "]", ",", ":", '"op"', '"children"', '"equal"', '"and"', '"not"', '"isNull"', '"column"',
    '"literal"', '"valueType"', '"name"', '"value"', '"i"', "null", "true", "1", "-0", "1e999", "NaN", "\\ud800",
    '"\\ud800"', '""', '"int"', '"timestamp"', "\0", "é", "\ud800", "9" * 400,
]  # fmt: skip

_WRONG: list[object] = [
    "equal", "and", "not", "isNull", "in", "column", "int", "date", "timestamp", "", None, 5, -1.5, True, [], {}, "i", "null",
]  # fmt: skip


def planner() -> Planner:
    """Over columns of every type, and no file."""
    return planner_over(RowsSnapshot(_COLUMNS, [], partition_by=["p", "pd", "pt"]))


def try_batch(asked: Planner, seed: int, count: int = BATCH) -> int:
    """So many inputs; raises what a parser raises. Returns how many had a part that was used."""
    random = Random(seed)
    used = 0
    for _ in range(count):
        if random.random() < 0.5:
            hinted = ask_hints(asked, [random_text(random)], None)
        else:
            hinted = ask_hints(asked, [], random_document(random))
        check(hinted)
        used += any(outcome.is_applied for outcome in hinted.outcomes)
    return used


def check(hinted: Hinted) -> None:
    for outcome in hinted.outcomes:
        assert outcome.text.isprintable(), outcome
        assert outcome.reason is None or outcome.reason.isprintable(), outcome
        assert outcome.is_applied or outcome.reason is not None, outcome
        if len(hinted.outcomes) == 1 and not outcome.is_applied:
            assert all(clause.reasons for _, clause in hinted.question.parts), outcome


def random_text(random: Random) -> str:
    roll = random.random()
    if roll < 0.3:
        return "".join(random.choices(_SQL, k=random.randint(0, 25)))
    return _mutated(random, random_sql(random).hint, _SQL)


def random_document(random: Random) -> str:
    roll = random.random()
    if roll < 0.2:
        return "".join(random.choices(_JSON, k=random.randint(0, 40)))
    hint = random_json(random).hint
    if roll < 0.5:
        return json.dumps(_shuffled(random, hint))
    return _mutated(random, json.dumps(hint, ensure_ascii=random.random() < 0.5), _JSON)


def _mutated(random: Random, text: str, pieces: list[str]) -> str:
    for _ in range(random.choice([0, 1, 1, 2, 5])):
        at, to = sorted(random.choices(range(len(text) + 1), k=2))
        to = min(to, at + random.choice([0, 1, 3, 40]))
        text = text[:at] + random.choice([*pieces, text[at:to] * 2]) + text[to:]
    return text


def _shuffled(random: Random, node: object) -> object:
    """Valid JSON with wrong parts: other operations, types, children, values."""
    if not isinstance(node, dict):
        return node
    changed = dict(node)
    key = random.choice(list(changed))
    if random.random() < 0.3:
        changed[key] = random.choice(_WRONG)
    elif random.random() < 0.1:
        del changed[key]
    if isinstance(changed.get("children"), list):
        changed["children"] = [_shuffled(random, child) for child in changed["children"]]
    return changed
