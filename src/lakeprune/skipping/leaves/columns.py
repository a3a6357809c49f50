"""One column against another.

Why it is safe. If every value of b is at most every value of a, no row has a < b. NaN is above everything and equal to itself, so
a NaN in b could make `a < b` TRUE and a NaN in a could make it FALSE: the NaN of that side must be excluded first.

CASES (two columns of one type)

    predicate | type   | a: min max nulls | b: min max nulls | rows nan | mask | verdict | because
    a < b     | int    | 5   9   0        | 1   5   0        | 10   -   |  F   | DROP    | every a >= every b
    a < b     | int    | 1   4   0        | 5   9   0        | 10   -   |  T   | FULL    | every a < every b
    a < b     | int    | 1   5   0        | 5   9   0        | 10   -   |  TF  | KEEP    | 5 and 5 possible
    a <= b    | int    | 1   5   0        | 5   9   0        | 10   -   |  T   | FULL    | every a <= every b
    a > b     | int    | 1   4   0        | 4   9   0        | 10   -   |  F   | DROP    | every a <= every b
    a >= b    | int    | 1   4   ?        | 5   9   0        | 10   -   |  FN  | DROP    | below, or NULL
    a = b     | int    | 1   4   0        | 5   9   0        | 10   -   |  F   | DROP    | disjoint
    a = b     | int    | 5   5   0        | 5   5   0        | 10   -   |  T   | FULL    | the same single value
    a != b    | int    | 5   5   0        | 5   5   0        | 10   -   |  F   | DROP    | the same single value
    a < b     | int    | ?   ?   0        | 1   5   0        | 10   -   |  TF  | KEEP    | nothing about a
    a < b     | int    | -   -   10       | 1   5   0        | 10   -   |  N   | DROP    | a is NULL everywhere
    a < b     | double | 5   9   0        | 1   5   0        | 10   ?   |  TF  | KEEP    | a NaN in b is above
    a = b     | double | 1   4   0        | 5   9   0        | 10   ?   |  TF  | KEEP    | NaN = NaN
"""

from __future__ import annotations

from lakeprune.predicate.tree import Op
from lakeprune.skipping.fact import PROVEN, AllNull, Below, Fact, NanFree, NoNull, all_of, some_of, unproven
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.mask import Mask, leaf
from lakeprune.values.types import Family


def column_compare_mask(op: Op, left: Seen, right: Seen) -> Mask:
    """The mask of `left op right`, for =, < and <=."""
    a_clean, b_clean = _nan_free(left), _nan_free(right)
    if op is Op.EQ:
        apart = some_of(Below(left, right, True), Below(right, left, True))
        misses = all_of(apart, some_of(a_clean, b_clean))
        holds = all_of(Below(left, right, False), Below(right, left, False), a_clean, b_clean)
    else:
        strict = op is Op.LT
        misses = all_of(Below(right, left, not strict), b_clean)
        holds = all_of(Below(left, right, strict), a_clean)
    no_pair = some_of(AllNull(left), AllNull(right))
    return leaf(
        unproven(some_of(no_pair, misses)),
        unproven(some_of(no_pair, holds)),
        unproven(all_of(NoNull(left), NoNull(right))),
    )


def _nan_free(column: Seen) -> Fact:
    return NanFree(column) if column.type.family is Family.REAL else PROVEN
