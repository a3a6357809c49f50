"""What may stand beside a condition so that Delta Spark skips more files, without losing a row.

In: a predicate that the condition implies. Out: the part of it that Delta Spark's data skipping can use and may be trusted with;
TRUE when that is nothing. Delta believes the recorded statistics as they stand, so it must not be given what a writer may have
recorded otherwise than the rows have it:

    NaN                 a set with NaN in it: writers other than Spark leave NaN out of a maximum. For `abs(v) > 5` Delta reads
                        every file; with `v > 5` beside it, it would skip the file that hides a NaN.
    wide decimals       beyond 15 digits: deltalake rounds their bounds to doubles, or cuts them at 64 bits (T93).
    CHAR, collations    the statistics have other texts than the comparison.
    booleans, binary    no bounds.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import all_of, any_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import FALSE, NULL, TRUE, And, Column, Constant, Expr, Member, Not, NullTest, Or
from lakeprune.values.types import FLOATING_KINDS, Kind

MOST_RANGES = 64  # of one column: a longer list is merged across its smallest gaps
EXACT_DIGITS = 15  # of a decimal that a double always tells apart
WITHOUT_BOUNDS = frozenset({Kind.BOOLEAN, Kind.BINARY})


def usable(predicate: Expr, *, has_exact_decimals: bool = False) -> Expr:
    """Never looks below a NOT, where a wider set would mean fewer rows."""
    match predicate:
        case And(parts):
            kept = [part for each in parts if (part := usable(each, has_exact_decimals=has_exact_decimals)) != TRUE]
            return all_of(kept) if kept else TRUE
        case Or(parts):
            weakened = [usable(part, has_exact_decimals=has_exact_decimals) for part in parts]
            return TRUE if TRUE in weakened else any_of(weakened)
        case Member(column, values):
            if _has_other_bounds(column, has_exact_decimals=has_exact_decimals) or _may_be_nan(predicate):
                return TRUE
            return Member(column, values.merged_to(MOST_RANGES))
        case NullTest(_, leaves) if leaves:  # of a NULL struct all fields are NULL; it has no null count of its own
            return all_of([NullTest(leaf) for leaf in leaves])
        case NullTest(column) | Not(NullTest(column)) if not column.type.collation:
            return predicate
        case Constant():
            return FALSE if predicate == NULL else predicate
        case _:
            return TRUE


def is_plain(column: Column) -> bool:
    """Whether a comparison of the column itself means what it means in the filter."""
    is_zoned_text = column.role is Role.PARTITION and column.type.kind is Kind.TIMESTAMP
    return column.type.collation is None and not column.has_nanoseconds and not is_zoned_text


def is_rounded(column: Column) -> bool:
    """Whether a writer may have recorded bounds of this data column that are not its values."""
    return column.role is Role.DATA and column.type.kind is Kind.DECIMAL and column.type.precision > EXACT_DIGITS


def _has_other_bounds(column: Column, *, has_exact_decimals: bool) -> bool:
    if column.type.kind in WITHOUT_BOUNDS or not is_plain(column):
        return True
    return is_rounded(column) and not has_exact_decimals


def _may_be_nan(member: Member) -> bool:
    """Whether NaN lies in the set, or in what its text would say."""
    if member.column.type.kind not in FLOATING_KINDS:
        return False
    return bool(member.values.nan) or (bool(member.values.intervals) and member.values.intervals[-1].hi is None)
