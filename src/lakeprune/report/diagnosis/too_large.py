"""PREDICATE_TOO_LARGE: a predicate on which no variant is tried, since each of them would be as large as itself."""

from __future__ import annotations

from lakeprune.predicate.walk import nodes
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.plan import Plan

LIMIT = 10_000  # clauses times terms: diagnoses plan the whole predicate again for a clause; this many take some ten seconds


def too_large(plan: Plan) -> Diagnosis | None:
    """The one thing to say about a predicate that is too large, None about others."""
    clauses = len(plan.clauses)
    terms = sum(1 for clause in plan.clauses for _ in nodes(clause.predicate))
    if clauses * terms <= LIMIT:
        return None
    return Diagnosis(
        code=Code.PREDICATE_TOO_LARGE,
        severity=Severity.INFO,
        clause=None,
        column=None,
        message=f"the predicate has {clauses} clauses with {terms} terms: trying variants of it would take too long",
        numbers={"clauses": clauses, "terms": terms, "limit": LIMIT},
        suggestion="ask about a part of it, or put long lists of values into one IN",
    )
