"""PREDICATE_TOO_LARGE: a predicate on which no rule is tried, since each rewrite of it would be as large as itself."""

from __future__ import annotations

from lakeprune.predicate.walk import nodes
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.skipping.plan import Plan

TOO_LARGE = "PREDICATE_TOO_LARGE"
LIMIT = 10_000  # clauses times terms: rules plan the whole predicate again for a clause; this many take some ten seconds


def too_large(plan: Plan) -> Diagnosis | None:
    """The one thing to say about a predicate that is too large, None about others."""
    clauses = len(plan.clauses)
    terms = sum(1 for clause in plan.clauses for _ in nodes(clause.predicate))
    if clauses * terms <= LIMIT:
        return None
    return Diagnosis(
        TOO_LARGE,
        Severity.INFO,
        clause=None,
        column=None,
        message=f"the predicate has {clauses} clauses with {terms} terms: trying variants of it would take too long",
        numbers={"clauses": clauses, "terms": terms, "limit": LIMIT},
        suggestion="ask about a part of it, or put long lists of values into one IN",
    )
