"""OPAQUE_EXPRESSION: a clause that metadata cannot decide, with a rewrite it can decide where one is proven and helps."""

from __future__ import annotations

from msgspec import Struct

from lakeprune.predicate.passes.sargable import sargable
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.tree import TRUE, Expr, Opaque
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.pasteable import implied, is_exact, plain_sql, whole_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, brief, column_in, kept_files
from lakeprune.report.model import Severity

_RANGE = "if every row you want lies in a range of {column}, add that range to the predicate"
_SUGGESTIONS = {
    ReasonCode.NOT_EVALUATED: "nothing needs to change for Spark: the count here is the most that it reads",
    ReasonCode.NON_DETERMINISTIC: "filter by columns as well: what changes with every row no metadata can decide",
    ReasonCode.NO_ORDERED_STATISTICS: "files record no minimum and maximum of {column}: filter by another column as well",
    ReasonCode.COLLATION: "files record text in the order of its bytes: filter by a column without a collation as well",
    ReasonCode.CROSS_TYPE: "compare {column} with a constant of its own type",
    ReasonCode.TYPE_CHANGE_UNKNOWN: "write the files again, so that they have the column's present type",
    ReasonCode.PREDICATE_TOO_LARGE: "split the predicate, or join against a table of values",
}


class _Rewrite(Struct, frozen=True):
    text: str
    bound: Expr
    is_equivalent: bool  # otherwise the original stands beside what it implies


def opaque_expression(case: Case) -> Investigation:
    """One per clause with an opaque part; rewrites are planned, and offered when they keep fewer files."""
    opaque = [
        index for index, clause in enumerate(case.plan.clauses) if any(isinstance(n, Opaque) for n in nodes(clause.predicate))
    ]
    rewrites = {index: rewrite for index in opaque if (rewrite := _rewrite(case, index)) is not None}
    answers = yield [case.plan_with(index, rewrite.bound) for index, rewrite in rewrites.items()]
    kept = {index: kept_files(patterns) for index, patterns in zip(rewrites, answers, strict=True)}
    return [_finding(case, index, rewrites.get(index), kept.get(index, case.kept)) for index in opaque]


def _suggestion(reasons: tuple[Reason, ...], column: str) -> str:
    """What to do about the first reason that has something to be done about it."""
    found = [_SUGGESTIONS[reason.code] for reason in reasons if reason.code in _SUGGESTIONS]
    return (found[0] if found else _RANGE).format(column=column)


def _rewrite(case: Case, index: int) -> _Rewrite | None:
    """The clause with ranges of bare columns in place of, or beside, what is opaque; None when they say nothing new."""
    conjunct = case.conjuncts[index]
    found = sargable(conjunct, case.profile)
    if implied(found) == implied(case.plan.clauses[index].predicate):
        return None
    equivalent = is_exact(found)
    text = plain_sql(found if equivalent else implied(found), case.profile.zone)
    if text is None or (not equivalent and implied(found) == TRUE):
        return None
    if not equivalent:
        original = whole_text(conjunct, case.profile.zone)
        if original is None:
            return None
        text = f"({text}) AND ({original})"
    bound = case.read(text)
    return None if bound is None else _Rewrite(case.in_place(text, bound), bound, equivalent)


def _finding(case: Case, index: int, rewrite: _Rewrite | None, with_rewrite: int) -> Finding:
    clause, dropped = case.plan.clauses[index], case.numbers.clauses[index].drops_any.files
    helps = rewrite is not None and with_rewrite < case.kept
    numbers: Numbers = {"files": case.total, "kept_files": case.kept, "dropped_files": dropped}
    reasons = "; ".join(reason.message for reason in clause.reasons)
    message = f"metadata cannot decide {brief(clause.text)} ({reasons}): alone it drops {dropped} of {files_text(case.total)}"
    column = column_in(case.conjuncts[index])
    suggestion = _suggestion(clause.reasons, column or "a column")
    if rewrite is not None:
        numbers["files_with_rewrite"] = with_rewrite
        suggestion = f"none in the predicate: as {rewrite.text} it keeps {files_text(with_rewrite)}, too"
    if rewrite is not None and helps:
        meaning = "means the same" if rewrite.is_equivalent else "adds what it implies, so it means the same"
        message += f"; rewritten, the predicate keeps {with_rewrite} instead of {files_text(case.kept)}"
        suggestion = f"write this in its place: it {meaning}, and statistics can decide it"
    return Finding(
        severity=Severity.INFO if dropped else Severity.WARNING,
        clause=clause.text,
        column=column,
        message=message,
        numbers=numbers,
        suggestion=suggestion,
        rewrite=rewrite.text if rewrite is not None and helps else None,
    )
