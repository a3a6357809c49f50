"""Hints and a restriction as one question, and what is reported about the hints.

In: the hints of a request. Out: `Planned`: the question, whether its limit may be applied, and the words of the hint header.
Whatever a client sends, the answer is a superset of what it asked for; what the restriction hides is never part of it.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.sharing.hints.ask import HintOutcome, ask_hints, one_line
from lakeprune.apps.sharing.server.body import QueryBody
from lakeprune.apps.sharing.server.grants import Granted
from lakeprune.apps.sharing.server.metrics import Metrics
from lakeprune.apps.sharing.server.tables import Totals
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.programs.select import KEPT, Selection, count_selected

HEADER = "x-lakeprune-hints"
WARNING_HEADER = "x-lakeprune-warning"
MOST_WORK = 400_000_000  # bits of a plan times files: beyond it, hints are ignored
LONGEST_HEADER = 1024


class Planned(Struct, frozen=True):
    question: Question
    outcomes: tuple[HintOutcome, ...]
    limit: int | None  # the limit that is applied
    is_hinted: bool

    @property
    def selection(self) -> Selection:
        """The files of the answer."""
        return Selection(KEPT, with_empty=self.question.condition is None, rows=self.limit)

    def ignored(self) -> list[str]:
        return [f"{each.kind}: {each.text}: {each.reason}" for each in self.outcomes if each.reason is not None]

    def kept(self, planner: Planner, totals: Totals) -> int:
        """How many files the answer has, on all of its pages."""
        if not self.is_hinted and self.limit is None:
            return totals.files
        with planner.reading():
            return count_selected(planner.evaluation, self.question.plan, self.selection)

    def header(self, kept: int, total: int) -> str:
        """`json=applied;sql=ignored;files=3/120`, in ASCII."""
        words = []
        for kind in ("json", "sql"):
            found = [each for each in self.outcomes if each.kind == kind]
            if found:
                words.append(f"{kind}={_state(found)}")
        if self.limit is not None:
            words.append(f"limit={self.limit}")
        words.append(f"files={kept}/{total}")
        return ";".join(words).encode("ascii", "replace").decode()[:LONGEST_HEADER]


def plan(planner: Planner, granted: Granted, body: QueryBody, totals: Totals, metrics: Metrics) -> Planned:
    """The question of a request."""
    sql = body.predicate_hints
    switched_off = granted.share.sql_hints == "off" and bool(sql)
    hinted = ask_hints(planner, () if switched_off else sql, body.json_hints)
    outcomes = list(hinted.outcomes)
    if switched_off:
        outcomes += [
            HintOutcome("sql", is_applied=False, reason="SQL hints are switched off", text=one_line(text)) for text in sql[:3]
        ]
    bad = [kind for kind, is_bad in (("sql", body.has_bad_sql), ("json", body.has_bad_json)) if is_bad]
    outcomes += [HintOutcome(kind, is_applied=False, reason="a hint is not text", text="") for kind in bad]
    question, is_whole = hinted.question, hinted.is_whole and not switched_off and not bad
    if len(question.plan.bits) * totals.files > MOST_WORK:
        question, is_whole = planner.ask(None), False
        outcomes = [replace(each, is_applied=False, reason="too much work for so many files") for each in outcomes]
    for each in outcomes:
        metrics.add("hints", kind=each.kind, outcome=_state([each]))
    is_hinted = question.condition is not None
    question = _restricted(planner, question, granted.where)
    limit = body.limit if is_whole else None
    return Planned(question, tuple(outcomes), limit, is_hinted=is_hinted)


def _restricted(planner: Planner, hinted: Question, where: str | None) -> Question:
    if where is None:
        return hinted
    allowed = planner.ask(where)
    if hinted.condition is None or allowed.condition is None:
        return allowed
    return planner.ask_bound(hinted.condition, all_of([hinted.bound, allowed.bound]))


def _state(outcomes: list[HintOutcome]) -> str:
    applied, whole = any(each.is_applied for each in outcomes), all(each.reason is None for each in outcomes)
    return ("applied" if whole else "partly") if applied else "ignored"
