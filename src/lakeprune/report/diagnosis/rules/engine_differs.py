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
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers
from lakeprune.report.engines import EngineRead, amount_read


class _Rewrite(Struct, frozen=True):
    text: str  # of the whole predicate
    bound: Expr
    clause: str | None  # the one clause that changed, None when several did


def engine_differs(case: Case) -> Investigation:
    """One for the predicate, when the engine is known to read more of this table."""
    engine, read = case.evaluation.snapshot.own_skipping(case.profile), case.engine
    if engine is None or read is None or read.files <= case.kept:
        return []
    rewrite = _rewrite(case, engine)
    plan = None if rewrite is None else engine.plan(conjuncts(rewrite.bound))[0]
    answers = yield [] if plan is None else [plan]
    closed = read.files if plan is None else amount_read(plan, answers[0])[0].files
    return [_finding(case, engine, read, rewrite if closed < read.files else None, closed)]


def _rewrite(case: Case, engine: OwnSkipping) -> _Rewrite | None:
    """The predicate with its clauses as plain comparisons, where the engine does not use what is written."""
    texts: list[str] = []
    changed = []
    for clause, conjunct in zip(case.plan.clauses, case.conjuncts, strict=True):
        text = whole_text(conjunct, case.profile.zone)
        parts = [text]
        if engine.plan([conjunct])[1] and engine.is_trusted_with(clause.predicate):
            parts = _plain(clause.predicate, text, case.profile.zone)
            changed += [clause.text] if parts != [text] else []
        if None in parts:
            return None
        texts += [part for part in parts if part is not None]
    whole = " AND ".join(f"({text})" if " OR " in text else text for text in texts) if len(texts) > 1 else texts[0]
    bound = case.read(whole) if changed else None
    return None if bound is None else _Rewrite(whole, bound, changed[0] if len(changed) == 1 else None)


def _plain(predicate: Expr, original: str | None, zone: str) -> list[str | None]:
    """The clause as comparisons, or with what it implies of partition columns and of data columns beside it."""
    if is_exact(predicate) and len({column.role for column in columns_of(predicate)}) == 1:
        return [plain_sql(predicate, zone) or original]
    sides = [_compared(only(implied(predicate), role)) for role in Role]
    texts = [plain_sql(side, zone) for side in sides if side != TRUE]
    return [*(text for text in texts if text is not None), original]


def _compared(side: Expr) -> Expr:
    """What is worth writing down: not that a column has a value, which Spark adds by itself."""
    return side if any(isinstance(node, Member) for node in nodes(side)) else TRUE


def _finding(case: Case, engine: OwnSkipping, read: EngineRead, rewrite: _Rewrite | None, closed: int) -> Finding:
    name, key, reasons = read.name, engine.flag.replace("-", "_"), read.why or [engine.is_separate]
    numbers: Numbers = {"kept_files": case.kept, f"{key}_files": read.files}
    suggestion = "no rewrite of the condition is known to help it; the other diagnoses say what would"
    if rewrite is not None:
        numbers[f"{key}_files_with_rewrite"] = closed
        suggestion = f"write the predicate so that {name} can use it: then it reads {files_text(closed)}"
    clauses = case.plan.clauses
    return Finding(
        clause=clauses[0].text if len(clauses) == 1 else rewrite.clause if rewrite is not None else None,
        message=f"{name} reads {files_text(read.files)} here where the metadata asks for {case.kept}: {'; '.join(reasons)}",
        numbers=numbers,
        suggestion=suggestion,
        rewrite=None if rewrite is None else rewrite.text,
    )
