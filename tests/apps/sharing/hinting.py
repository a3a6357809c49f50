"""Hints over real tables: the files that a planner keeps for them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakeprune.apps.sharing.hints.ask import Hinted, ask_hints
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.skipping.verdict import Verdict
from tests.builders.delta import write_table

Hint = dict[str, Any]


def column(name: str, type_: str | None) -> Hint:
    return {"op": "column", "name": name, **({} if type_ is None else {"valueType": type_})}


def literal(value: Any, type_: str | None) -> Hint:
    return {"op": "literal", "value": value, **({} if type_ is None else {"valueType": type_})}


def compared(op: str, name: str, value: Any, type_: str) -> Hint:
    return {"op": op, "children": [column(name, type_), literal(value, type_)]}


def joined(op: str, *children: Any) -> Hint:
    return {"op": op, "children": list(children)}


def negated(child: Any) -> Hint:
    return joined("not", child)


def is_null(name: str, type_: str) -> Hint:
    return joined("isNull", column(name, type_))


def planner_of(path: Path, **session: Any) -> Planner:
    return open_planner(str(path), At(), profile_of(**session)[0], access={})


class Asked:
    """What a request with these hints gets."""

    def __init__(self, planner: Planner, sql: Sequence[str] = (), hint: Hint | str | None = None) -> None:
        text = json.dumps(hint) if isinstance(hint, dict) else hint
        with planner.engine.awake():
            self.hinted: Hinted = ask_hints(planner, sql, text)
            kept = list(planner.select(self.hinted.question, (Verdict.KEEP, Verdict.FULL), with_empty=True))
        self.paths = [container.path for container in kept]
        self.full = [container.path for container in kept if container.signature.verdict is Verdict.FULL]

    @property
    def reasons(self) -> list[str | None]:
        return [outcome.reason for outcome in self.hinted.outcomes]


def days_table(root: Path) -> Path:
    """Three files of ten rows, a day each: `d` is text and the partition, ids are 0-29, moments have microseconds."""
    return write_table(root, [_day(number) for number in range(3)], partition_by=["d"])


def _day(number: int) -> pa.Table:
    ids = range(10 * number, 10 * number + 10)
    day = dt.date(2021, 4, 28 + number)
    moments = [dt.datetime(2021, 4, day.day, 0, 0, second, 500, tzinfo=dt.UTC) for second in range(10)]
    return pa.table(
        {
            "d": [day.isoformat()] * 10,
            "id": pa.array(ids, pa.int32()),
            "long": pa.array(ids, pa.int64()),
            "x": [float(i) for i in ids],
            "s": [f"s{i:03}" for i in ids],
            "day": pa.array([day] * 10),
            "ts": pa.array(moments),
        }
    )
