"""NO_PARTITION_FILTER: partition columns that no clause looks at, and what one value of each would keep.

A column inside a function counts as filtered: its values were evaluated. A column that has one value only among the kept files
is not named: no condition on it could drop any of them.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Compare, Expr, IsNull, Literal, Op
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import Spread, spread_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, Patterns, kept_files
from lakeprune.report.model import Severity


def no_partition_filter(case: Case) -> Investigation:
    """One per unfiltered partition column whose values distinguish the kept files."""
    filtered = {column.path for clause in case.plan.clauses for column in columns_of(clause.predicate)}
    partitions = [Column.at((field,)) for field in case.facts.schema.fields if field.role is Role.PARTITION]
    columns = [column for column in partitions if column.path not in filtered]
    if not columns or not case.kept:
        return []
    subset = files_where(case.evaluation, case.plan, case.can_be_true, Needs(partition_texts=tuple(columns)))
    spreads = {column: spread_of(case.evaluation.engine, subset, column) for column in columns}
    helpful = [column for column in columns if spreads[column].values > 1]
    examples = {column: condition for column in helpful if (condition := _example(case, column, spreads[column])) is not None}
    answers = yield [case.plan_of(all_of([*case.conjuncts, condition])) for condition in examples.values()]
    kept = dict(zip(examples, answers, strict=True))
    severity = Severity.WARNING if len(columns) == len(partitions) else Severity.INFO
    return [_finding(case, column, spreads[column], examples.get(column), kept.get(column), severity) for column in helpful]


def _example(case: Case, column: Column, spread: Spread) -> Expr | None:
    """The value with most files, as a condition; None when its text does not stand for one value."""
    if spread.most_missing:
        return None
    values = case.evaluation.snapshot.partition_values(spread.most_text, column, case.profile)
    if values is None or len(values) != 1:
        return None
    return IsNull(column) if values[0] is None else Compare(Op.EQ, column, Literal(values[0], column.type))


def _finding(
    case: Case, column: Column, spread: Spread, example: Expr | None, answer: Patterns | None, severity: Severity
) -> Finding:
    name = name_text(column.path)
    numbers: Numbers = {
        "kept_files": case.kept,
        "values": spread.values,
        "fewest_files": spread.fewest,
        "most_files": spread.most,
        "mean_files": round(case.kept / spread.values, 2),
    }
    if answer is not None:
        numbers["example_files"] = kept_files(answer)
    files = f"{spread.fewest} to {spread.most}" if spread.fewest < spread.most else f"{spread.most}"
    return Finding(
        severity=severity,
        column=name,
        message=f"no clause filters the partition column {name}: the {files_text(case.kept)} to read spread over "
        f"{spread.values} values of it, one value would keep {files}",
        numbers=numbers,
        suggestion=f"if the query is about some values of {name} only, add a condition on it" + (", such as" if example else ""),
        rewrite=None if example is None else show(example, case.profile.zone),
    )
