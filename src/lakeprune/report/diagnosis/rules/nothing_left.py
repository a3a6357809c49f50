"""NOTHING_LEFT: a predicate that no file of a table can match. A pruning gate passes on it, and so does a typo.

The clause to blame drops every file by itself. What the table does hold is named: the values of the partition column, nearest
first, or the bounds of the data column over all files.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column, Compare, Constant, Expr, Literal, Op
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import ends_of, texts_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Numbers, brief
from lakeprune.report.listing import shown
from lakeprune.values.types import STRING

MOST_VALUES = 1000  # of a partition column that are looked at
MOST_SHOWN = 8


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
        return _finding(case, clause.text, None, f"{none}: no row can satisfy it", *_repaired(conjunct))
    column = columns[0]
    return (
        _of_partition(case, none, index, column) if case.facts.evidence.is_exact(column) else _of_data(case, none, index, column)
    )


def _of_partition(case: Case, none: str, index: int, column: Column) -> Finding:
    clause, name = case.plan.clauses[index], name_text(column.path)
    subset = files_where(case.evaluation, case.plan, [], Needs(partition_texts=(column,)), whole=True)
    texts = texts_of(case.evaluation.engine, subset, column, MOST_VALUES)
    wanted = [node.value for node in nodes(case.conjuncts[index]) if isinstance(node, Literal) and isinstance(node.value, str)]
    near = _nearest(wanted, [text for text in texts if text is not None])
    known = ", ".join("NULL" if text is None else show(Literal(text, STRING)) for text in texts[:MOST_SHOWN])
    more = ", ..." if len(texts) > MOST_SHOWN else ""
    numbers: Numbers = {"values": len(texts)}
    suggestion, rewrite = f"compare {name} with a value that the table has", None
    if near is not None:
        numbers["nearest"] = near
        values = case.evaluation.snapshot.partition_values(near, column, case.profile) or ()
        suggestion = f"did you mean {near!r}?"
        if len(values) == 1 and values[0] is not None:
            rewrite = show(Compare(Op.EQ, column, Literal(values[0], column.type)), case.profile.zone)
    return _finding(case, clause.text, name, f"{none}; known values of {name}: {known}{more}", suggestion, rewrite, **numbers)


def _of_data(case: Case, none: str, index: int, column: Column) -> Finding:
    clause, name = case.plan.clauses[index], name_text(column.path)
    seen = case.facts.evidence.seen(column)
    subset = files_where(case.evaluation, case.plan, [], Needs(domains=(seen,)), whole=True)
    low, high = (_text(end, column, case) for end in ends_of(case.evaluation.engine, subset, seen))
    if low is None or high is None:
        suggestion, rewrite = _repaired(case.conjuncts[index])
        return _finding(case, clause.text, name, none, suggestion, rewrite)
    suggestion = "ask for values in this range, or check whether the table is still written"
    message = f"{none}; {name} lies between {low} and {high} in all of them"
    return _finding(case, clause.text, name, message, suggestion, None, least=low, greatest=high)


def _text(value: Any, column: Column, case: Case) -> str | None:
    return None if value is None else str(shown(value, column, case.profile))


def _nearest(wanted: list[str], known: list[str]) -> str | None:
    """The known value that is written most like a wanted one; case alone counts for little."""
    folded = {text.casefold(): text for text in reversed(known)}
    for text in wanted:
        if close := get_close_matches(text.casefold(), folded, 1):
            return folded[close[0]]
    return None


def _repaired(conjunct: Expr) -> tuple[str, str | None]:
    """What to do about a condition that no row satisfies; `x = NULL` is `x IS NULL`."""
    match conjunct:
        case Compare(Op.EQ, Column() as column, Literal(value=None)) | Compare(Op.EQ, Literal(value=None), Column() as column):
            return "a comparison with NULL is never TRUE; use IS NULL", f"{name_text(column.path)} IS NULL"
        case Compare(Op.NE, Column() as column, Literal(value=None)) | Compare(Op.NE, Literal(value=None), Column() as column):
            return "a comparison with NULL is never TRUE; use IS NOT NULL", f"{name_text(column.path)} IS NOT NULL"
    return "check the constants and the direction of the comparisons", None


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
