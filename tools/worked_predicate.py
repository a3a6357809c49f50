"""One predicate as it looks at each of the ten steps, for docs/architecture.md: printed by the code itself, never by hand.

In: nothing; the demo's table of six files is written to a temporary folder. Out: a title and a text per step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct

from demo.tables import users
from lakeprune.apps.explain.opening import opened
from lakeprune.formats.relation import Needs
from lakeprune.planning.opening import At
from lakeprune.predicate.tree import Column, Literal, Name
from lakeprune.programs.patterns import Outcome
from lakeprune.report.attribution import attribute
from lakeprune.skipping.ladder import Seen
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import DataType

WHERE = "country = 'DE' AND age > 40.5"


def steps() -> Iterator[tuple[str, str]]:
    """Each step of docs/architecture.md with what it makes of the predicate."""
    with tempfile.TemporaryDirectory() as folder:
        explainer, (condition,) = opened(users(Path(folder) / "users"), [WHERE], At(), {})
        planner = explainer.planner
        assert condition is not None, "there is a predicate"
        yield "text", WHERE
        yield "tree", _shown(condition.tree)
        question = planner.ask(condition)
        yield "bound", _shown(question.bound)
        plan = question.plan
        yield "clauses", "\n".join(_shown(clause.predicate) for clause in plan.clauses)
        place = plan.positions[1]
        yield (
            "mask",
            f"can be TRUE: {_shown(plan.bits[place.can_true].fact)}\nis not TRUE: {_shown(plan.bits[place.not_true].fact)}",
        )
        yield "bits", "\n".join(f"{number}: {_shown(bit.fact)}, lifted: {bit.lift.value}" for number, bit in enumerate(plan.bits))
        printer = planner.evaluation.relation(plan, Needs())
        yield "sql", printer.bit(plan.bits[place.can_true], 1)
        (patterns,) = planner.patterns([question])
        ordered = sorted(patterns, key=lambda pattern: (pattern.files, str(pattern.signature)))
        yield (
            "patterns",
            "\n".join(f"{p.files} x {p.signature.verdict.value}: {_behaviour(p.signature.outcomes)}" for p in ordered),
        )
        numbers = attribute(plan, patterns)
        credits_ = {name: amount.files for name, amount in numbers.credits.items()}
        yield "attribution", f"total {numbers.total.files}, kept {numbers.kept.files}, credits {credits_}"
        report = explainer.report(question, patterns)
        yield "report", "\n".join(line for line in report.to_text().splitlines() if line.startswith("Total"))


def _shown(value: Any) -> str:
    """A value as its class and fields, with the leaves that repeat everywhere abbreviated."""
    match value:
        case Column(path=path, role=role):
            return f"Column({'.'.join(path)}, {role.value})"
        case Seen(column=column):
            return _shown(column)
        case Name(parts=parts):
            return f"Name({'.'.join(parts)})"
        case Literal(constant, None):
            return f"Literal({constant!r})"
        case Literal(constant, DataType(kind=kind)):
            return f"Literal({constant!r}, {kind.value})"
        case IntervalSet(intervals=intervals):
            return " ".join(f"[{'' if i.lo is None else i.lo}..{'' if i.hi is None else i.hi}]" for i in intervals)
        case tuple():
            return ", ".join(_shown(part) for part in value)
        case Enum():
            return str(value.value)
        case Struct():
            return f"{type(value).__name__}({', '.join(_shown(getattr(value, name)) for name in value.__struct_fields__)})"
        case _:
            return repr(value)


def _behaviour(outcomes: tuple[Outcome, ...]) -> str:
    return "; ".join(f"can be TRUE: {o.can_true}, by rung: {o.by_rung}" for o in outcomes)


if __name__ == "__main__":
    for name, text in steps():
        print(f"## {name}\n{text}\n")
