"""A bound predicate in the closed set of nodes that skipping can lower.

In: a bound tree. Out: And Or Not IsNull Either Constant Member NullTest ColumnCompare Exact Opaque, with the same truth on
every row (where the result has an Either, the truth is that of one of its sides). Never raises for a predicate it cannot
use: that part becomes Opaque with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeprune.predicate.passes.combine_date_fields import combine_date_fields
from lakeprune.predicate.passes.factor_or import factor_or
from lakeprune.predicate.passes.fold_constants import fold_constants
from lakeprune.predicate.passes.keep_partition_leaves import keep_partition_leaves
from lakeprune.predicate.passes.limit_lists import limit_lists
from lakeprune.predicate.passes.merge_ranges import merge_ranges
from lakeprune.predicate.passes.orient import orient
from lakeprune.predicate.passes.push_not import push_not
from lakeprune.predicate.passes.state_as_sets import state_as_sets
from lakeprune.predicate.passes.unwrap_functions import NO_MORE, Preimages, has_functions, settle_columns, unwrap_functions
from lakeprune.predicate.tree import Expr, Lowerable, Profile

Pass = Callable[[Expr, Profile], Expr]

STATE: tuple[Pass, ...] = (
    fold_constants,  # x > 2 + 3             x > 5
    orient,  # 5 < x                          x > 5
    keep_partition_leaves,  # year(p) = 2024  evaluated on the partition values
    state_as_sets,  # x > 5                   x lies in 6..
)
COMBINE: tuple[Pass, ...] = (combine_date_fields,)  # year(t) = 2024 AND month(t) = 3: one range of days
# Then, while a function is left: unwrap_functions, year(t) = 2024 -> t lies in 2024-01-01..2024-12-31, and STATE again.
MERGE: tuple[Pass, ...] = (
    settle_columns,  # a set of a column         its Member
    push_not,  # NOT (x > 5)                  x lies in ..5
    merge_ranges,  # x > 5 AND x < 9          x lies in 6..8
    factor_or,  # (a AND b) OR (a AND c)      a AND (b OR c)
    limit_lists,  # IN of 100,000             at most MAX_INTERVALS intervals
)


def normalise(expr: Expr, profile: Profile, more: Preimages = NO_MORE) -> Lowerable:
    """The predicate after all passes; `more` preimages serve where a function itself has none."""
    return merge(_stated(expr, profile, more), profile)


def normalise_whole(expr: Expr, profile: Profile) -> Lowerable:
    """The same with every list whole, however long: for filters on rows, to which a merged list is of no use."""
    passes = tuple(change for change in MERGE if change is not limit_lists)
    return _merged(passes, _stated(expr, profile, NO_MORE), profile)


def merge(expr: Expr, profile: Profile) -> Lowerable:
    """A predicate over sets on bare columns, with the sets of one column merged."""
    return _merged(MERGE, expr, profile)


def _stated(expr: Expr, profile: Profile, more: Preimages) -> Expr:
    expr = _through((*STATE, *COMBINE), expr, profile)
    while has_functions(expr):
        expr = _through(STATE, unwrap_functions(expr, profile, more), profile)
    return expr


def _merged(passes: Iterable[Pass], expr: Expr, profile: Profile) -> Lowerable:
    expr = _through(passes, expr, profile)
    if isinstance(expr, Lowerable):
        return expr
    raise AssertionError(f"{type(expr).__name__} cannot be lowered")


def _through(passes: Iterable[Pass], expr: Expr, profile: Profile) -> Expr:
    for change in passes:
        expr = change(expr, profile)
    return expr
