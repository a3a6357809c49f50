"""A plan or an execution as text: the seven steps with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.render.text import merge
from lakeprune.render.text.report import about
from lakeprune.report.amount import Amount, amount_text, counted, files_text
from lakeprune.report.document import View

if TYPE_CHECKING:
    from lakeprune.apps.statements.execution import Execution
    from lakeprune.apps.statements.plan import StatementPlan
    from lakeprune.apps.statements.reconcile import Check


def text_chunks(document: StatementPlan | Execution, _: View) -> Iterator[str]:
    """The text report."""
    plan, execution = document.parts
    zone = [f"Time zone:   {printable(plan.statement.zone)}"] if plan.statement.is_zoned else []
    yield "\n".join([*about(plan.table, plan.version), f"Statement:   {shortened(_statement(plan))}", *zone]) + "\n"
    steps = (
        ("Validate and simplify", _validate(plan)),
        ("Skip by metadata", _skip(plan)),
        ("Verify", _verify(plan)),
        ("Matches", _matches(plan)),
        ("The plan", _effects(plan)),
        ("Execute", _execute(plan, execution)),
        ("Reconcile", _reconcile(execution)),
    )
    for number, (title, lines) in enumerate(steps, 1):
        yield "\n".join([f"\n{number}. {title}", *(f"   {line}" for line in lines)]) + "\n"
    yield f"\nResult: {result_text(document)}\n"


def rows_text(count: int | None) -> str:
    """
    >>> rows_text(1), rows_text(2), rows_text(None)
    ('1 row', '2 rows', 'an unknown number of rows')
    """
    return "an unknown number of rows" if count is None else counted(count, "row")


def result_text(document: StatementPlan | Execution) -> str:
    """How it ended, in one sentence."""
    plan, execution = document.parts
    match document.result:
        case "nothing_matches":
            return f"{_nothing(plan)}, so there is nothing to commit; the table stays at version {plan.version}"
        case "planned":
            return f"planned, nothing was changed; --execute would change {rows_text(plan.effects.changed)}"
        case "guarded":
            failed = "; ".join(guard.message for guard in plan.guards if not guard.passed)
            return f"REFUSED by a guard, nothing was changed: {failed}"
    assert execution is not None, "a plan that was not executed has no other result"
    if execution.commit is None:
        return f"CONFLICT, nothing of this statement is in the table: {execution.conflict}"
    done = f"committed as version {execution.commit.version}"
    return f"{done}, as planned" if execution.passed else f"{done}, but it DIFFERS from the plan: see step 7"


def _statement(plan: StatementPlan) -> str:
    """The statement in one line."""
    statement = plan.statement
    if plan.merge is not None:
        return f"MERGE USING {plan.merge.source} ON {statement.condition} {' '.join(plan.merge.clauses)}"
    assigned = ", ".join(f"{each.column} = {each.expression}" for each in statement.assignments)
    return f"{statement.operation.value.upper()}{f' SET {assigned}' if assigned else ''} WHERE {statement.condition}"


def _nothing(plan: StatementPlan) -> str:
    return "nothing matches" if plan.merge is None else "no row changes"  # rows may match to which no WHEN clause applies


def _validate(plan: StatementPlan) -> Iterator[str]:
    yield "columns, types and functions are known; the condition is deterministic"
    for clause in plan.statement.clauses:
        yield shortened(clause.text) + ("" if clause.rewritten is None else f"  means  {shortened(clause.rewritten)}")
    if plan.merge is not None:
        yield from merge.source(plan.merge)
    elif plan.statement.is_partition_only:
        yield "the condition is about partition columns only: metadata decides it"


def _skip(plan: StatementPlan) -> Iterator[str]:
    skipping = plan.skipping
    skipped = skipping.total - skipping.candidates
    yield f"{amount_text(skipping.total)} in the table, {skipped.files} skipped without being read"
    if plan.merge is None:
        yield f"{amount_text(skipping.full)} fully matched, {amount_text(skipping.undecided)} undecided"
    else:
        yield f"{amount_text(skipping.undecided)} may hold a row with a key of the source"
        yield from merge.obstacles(plan.merge)


def _verify(plan: StatementPlan) -> Iterator[str]:
    undecided, touched = plan.skipping.undecided.files, plan.effects.touched.files
    reading = f"{files_text(undecided)}, reading {', '.join(map(printable, plan.read_columns)) or 'no column'}"
    if not undecided:
        yield "nothing is undecided, so no file is read" if plan.merge is None else "no file can hold a match, so none is read"
    elif plan.merge is None:
        yield f"one scan of {reading}: {undecided - (touched - plan.skipping.full.files)} without a match"
    else:
        yield f"one join of the source with {reading}: {touched} to be changed"


def _matches(plan: StatementPlan) -> Iterator[str]:
    if plan.is_empty:
        yield f"{_nothing(plan)}: no commit"
        return
    effects = plan.effects
    inserted = "" if not effects.inserted else f", {rows_text(effects.inserted)} to insert"
    yield f"{rows_text(effects.matched)} in {amount_text(effects.touched)}{inserted}"


def _effects(plan: StatementPlan) -> Iterator[str]:
    effects = plan.effects
    if effects.rewritten.files:
        yield f"rewrite {amount_text(effects.rewritten)}"
    if effects.removed.files:
        yield f"remove {amount_text(effects.removed)} whole, without rewriting"
    if effects.vectors.files:
        yield f"write deletion vectors for {amount_text(effects.vectors)} instead of rewriting"
    done = (("updated", effects.updated), ("deleted", effects.deleted), ("inserted", effects.inserted))
    changed = [f"{rows_text(count)} {what}" for what, count in done if count != 0]
    yield ", ".join([*changed, f"{rows_text(effects.copied)} copied along unchanged"])
    if effects.write_amplification is not None:
        yield f"write amplification {effects.write_amplification:.2f} (rows written per row changed)"
    yield from _scans(plan)
    for guard in plan.guards:
        yield f"guard {guard.name}: " + ("kept" if guard.passed else f"BROKEN: {guard.message}")


def _scans(plan: StatementPlan) -> Iterator[str]:
    strengthening = plan.strengthening
    if strengthening.as_written is None:
        return
    if plan.statement.is_partition_only:
        yield "to find these rows Delta scans no file: it decides the condition by metadata as well"
        return
    written = strengthening.as_written
    line = f"to find these rows Delta scans {amount_text(Amount(written.files, written.bytes))} for the condition as written"
    if strengthening.scanned is not None:
        line += f", {amount_text(Amount(strengthening.scanned.files, strengthening.scanned.bytes))} for the strengthened one"
    yield line


def _execute(plan: StatementPlan, execution: Execution | None) -> Iterator[str]:
    if plan.strengthening.condition is not None:
        yield f"condition, with what it implies beside it (time zone {plan.statement.zone}):"
        yield f"  {printable(plan.strengthening.condition)}"
    elif not plan.strengthening.is_wanted:
        yield f"condition, as written: {printable(plan.statement.executed)}"
    else:
        yield f"condition, to which nothing needs to be added: {printable(plan.statement.executed)}"
    if execution is None:
        yield "dry run; add --execute to apply it"
        return
    yield from map(printable, execution.notes)
    if execution.commit is not None:
        yield f"committed as version {execution.commit.version} through Delta's transaction"
    elif execution.conflict is not None:
        yield f"conflict after {execution.attempts} attempt(s), nothing written: {printable(execution.conflict)}"
    else:
        yield "nothing was written"


def _reconcile(execution: Execution | None) -> Iterator[str]:
    if execution is None or execution.reconciliation is None:
        yield "nothing was committed, so there is nothing to compare"
        return
    for check in execution.reconciliation.checks:
        yield _check(check)
        yield from (f"  {printable(detail)}" for detail in check.details)


def _check(check: Check) -> str:
    if check.passed:
        return f"{check.name}: {check.found}, as planned"
    return f"{check.name}: {check.found}, but planned were {check.expected}"
