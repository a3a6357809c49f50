"""The hints of a client as one question to a planner.

In: the SQL and JSON hints of a request, as they came. Out: the question, and what became of each hint. All hints are ANDed; a
part that is not understood may be TRUE on every row, so it drops no file and proves none. Never raises for anything that a
client may send.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.read.sharing.columns import Columns, unknown
from lakeprune.predicate.read.sharing.json_hints import read_json_hints
from lakeprune.predicate.read.sharing.sql_hints import MAX_ENTRIES, read_sql_hint
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import Column, Constant, Expr, Literal, NanPolicy, Opaque, Profile
from lakeprune.predicate.walk import nodes

MAX_SHOWN = 300  # characters of a hint, and of a reason
MAX_REASONS = 3
MAX_SQL = 32 * 1024  # characters of all SQL hints of a request, which are read term by term


class HintOutcome(Struct, frozen=True):
    """What became of one hint: `is_applied` says that at least a part of it takes part in pruning, `reason` what does not."""

    kind: str  # "sql" or "json"
    is_applied: bool
    reason: str | None
    text: str  # control characters escaped, shortened


class Hinted(Struct, frozen=True):
    """The question of all hints; `is_whole` says that every hint was understood completely, so that a limit may be applied."""

    question: Question
    outcomes: tuple[HintOutcome, ...]
    is_whole: bool


def ask_hints(planner: Planner, sql: Sequence[str], json: str | None) -> Hinted:
    """The question that the hints of a request are; without hints it asks for every file."""
    if not sql and json is None:
        return Hinted(planner.ask(None), (), is_whole=True)
    columns = Columns(planner.facts.schema)
    read = _read_sql(sql[:MAX_ENTRIES], columns, planner.profile)
    if len(sql) > MAX_ENTRIES:
        read.append(("sql", sql[MAX_ENTRIES], unknown("more SQL hints", f"a request has at most {MAX_ENTRIES} SQL hints")))
    if json is not None:
        read.append(("json", json, read_json_hints(json, columns)))
    outcomes = tuple(_outcome(*each) for each in read)
    bound = all_of(dict.fromkeys(tree for _, _, tree in read))
    strict = planner.with_nan_policy(NanPolicy.STRICT)
    question = strict.ask_bound(Condition(" AND ".join(outcome.text for outcome in outcomes), bound), bound)
    return Hinted(question, outcomes, is_whole=all(outcome.reason is None for outcome in outcomes))


def _read_sql(entries: Sequence[str], columns: Columns, profile: Profile) -> list[tuple[str, str, Expr]]:
    """Every entry with its tree, as long as all of them together are within the limit: a request must not take all time."""
    trees: dict[str, Expr] = {}
    left = MAX_SQL
    for text in entries:
        if text not in trees:
            left -= len(text)
            many = unknown("more SQL hints", f"the SQL hints of a request have at most {MAX_SQL // 1024} KiB together")
            trees[text] = read_sql_hint(text, columns, profile) if left >= 0 else many
    return [("sql", text, trees[text]) for text in entries]


def _outcome(kind: str, text: str, tree: Expr) -> HintOutcome:
    found = [node for node in nodes(tree) if isinstance(node, Opaque) and node.reason.code is ReasonCode.HINT_NOT_UNDERSTOOD]
    reasons = list(dict.fromkeys(node.reason.message for node in found))
    more = f"; {len(reasons) - MAX_REASONS} more" if len(reasons) > MAX_REASONS else ""
    is_applied = any(isinstance(node, Column | Constant | Literal) for node in nodes(tree))
    return HintOutcome(kind, is_applied, one_line("; ".join(reasons[:MAX_REASONS]) + more) if reasons else None, one_line(text))


def one_line(text: str) -> str:
    """The text for a log line or a header: shortened, and nothing in it that could end the line.

    >>> one_line("a\\r\\nX-Other: 1")
    'a\\\\r\\\\nX-Other: 1'
    """
    short = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... ({len(text)} characters)"
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in short)
