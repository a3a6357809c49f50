"""`column IS NULL`.

Why it is safe. Only a known null count proves anything: 0 proves no NULL, the row count proves all NULL. For a struct, one leaf
that is never NULL proves the struct never is; the reverse does not hold, since a struct of NULLs is not a NULL struct.

CASES

    predicate     | type | min max nulls rows nan | mask | verdict | because
    x IS NULL     | int  | 1   9   0     10   -   |  F   | DROP    | no NULL
    x IS NULL     | int  | 1   9   ?     10   -   |  TF  | KEEP    | unknown is not zero (trap T29)
    x IS NULL     | int  | -   -   10    10   -   |  T   | FULL    | every row
    x IS NULL     | int  | 1   9   3     10   -   |  TF  | KEEP    | some rows
    x IS NOT NULL | int  | -   -   10    10   -   |  F   | DROP    | every row is NULL
    x IS NOT NULL | int  | ?   ?   0     ?    -   |  T   | FULL    | the count alone proves it
    x IS NOT NULL | int  | ?   ?   10    ?    -   |  TF  | KEEP    | row count unknown
    (x < 5) IS NULL | int | ?  ?   ?     10   -   |  TF  | KEEP    | trap T36
    (x < 5) IS NULL | int | 1  9   0     10   -   |  F   | DROP    | no NULL, so never NULL
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.skipping.fact import NOT_PROVEN, AllNull, Fact, NoNull, some_of, unproven
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.mask import Mask, leaf


def null_test_mask(seen: Sequence[Seen], *, is_struct: bool) -> Mask:
    """The mask of `column IS NULL`, by what is seen of the column, or of the leaves of a struct."""
    no_null = some_of(*(NoNull(column) for column in seen))
    all_null: Fact = NOT_PROVEN if is_struct else AllNull(seen[0])
    return leaf(unproven(no_null), unproven(all_null), NOT_PROVEN)
