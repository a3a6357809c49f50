"""NO_PARTITION_FILTER: partition columns that no clause looks at, and what one value of each would keep.

A column inside a function counts as filtered: its values were evaluated. So does one that is generated from a column of a clause.
A column that has one value only among the kept files is not named: no condition on it could drop any of them. Neither is one
whose values another clause tells apart: `ts >= '2024-05-01'` keeps whole days, and a condition on the day would say the same.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Compare, Expr, IsNull, Literal, Op
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.layout import partition_columns
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import Spread, files_by_value, spread_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Investigation, Numbers, Patterns, kept_files
from lakeprune.report.model import Severity

MOST_CLAUSES, MOST_VALUES = 20, 10_000  # that are looked at


def no_partition_filter(case: Case) -> Investigation:
    """One for the predicate, when partition columns tell the kept files apart and no clause looks at them."""
    asked = [column for clause in case.plan.clauses for column in columns_of(clause.predicate)]
    filtered = {column.path for column in asked}
    if any(column.role is Role.DATA and _is_shown(case, column) for column in asked):
        filtered |= {(name,) for name in case.facts.computed_columns}
    columns = [column for column in partition_columns(case.evaluation) if column.path not in filtered]
    if not columns or not case.kept:
        return []
    spreads = {column: _spread(case, column, case.can_be_true) for column in columns}
    # Where other clauses leave half of the values or fewer, they have found the partitions by themselves.
    helpful = [c for c in columns if spreads[c].values > 1 and 2 * spreads[c].values > _spread(case, c, []).values]
    helpful = [c for c in helpful if not _is_found_by_another(case, c)]
    if not helpful:
        return []
    best = max(helpful, key=lambda column: spreads[column].values)
    example = _example(case, best, spreads[best])
    answers = yield [] if example is None else [case.plan_of(all_of([*case.conjuncts, example]))]
    return [_finding(case, helpful, best, spreads[best], example, answers[0] if answers else None)]


def _spread(case: Case, column: Column, bits: list[int]) -> Spread:
    subset = files_where(case.evaluation, case.plan, bits, Needs(partition_texts=(column,)))
    return spread_of(case.evaluation.engine, subset, column)


def _is_found_by_another(case: Case, column: Column) -> bool:
    """Whether a clause on other columns drops some values of the column with all their files, and keeps the others whole."""
    if len(case.plan.clauses) > MOST_CLAUSES or _spread(case, column, []).values > MOST_VALUES:
        return False
    everything = _files_by_value(case, column, [])
    for place in case.plan.positions:
        left = _files_by_value(case, column, [place.can_true])
        if 0 < len(left) < len(everything) and all(everything[value] == files for value, files in left.items()):
            return True
    return False


def _files_by_value(case: Case, column: Column, bits: list[int]) -> dict[tuple[str | None, bool], int]:
    subset = files_where(case.evaluation, case.plan, bits, Needs(partition_texts=(column,)))
    return files_by_value(case.evaluation.engine, subset, column)


def _is_shown(case: Case, column: Column) -> bool:
    """Whether partition values speak about it, since they are generated from it."""
    return any(rung.is_exact for rung in case.facts.evidence.rungs_of(column))


def _example(case: Case, column: Column, spread: Spread) -> Expr | None:
    """The value with most files, as a condition; None when its text does not stand for one value."""
    if spread.most_missing:
        return None
    values = case.evaluation.snapshot.partition_values(spread.most_text, column, case.profile)
    if values is None or len(values) != 1:
        return None
    return IsNull(column) if values[0] is None else Compare(Op.EQ, column, Literal(values[0], column.type))


def _finding(
    case: Case, columns: list[Column], column: Column, spread: Spread, example: Expr | None, answer: Patterns | None
) -> Finding:
    name, names = name_text(column.path), ", ".join(name_text(each.path) for each in columns)
    plural = "s" if len(columns) > 1 else ""
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
        severity=Severity.INFO,
        column=name,
        message=f"no clause filters the partition column{plural} {names}: the {files_text(case.kept)} to read spread over "
        f"{spread.values} values of {name}, one value would keep {files}",
        numbers=numbers,
        suggestion=f"if the query is about some values of {name} only, add a condition on it" + (", such as" if example else ""),
        rewrite=None if example is None else show(example, case.profile.zone),
    )
