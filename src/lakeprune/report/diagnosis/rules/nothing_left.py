"""NOTHING_LEFT: a predicate that no file of a table can match. A pruning gate passes on it, and so does a typo.

The clause to blame drops every file by itself. What the table does hold is named: the values of the partition column, nearest
first, or the bounds of the data column over all files.
"""

from __future__ import annotations

import math
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column, Compare, Constant, Expr, In, Literal, Op
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import ends_of, texts_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Numbers, brief
from lakeprune.report.diagnosis.repaired import repaired
from lakeprune.report.listing import shown
from lakeprune.skipping.fact import Known
from lakeprune.values.types import STRING, Scalar

MOST_VALUES = 1000  # of a partition column that are looked at
MOST_SHOWN = 8
_ORDERED = int | float | Decimal


def nothing_left(case: Case) -> list[Finding]:
    """One for the predicate, when it leaves no file of a table that has some."""
    if case.kept or not case.total:
        return []
    live = case.total - case.numbers.empty.files
    alone = [index for index, clause in enumerate(case.numbers.clauses) if clause.drops_any.files >= live]
    if not alone:
        pairs = zip(case.plan.clauses, case.numbers.clauses, strict=True)
        dropped = ", ".join(f"{brief(c.text)} drops {n.drops_any.files}" for c, n in pairs)
        message = f"no clause by itself, but all together they leave {_none(case)}: {dropped}"
        return [_finding(case, None, None, message, "check whether the clauses are meant to hold for the same row")]
    return [_blamed(case, alone[0])]


def _none(case: Case) -> str:
    return f"none of the {files_text(case.total)}" if case.total > 1 else "nothing of the one file"


def _blamed(case: Case, index: int) -> Finding:
    clause, conjunct = case.plan.clauses[index], case.conjuncts[index]
    none = f"{brief(clause.text)} leaves {_none(case)}"
    columns = columns_of(conjunct)
    if isinstance(clause.predicate, Constant) or len(columns) != 1:
        return _finding(case, clause.text, None, f"{none}: no row can satisfy it", *repaired(case, conjunct))
    column = columns[0]
    return (
        _of_partition(case, none, index, column) if case.facts.evidence.is_exact(column) else _of_data(case, none, index, column)
    )


def _of_partition(case: Case, none: str, index: int, column: Column) -> Finding:
    clause, conjunct, name = case.plan.clauses[index], case.conjuncts[index], name_text(column.path)
    subset = files_where(case.evaluation, case.plan, [], Needs(partition_texts=(column,)), whole=True)
    texts = texts_of(case.evaluation.engine, subset, column, MOST_VALUES)
    wanted, is_text = _wanted(conjunct, column), column.type == STRING
    known = [text for text in texts if text is not None]
    near = _most_like(wanted, known) if is_text else None
    if not is_text:
        texts = _nearest_first(case, column, wanted, texts)
        near = texts[0] if wanted and texts else None
    elif near is not None:
        texts = sorted(texts, key=lambda text: text != near) if len(texts) > MOST_SHOWN else texts
    shown_values = ", ".join("NULL" if text is None else show(Literal(text, STRING)) for text in texts[:MOST_SHOWN])
    more = ", ..." if len(texts) > MOST_SHOWN else ""
    numbers: Numbers = {"values": len(texts)}
    suggestion, rewrite = f"compare {name} with a value that the table has", None
    if isinstance(case.plan.bits[case.plan.positions[index].can_true].fact, Known):
        suggestion, rewrite = repaired(case, conjunct)
    elif near is not None:
        numbers["nearest"] = near
        suggestion = f"did you mean {near!r}?" if is_text else f"the nearest value is {near!r}"
        values = case.evaluation.snapshot.partition_values(near, column, case.profile) or ()
        if is_text and len(values) == 1 and values[0] is not None:
            rewrite = show(Compare(Op.EQ, column, Literal(values[0], column.type)), case.profile.zone)
    message = f"{none}; known values of {name}: {shown_values}{more}"
    return _finding(case, clause.text, name, message, suggestion, rewrite, **numbers)


def _wanted(conjunct: Expr, column: Column) -> list[Scalar]:
    """The constants that the column is compared with; of text also those that are compared with something made of it."""
    found: list[Scalar] = []
    for node in nodes(conjunct):
        match node:
            case Compare(_, left, right) if column in (left, right):
                found += [side.value for side in (left, right) if isinstance(side, Literal)]
            case In(value, options) if value == column:
                found += [option.value for option in options[:MOST_SHOWN] if isinstance(option, Literal)]
            case Literal(str() as text) if column.type == STRING:
                found.append(text)
    return list(dict.fromkeys(value for value in found if value is not None))


def _nearest_first(case: Case, column: Column, wanted: list[Scalar], texts: list[str | None]) -> list[str | None]:
    """The values of a column of numbers or times, those nearest to a wanted one first."""

    def distance(text: str | None) -> float:
        values = case.evaluation.snapshot.partition_values(text, column, case.profile) or ()
        pairs = [(a, b) for a in values for b in wanted if isinstance(a, _ORDERED) and isinstance(b, _ORDERED)]
        return min((abs(float(a) - float(b)) for a, b in pairs), default=math.inf)

    return sorted(texts, key=distance)


def _of_data(case: Case, none: str, index: int, column: Column) -> Finding:
    clause, name = case.plan.clauses[index], name_text(column.path)
    seen = case.facts.evidence.seen(column)
    subset = files_where(case.evaluation, case.plan, [], Needs(domains=(seen,)), whole=True)
    low, high = (_text(end, column, case) for end in ends_of(case.evaluation.engine, subset, seen))
    if low is None or high is None:
        suggestion, rewrite = repaired(case, case.conjuncts[index])
        return _finding(case, clause.text, name, none, suggestion, rewrite)
    suggestion = "ask for values in this range, or check whether the table is still written"
    message = f"{none}; {name} lies between {low} and {high} in all of them"
    return _finding(case, clause.text, name, message, suggestion, None, least=low, greatest=high)


def _text(value: Any, column: Column, case: Case) -> str | None:
    return None if value is None else str(shown(value, column, case.profile))


def _most_like(wanted: list[Scalar], known: list[str]) -> str | None:
    """The known value that is written most like a wanted one; case alone counts for little."""
    folded = {text.casefold(): text for text in reversed(known)}
    for text in wanted:
        if isinstance(text, str) and (close := get_close_matches(text.casefold(), folded, 1)):
            return folded[close[0]]
    return None


def _finding(
    case: Case,
    clause: str | None,
    column: str | None,
    message: str,
    suggestion: str,
    rewrite: str | None = None,
    **numbers: int | float | str,
) -> Finding:
    counts: Numbers = {"files": case.total, "kept_files": 0}
    return Finding(
        clause=clause, column=column, message=message, numbers=counts | numbers, suggestion=suggestion, rewrite=rewrite
    )
