"""UNDEFINED_NAN: a NaN, which is above every number, may hide outside minimum and maximum.

Files are kept for it, or dropped on the assumption that there is none, as the policy says. A bound below NaN settles it.
"""

from __future__ import annotations

import math

from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.tree import And, Column, Compare, Expr, Literal, Member, NanPolicy, Op, Or, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.patterns import Signature
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, Patterns, brief, files_of, is_kept, kept_files
from lakeprune.report.model import Severity
from lakeprune.skipping.plan import Lift
from lakeprune.values.types import DOUBLE, FLOATING_KINDS

MOST_CLAUSES = 200  # that all rewrites together may have: each is the whole predicate, planned once more


def undefined_nan(case: Case) -> Investigation:
    """One per clause for which files are kept, or dropped by assumption, because of NaN; what excludes it is planned."""
    guarded = []
    for index, conjunct in enumerate(case.conjuncts):
        files = sum(pattern.files for pattern in case.patterns if _is_in_doubt(pattern.signature, index))
        column = _float_column(case, index)
        if files and column is not None:
            changed = _without_nan(conjunct, column, case.profile)
            text = whole_text(changed, case.profile.zone)
            bound = None if text is None else case.read(text)
            if text is not None and bound is not None:
                guarded.append((index, column, files, case.in_place(text, changed), bound))
    guarded = guarded[: max(1, MOST_CLAUSES // max(1, len(case.conjuncts)))]
    answers = yield [case.plan_with(index, bound) for index, *_, bound in guarded]
    return [
        _finding(case, index, column, files, rewrite, patterns)
        for (index, column, files, rewrite, _), patterns in zip(guarded, answers, strict=True)
    ]


def _is_in_doubt(signature: Signature, index: int) -> bool:
    outcome = signature.outcomes[index]
    return Lift.NAN in outcome.kept_for if is_kept(signature) else signature.is_assumed and outcome.is_assumed


def _without_nan(expr: Expr, column: Column, profile: Profile) -> Expr:
    """The condition without the rows it holds for because of NaN; rows where the column is NULL keep their truth.

    Only a condition that is a set of the column's values gets the bound beside it: it is TRUE for no NULL anyway.
    """
    match expr:
        case And(parts):
            return And(tuple(_without_nan(part, column, profile) for part in parts))
        case Or(parts):
            return Or(tuple(_without_nan(part, column, profile) for part in parts))
    match normalise(expr, profile):
        case Member(of, values) if of == column and values.nan:
            return And((expr, Compare(Op.LT, column, Literal(math.nan, DOUBLE))))
    return expr


def _float_column(case: Case, index: int) -> Column | None:
    leaves = [node for node in nodes(case.plan.clauses[index].predicate) if isinstance(node, Member)]
    columns = {leaf.column for leaf in leaves if leaf.column.type.kind in FLOATING_KINDS}
    return columns.pop() if len(columns) == 1 else None


def _finding(case: Case, index: int, column: Column, files: int, rewrite: str, answer: Patterns) -> Finding:
    clause, name, with_rewrite = case.plan.clauses[index], name_text(column.path), kept_files(answer)
    numbers: Numbers = {"kept_files": case.kept, "files_with_rewrite": with_rewrite}
    outside = f"NaN outside its minimum and maximum, and NaN would satisfy {brief(clause.text)}"
    if case.profile.nan_policy is NanPolicy.ASSUME:
        severity, numbers["assumed_files"] = Severity.INFO, files
        helps = files_of(answer, lambda signature: signature.is_assumed) < case.numbers.assumed.files
        message = f"{files_text(files)} dropped on the assumption that {name} hides no {outside}"
        suggestion = "--nan-policy strict keeps them, and `lakeprune verify` looks whether it is true"
    else:
        severity, numbers["guarded_files"] = Severity.WARNING, files
        helps = with_rewrite < case.kept
        message = f"{files} of the {files_text(case.kept)} to read stay only because {name} may hold {outside}"
        suggestion = case.remedies.nan_advice
    return Finding(
        severity=severity,
        clause=clause.text,
        column=name,
        message=message,
        numbers=numbers,
        suggestion=suggestion + ("; if rows with NaN are not wanted, write" if helps else ""),
        rewrite=rewrite if helps else None,
    )
