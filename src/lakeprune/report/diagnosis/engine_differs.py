"""ENGINE_DIFFERS: where Delta Spark itself reads more files than the metadata demands, and the spelling that closes the gap.

Both counts are planned on this table: ours, and that of what Delta Spark is known to use. A spelling is offered only when Delta
Spark's own count falls with it.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.errors import PredicateError
from lakeprune.predicate.passes.rebuild import conjuncts
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import TRUE, Expr, Member
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.pasteable import implied, is_exact, only, plain_sql, whole_text
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Investigation
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.diagnosis.delta_spark import MISSING, ONE_BY_ONE, DeltaSpark, drops_despite_gaps, files_read
from lakeprune.report.model import Diagnosis, Severity


class _Respelt(Struct, frozen=True):
    text: str  # of the whole predicate
    bound: Expr
    clause: str | None  # the one clause that changed, None when several did


def engine_differs(case: Case) -> Investigation:
    """One for the predicate, when Delta Spark is known to read more of this table."""
    if case.facts.format != "delta" or not case.plan.clauses:
        yield []
        return []
    spark = DeltaSpark(case.facts, case.evaluation.profile)
    theirs = spark.plan(case.conjuncts)
    if not spark.reasons and not case.numbers.lacking_statistics and not _joins_conditions(case):
        yield []
        return []
    respelt = _respelt(case)
    other = DeltaSpark(case.facts, case.evaluation.profile)
    plans = [theirs] if respelt is None else [theirs, other.plan(conjuncts(respelt.bound))]
    answers = yield plans
    read = files_read(theirs, answers[0])
    if read <= case.numbers.kept.files:
        return []
    reasons = list(spark.reasons) + ([MISSING] if drops_despite_gaps(theirs, answers[0]) else [])
    reasons = reasons or [ONE_BY_ONE]
    closed = files_read(plans[1], answers[1]) if respelt is not None else read
    return [_finding(case, read, reasons, respelt if closed < read else None, closed)]


def _joins_conditions(case: Case) -> bool:
    """Whether a set has gaps: only then can several conditions together drop more than each of them."""
    members = [node for clause in case.plan.clauses for node in nodes(clause.predicate) if isinstance(node, Member)]
    return any(len(member.values.intervals) > 1 for member in members)


def _respelt(case: Case) -> _Respelt | None:
    """The predicate with its clauses as plain comparisons, where Delta Spark does not use what is written."""
    texts, changed = [], []
    for clause, spelt in zip(case.plan.clauses, case.conjuncts, strict=True):
        original = whole_text(spelt, case.zone)
        text = original
        if _is_weakened(case, spelt):
            text = _plain(case, clause.predicate, original)
            changed.append(clause.text)
        if text is None:
            return None
        texts.append(text)
    if not changed:
        return None
    whole = " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0]
    try:
        return _Respelt(whole, case.read(whole), changed[0] if len(changed) == 1 else None)
    except PredicateError:
        return None  # a text that does not read back is no proposal


def _is_weakened(case: Case, spelt: Expr) -> bool:
    spark = DeltaSpark(case.facts, case.evaluation.profile)
    spark.plan([spelt])
    return bool(spark.reasons)


def _plain(case: Case, predicate: Expr, original: str | None) -> str | None:
    """The clause as comparisons, or with what it implies of partition columns and of data columns beside it."""
    if is_exact(predicate) and len({column.role for column in columns_of(predicate)}) == 1:
        return plain_sql(predicate, case.zone) or original
    if original is None:
        return None
    sides = [only(implied(predicate), role) for role in Role]
    texts = [plain_sql(side, case.zone) for side in sides if side != TRUE]
    return " AND ".join(f"({text})" for text in [*texts, original] if text is not None)


def _finding(case: Case, read: int, reasons: list[str], respelt: _Respelt | None, closed: int) -> Diagnosis:
    kept = case.numbers.kept.files
    numbers: dict[str, int | float | str] = {"kept_files": kept, "delta_spark_files": read}
    suggestion = "no other spelling of the condition is known to help it; the other diagnoses say what would"
    if respelt is not None:
        numbers["delta_spark_files_with_rewrite"] = closed
        suggestion = f"write the predicate so that Delta Spark can use it: then it reads {files_text(closed)}"
    return Diagnosis(
        code=Code.ENGINE_DIFFERS,
        severity=Severity.WARNING,
        clause=case.plan.clauses[0].text if len(case.plan.clauses) == 1 else respelt.clause if respelt is not None else None,
        column=None,
        message=f"Delta Spark reads {files_text(read)} here where the metadata asks for {kept}: {'; '.join(reasons)}",
        numbers=numbers,
        suggestion=suggestion,
        rewrite=None if respelt is None else respelt.text,
    )
