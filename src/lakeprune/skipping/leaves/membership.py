"""`column lies in S`: every comparison, IN, BETWEEN, prefix LIKE and boolean test.

Why it is safe. [L, U] holds every live non-NULL, non-NaN value. If it lies inside the complement of S no such value is in S, so
TRUE needs a NaN that is in S; if it lies inside S no such value gives FALSE, so FALSE needs a NaN outside S. A missing bound is
unbounded: nothing is covered by accident. The hull [L, U] is one piece, so it must fit into *one* interval of the set.

The tempting wrong answer is to let NULL rows or NaN follow the bounds: they lie outside min/max in most writers (trap T1).

CASES (`?` statistic missing, `-` no value, nan: - proven absent, ? unknown)

    predicate            | type   | min   max   nulls rows nan | mask | verdict | because
    x = 5                | int    | 0     4     0     10   -   |  F   | DROP    | max < 5
    x = 5                | int    | 2     10    ?     10   -   |  TFN | KEEP    | 5 lies in [2, 10]
    x = 5                | int    | 5     5     0     10   -   |  T   | FULL    | one value, no null
    x = 5                | int    | ?     4     ?     ?    -   |  FN  | DROP    | max alone proves it
    x = 5                | int    | 6     ?     ?     ?    -   |  FN  | DROP    | min alone proves it
    x = 5                | int    | -     -     10    10   -   |  N   | DROP    | every row is NULL
    x = 5                | int    | ?     ?     ?     ?    -   |  TFN | KEEP    | nothing is known
    x = 5                | int    | 5     5     3     10   -   |  TN  | KEEP    | the value or NULL
    x != 5               | int    | 5     5     0     10   -   |  F   | DROP    | only 5
    x != 5               | int    | 5     5     ?     10   -   |  FN  | DROP    | only 5 or NULL
    x != 5               | int    | 6     9     0     10   -   |  T   | FULL    | 5 lies outside
    x != 5               | int    | 5     6     0     10   -   |  TF  | KEEP    | 6 possible
    x < 5                | int    | 5     9     0     10   -   |  F   | DROP    | min >= 5
    x < 5                | int    | 1     4     0     10   -   |  T   | FULL    | max < 5
    x <= 5               | int    | 5     9     0     10   -   |  TF  | KEEP    | min = 5
    x > 5                | int    | 1     5     0     10   -   |  F   | DROP    | max <= 5
    x > 5                | int    | ?     ?     0     10   -   |  TF  | KEEP    | no bounds
    x < 3.5              | int    | 4     9     0     10   -   |  F   | DROP    | ..3 on integers
    x = 3.5              | int    | 1     9     0     10   -   |  F   | DROP    | no integer is 3.5
    x BETWEEN 3 AND 6    | int    | 7     9     0     10   -   |  F   | DROP    | above
    x BETWEEN 3 AND 6    | int    | 3     6     0     10   -   |  T   | FULL    | inside
    x NOT BETWEEN 3 AND 6| int    | 3     6     0     10   -   |  F   | DROP    | inside
    x IN (1, 9)          | int    | 2     8     0     10   -   |  F   | DROP    | in the gap, never the hull
    x IN (1, 2, 3)       | int    | 1     3     0     10   -   |  T   | FULL    | the list covers the range
    x NOT IN (1, 2, 3)   | int    | 1     3     0     10   -   |  F   | DROP    | the list covers the range
    x IN (1, NULL)       | int    | 2     8     0     10   -   |  N   | DROP    | never FALSE, never TRUE here
    x NOT IN (1, NULL)   | int    | 2     8     0     10   -   |  N   | DROP    | NULL in the list: never TRUE
    x > 100              | double | 1     2     0     3    ?   |  TF  | KEEP    | NaN may hide above max
    x > 100              | double | 1     2     0     3    -   |  F   | DROP    | no NaN, max <= 100
    x < 10               | double | 1     2     0     3    ?   |  TF  | KEEP    | NaN is FALSE here
    x < 0                | double | 1     2     0     3    ?   |  F   | DROP    | NaN is never below
    NOT (x < 10)         | double | 1     2     0     3    ?   |  TF  | KEEP    | trap T1
    x != 5               | double | 5     5     0     2    ?   |  TF  | KEEP    | NaN differs from 5
    x BETWEEN 6 AND 9    | double | 1     2     0     3    ?   |  F   | DROP    | the finite end rejects NaN
    x = 0.0              | double | -0.0  -0.0  0     1    -   |  T   | FULL    | signed zeros are equal
    s = 'b'              | string | c     d     0     9    -   |  F   | DROP    | below min
    s LIKE 'b%'          | string | ba    bz    0     9    -   |  T   | FULL    | every value starts with b
    s LIKE 'b%'          | string | c     d     0     9    -   |  F   | DROP    | above every b...
    s NOT LIKE 'b%'      | string | ba    bz    0     9    -   |  F   | DROP    | every value starts with b
    b                    | boolean| false false 0     9    -   |  F   | DROP    | only false
    NOT b                | boolean| false false 0     9    -   |  T   | FULL    | only false
    b IS NOT TRUE        | boolean| true  true  0     9    -   |  F   | DROP    | only true, no null
    b IS NOT TRUE        | boolean| true  true  ?     9    -   |  TF  | KEEP    | NULL is not true
    x > 5 AND x < 3      | int    | 1     9     0     9    -   |  F   | DROP    | contradiction
    x <=> 5              | int    | 6     9     3     9    -   |  F   | DROP    | NULL rows are FALSE
    NOT (x <=> 5)        | int    | 6     9     3     9    -   |  T   | FULL    | NULL rows are TRUE
    x <=> NULL           | int    | 6     9     0     9    -   |  F   | DROP    | no NULL
"""

from __future__ import annotations

import math

from lakeprune.predicate.comparison import whole
from lakeprune.skipping.fact import PROVEN, AllNull, Covered, Fact, Known, NanFree, NoNull, all_of, some_of, unproven
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.mask import Mask, leaf
from lakeprune.values.intervals import IntervalSet


def membership_mask(column: Seen, values: IntervalSet) -> Mask:
    """The mask of `column lies in values`."""
    # `whole`: outside {false} lie "below false" and "above false"; on booleans only {true} of that exists.
    never_true = some_of(AllNull(column), _stays_in(column, whole(values.complement(), column.type)))
    never_false = some_of(AllNull(column), _stays_in(column, values))
    return leaf(unproven(never_true), unproven(never_false), unproven(NoNull(column)))


def _stays_in(column: Seen, values: IntervalSet) -> Fact:
    """Every non-NULL value, NaN included, lies in `values`."""
    nan_is_fine: Fact = PROVEN if values.nan is None or values.nan else NanFree(column, is_sought=_holds_infinity(values))
    return all_of(_covered(column, values), nan_is_fine)


def _holds_infinity(values: IntervalSet) -> bool:
    """Whether NaN, which lies outside `values`, is so alone: no order puts it there, the predicate names it."""
    if not values.intervals:
        return False
    last = values.intervals[-1]
    return last.hi is None or (last.hi == math.inf and not last.hi_open)


def _covered(column: Seen, values: IntervalSet) -> Fact:
    if not values.intervals:
        return Known(False)
    first = values.intervals[0]
    return PROVEN if first.lo is None and first.hi is None else Covered(column, values)
