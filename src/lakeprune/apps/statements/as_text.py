"""A plan or an execution as text: the seven steps with their numbers, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.model import Operation, Status, total
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.apps.statements.reconcile import Check
from lakeprune.apps.statements.steps import Step, steps_text
from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import Amount, files_text, size_text


def text(plan: StatementPlan, execution: Execution | None) -> str:
    """The text report."""
    head = [
        ("Delta table", printable(plan.table)),
        ("Version", str(plan.version)),
        ("Statement", shortened(statement_text(plan))),
    ]
    steps = [
        Step(1, "Validate and simplify", tuple(_validate(plan))),
        Step(2, "Skip by metadata", tuple(_skip(plan))),
        Step(3, "Verify", tuple(_verify(plan))),
        Step(4, "Matches", tuple(_matches(plan))),
        Step(5, "The plan", tuple(_effects(plan))),
        Step(6, "Execute", tuple(_execute(plan, execution))),
        Step(7, "Reconcile", tuple(_reconcile(execution))),
    ]
    return steps_text(head, steps, result_text(plan, execution))


def statement_text(plan: StatementPlan) -> str:
    """The statement in one line."""
    statement = plan.statement
    if plan.merge is not None:
        return f"MERGE USING {plan.merge.source} ON {statement.condition} {' '.join(plan.merge.clauses)}"
    where = f"WHERE {statement.condition}"
    if statement.operation is Operation.DELETE:
        return f"DELETE {where}"
    return f"UPDATE SET {', '.join(f'{column} = {value}' for column, value in statement.assignments)} {where}"


def rows_text(count: int | None) -> str:
    """
    >>> rows_text(1), rows_text(2), rows_text(None)
    ('1 row', '2 rows', 'an unknown number of rows')
    """
    return "an unknown number of rows" if count is None else "1 row" if count == 1 else f"{count} rows"


def amount_text(amount: Amount) -> str:
    """
    >>> amount_text(Amount(2, 5000, 10))
    '2 files (5.0 KB)'
    """
    return f"{files_text(amount.files)} ({size_text(amount.bytes)})"


def result_text(plan: StatementPlan, execution: Execution | None) -> str:
    """How it ended, in one sentence."""
    failed = [guard.message for guard in plan.guards if not guard.passed]
    if plan.is_empty:
        return f"{_nothing(plan)}, so there is nothing to commit; the table stays at version {plan.version}"
    if execution is None:
        told = f"planned, nothing was changed; --execute would change {rows_text(plan.effects.changed)}"
        return f"REFUSED by a guard, nothing was changed: {'; '.join(failed)}" if failed else told
    match execution.status:
        case Status.GUARDED:
            return f"REFUSED by a guard, nothing was changed: {'; '.join(failed)}"
        case Status.CONFLICT:
            return f"CONFLICT, nothing of this statement is in the table: {execution.conflict}"
        case _:
            assert execution.commit is not None, "a commit that was made is known"
            done = f"committed as version {execution.commit.version}"
            return f"{done}, as planned" if execution.passed else f"{done}, but it DIFFERS from the plan: see step 7"


def _nothing(plan: StatementPlan) -> str:
    """Rows may match in a MERGE to which no clause applies."""
    return "nothing matches" if plan.merge is None else "no row changes"


def _validate(plan: StatementPlan) -> Iterator[str]:
    yield "columns, types and functions are known; the same rows match every time it is asked"
    for clause, rewritten in plan.skipping.clauses:
        yield shortened(clause) + ("" if rewritten is None else f"  means  {shortened(rewritten)}")
    if plan.skipping.is_partition_only:
        yield "the condition is about partition columns only: metadata decides it"
    if plan.merge is not None:
        from lakeprune.apps.statements.merge.as_text import source_lines

        yield from source_lines(plan.merge)


def _skip(plan: StatementPlan) -> Iterator[str]:
    skipping = plan.skipping
    excluded = skipping.total - skipping.candidates
    yield f"{amount_text(skipping.total)} in the table, {excluded.files} excluded without being read"
    if plan.merge is None:
        yield f"{amount_text(skipping.full)} match with every row, {amount_text(skipping.undecided)} undecided"
        return
    from lakeprune.apps.statements.merge.as_text import obstacle_lines

    yield f"{amount_text(skipping.undecided)} may hold a row with a key of the source"
    yield from obstacle_lines(plan.merge)


def _verify(plan: StatementPlan) -> Iterator[str]:
    undecided = plan.skipping.undecided.files
    if plan.merge is not None:
        from lakeprune.apps.statements.merge.as_text import verify_lines

        yield from verify_lines(plan)
        return
    if not undecided:
        yield "nothing is undecided, so no file is read"
        return
    left = undecided - (plan.effects.touched.files - plan.skipping.full.files)
    columns = ", ".join(map(printable, plan.read_columns)) or "no column"
    yield f"one scan of {files_text(undecided)}, reading {columns}: {left} without a match left the set"


def _matches(plan: StatementPlan) -> Iterator[str]:
    if plan.is_empty:
        yield f"{_nothing(plan)}: no commit"
        return
    effects = plan.effects
    inserted = "" if not effects.inserted else f", {rows_text(effects.inserted)} to insert"
    yield f"{rows_text(total([effects.updated, effects.deleted]))} in {amount_text(effects.touched)}{inserted}"


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
    if plan.skipping.is_partition_only:
        yield "to find these rows Delta scans no file: it decides the condition by metadata as well"
        return
    written = strengthening.as_written
    line = f"to find these rows Delta scans {amount_text(Amount(written.files, written.bytes))} for the condition as written"
    if strengthening.scanned is not None:
        line += f", {amount_text(Amount(strengthening.scanned.files, strengthening.scanned.bytes))} for the strengthened one"
    yield line


def _execute(plan: StatementPlan, execution: Execution | None) -> Iterator[str]:
    if plan.strengthening.condition is not None:
        yield f"condition, with what it implies beside it (time zone {plan.strengthening.zone}):"
        yield f"  {printable(plan.strengthening.condition)}"
    elif not plan.strengthening.is_wanted:
        yield f"condition, as written: {printable(plan.statement.executed)}"
    else:
        yield f"condition, to which nothing needs to be added: {printable(plan.statement.executed)}"
    if execution is None:
        yield "not asked for: --execute does it"
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
