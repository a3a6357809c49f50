"""What was probably meant by a condition that no row satisfies.

In: the conjunct of a case. Out: what to do, and the condition to paste where one is known.
"""

from __future__ import annotations

from lakeprune.predicate.tree import Column, Compare, Expr, Literal, Name, Op
from lakeprune.predicate.write.show import name_text, show
from lakeprune.report.diagnosis.case import Case


def repaired(case: Case, conjunct: Expr) -> tuple[str, str | None]:
    """What to do about a condition that no row satisfies: `x = NULL` is `x IS NULL`, `"x" = 1` was to be a column."""
    match conjunct:
        case Compare(Op.EQ | Op.NE as op, left, right):
            columns = [side for side in (left, right) if isinstance(side, Column)]
            if columns and any(isinstance(side, Literal) and side.value is None for side in (left, right)):
                test = "IS NULL" if op is Op.EQ else "IS NOT NULL"
                return f"a comparison with NULL is never TRUE; use {test}", f"{name_text(columns[0].path)} {test}"
    if isinstance(conjunct, Compare):
        names = {field.name.lower(): field.name for field in case.facts.schema.fields}
        for quoted, other in ((conjunct.left, conjunct.right), (conjunct.right, conjunct.left)):
            if isinstance(quoted, Literal) and isinstance(other, Literal) and str(quoted.value).lower() in names:
                column = Name((names[str(quoted.value).lower()],))
                sides = (column, other) if quoted is conjunct.left else (other, column)
                return "quotes make text, not a column; take them away", show(Compare(conjunct.op, *sides), case.profile.zone)
    return "check the constants and the direction of the comparisons", None
