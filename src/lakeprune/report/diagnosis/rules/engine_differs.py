"""ENGINE_DIFFERS: where the format's own engine reads more files than the metadata demands, and the rewrite that closes the gap.

Both counts are planned on this table: ours, and that of what the engine is known to use. A rewrite is offered only when the
engine's own count falls with it.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.formats.own_skipping import OwnSkipping
from lakeprune.predicate.passes.rebuild import conjuncts
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import TRUE, Expr, Member
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.pasteable import implied, is_exact, only, plain_sql, whole_text
from lakeprune.programs.patterns import Signature
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, Patterns, files_of
from lakeprune.report.verdict import clause_needs, lacks_needed
from lakeprune.skipping.plan import Plan


class _Rewrite(Struct, frozen=True):
    text: str  # of the whole predicate
    bound: Expr
    clause: str | None  # the one clause that changed, None when several did


def engine_differs(case: Case) -> Investigation:
    """One for the predicate, when the engine is known to read more of this table."""
    engine = case.evaluation.snapshot.own_skipping(case.profile)
    if engine is None or not case.plan.clauses:
        return []
    theirs, reasons = engine.plan(case.conjuncts)
    if not reasons and not case.numbers.lacking_statistics and not _joins_conditions(case):
        return []
    rewrite = _rewrite(case, engine)
    plans = [theirs] if rewrite is None else [theirs, engine.plan(conjuncts(rewrite.bound))[0]]
    answers = yield plans
    read, read_for_gaps = _files_read(theirs, answers[0])
    if read <= case.kept:
        return []
    if read_for_gaps:
        reasons = (*reasons, engine.keeps_gaps)
    closed = _files_read(plans[-1], answers[-1])[0]
    return [_finding(case, engine.name, read, reasons or (engine.is_separate,), rewrite if closed < read else None, closed)]


def _files_read(plan: Plan, patterns: Patterns) -> tuple[int, int]:
    """How many files the engine reads by such a plan, and how many of them only because a statistic is missing."""
    needs = clause_needs(plan)

    def is_gap(signature: Signature) -> bool:
        return lacks_needed(signature, needs) and not all(outcome.can_true for outcome in signature.outcomes)

    left = [p for p in patterns if not p.signature.is_empty and p.signature.is_left_by(plan.exact_rungs)]
    gaps = files_of(left, is_gap)
    return gaps + files_of(left, lambda s: all(outcome.can_true for outcome in s.outcomes)), gaps


def _joins_conditions(case: Case) -> bool:
    """Whether a set has gaps: only then can several conditions together drop more than each of them."""
    members = [node for clause in case.plan.clauses for node in nodes(clause.predicate) if isinstance(node, Member)]
    return any(len(member.values.intervals) > 1 for member in members)


def _rewrite(case: Case, engine: OwnSkipping) -> _Rewrite | None:
    """The predicate with its clauses as plain comparisons, where the engine does not use what is written."""
    texts, changed = [], []
    for clause, conjunct in zip(case.plan.clauses, case.conjuncts, strict=True):
        text = whole_text(conjunct, case.profile.zone)
        if engine.plan([conjunct])[1]:
            text = _plain(clause.predicate, text, case.profile.zone)
            changed.append(clause.text)
        if text is None:
            return None
        texts.append(text)
    whole = " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0]
    bound = case.read(whole) if changed else None
    return None if bound is None else _Rewrite(whole, bound, changed[0] if len(changed) == 1 else None)


def _plain(predicate: Expr, original: str | None, zone: str) -> str | None:
    """The clause as comparisons, or with what it implies of partition columns and of data columns beside it."""
    if is_exact(predicate) and len({column.role for column in columns_of(predicate)}) == 1:
        return plain_sql(predicate, zone) or original
    if original is None:
        return None
    sides = [only(implied(predicate), role) for role in Role]
    texts = [plain_sql(side, zone) for side in sides if side != TRUE]
    return " AND ".join(f"({text})" for text in [*texts, original] if text is not None)


def _finding(case: Case, engine: str, read: int, reasons: tuple[str, ...], rewrite: _Rewrite | None, closed: int) -> Finding:
    numbers: Numbers = {"kept_files": case.kept, "delta_spark_files": read}
    suggestion = "no rewrite of the condition is known to help it; the other diagnoses say what would"
    if rewrite is not None:
        numbers["delta_spark_files_with_rewrite"] = closed
        suggestion = f"write the predicate so that {engine} can use it: then it reads {files_text(closed)}"
    clauses = case.plan.clauses
    return Finding(
        clause=clauses[0].text if len(clauses) == 1 else rewrite.clause if rewrite is not None else None,
        message=f"{engine} reads {files_text(read)} here where the metadata asks for {case.kept}: {'; '.join(reasons)}",
        numbers=numbers,
        suggestion=suggestion,
        rewrite=None if rewrite is None else rewrite.text,
    )
