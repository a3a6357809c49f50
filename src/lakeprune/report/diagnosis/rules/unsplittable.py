"""UNSPLITTABLE_OR: one OR over partition and data columns, and what each of its branches would keep by itself."""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import disjuncts
from lakeprune.predicate.tree import And, Expr, Not, Or
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.predicate.write.show import show
from lakeprune.report.amount import files_text
from lakeprune.report.buckets import Bucket, bucket_of
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, brief, kept_files
from lakeprune.report.model import Severity

MOST_BRANCHES = 20


def unsplittable_or(case: Case) -> Investigation:
    """One per clause that mixes the two kinds of columns in an OR."""
    mixed = [
        (index, branches)
        for index, clause in enumerate(case.plan.clauses)
        if bucket_of(clause, case.facts.evidence) is Bucket.UNSPLITTABLE
        and 1 < len(branches := _branches(case.conjuncts[index])) <= MOST_BRANCHES
    ]
    answers = yield [case.plan_of(branch) for _, branches in mixed for branch in branches]
    kept = iter(kept_files(patterns) for patterns in answers)
    return [_finding(case, index, branches, [next(kept) for _ in branches]) for index, branches in mixed]


def _branches(conjunct: Expr) -> tuple[Expr, ...]:
    match conjunct:
        case Or():
            return disjuncts(conjunct)
        case Not(And(parts)):
            return tuple(Not(part) for part in parts)
        case _:
            return ()


def _finding(case: Case, index: int, branches: tuple[Expr, ...], kept: list[int]) -> Finding:
    clause = case.plan.clauses[index]
    texts = [show(branch, case.profile.zone) for branch in branches]
    numbers: Numbers = {"files": case.total, "kept_files": case.total - case.numbers.clauses[index].drops_any.files}
    for number, (text, files) in enumerate(zip(texts, kept, strict=True), 1):
        numbers |= {f"branch_{number}": text, f"branch_{number}_files": files}
    each = ", ".join(f"{brief(text)} keeps {files}" for text, files in zip(texts, kept, strict=True))
    return Finding(
        severity=Severity.WARNING if max(kept) == case.total else Severity.INFO,
        clause=clause.text,
        message=f"{brief(clause.text)} mixes partition and data columns, so it needs both kinds of evidence at once; "
        f"of {files_text(case.total)} each branch alone: {each}",
        numbers=numbers,
        suggestion="run the branches as queries of their own, each with its own kind of evidence",
        rewrite=_apart(case, index, branches),
    )


def _apart(case: Case, index: int, branches: tuple[Expr, ...]) -> str | None:
    """The branches as one UNION ALL that gives every row once; other clauses go with each branch."""
    others = [whole_text(conjunct, case.profile.zone) for i, conjunct in enumerate(case.conjuncts) if i != index]
    texts = [whole_text(branch, case.profile.zone) for branch in branches]
    if None in others or None in texts:
        return None
    queries = []
    for number, text in enumerate(texts):
        conditions = [*(f"({condition})" for condition in [*others, text]), *(f"({e}) IS NOT TRUE" for e in texts[:number])]
        queries.append(f"SELECT * FROM {case.remedies.table} WHERE {' AND '.join(conditions)}")
    return " UNION ALL ".join(queries)
