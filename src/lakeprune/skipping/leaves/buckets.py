"""`column lies in S`, by the buckets of a few values.

Why it is safe. Equal values lie in one bucket, so a row in S lies in a bucket of a value of S. Where a container has none of
these buckets, no row is in S. Nothing else follows: values that are not in S share the buckets of those that are.

A set counts when it consists of at most so many values that each can be looked at: `=`, IN, and short ranges of whole numbers.

CASES (`low` to `high` are the buckets of the container; a value n is in bucket n modulo 8)

    predicate          | type   | low high | mask | verdict | because
    x = 5              | int    | 4   4    |  FN  | DROP    | 5 is in bucket 5
    x = 5              | int    | 5   5    |  TFN | KEEP    | 13 is there too
    x = 5              | int    | 0   7    |  TFN | KEEP    | any bucket
    x = 5              | int    | ?   ?    |  TFN | KEEP    | not known
    x IN (1, 3)        | int    | 2   2    |  FN  | DROP    | neither
    x IN (1, 3)        | int    | 2   3    |  TFN | KEEP    | one of them
    x BETWEEN 2 AND 4  | int    | 5   7    |  FN  | DROP    | a short range is a list
    x BETWEEN 2 AND 9  | int    | 5   5    |  TFN | KEEP    | all buckets
    x > 5              | int    | 4   4    |  TFN | KEEP    | not a list
    x != 5             | int    | 5   5    |  TFN | KEEP    | 13 is there too
    NOT (x = 5)        | int    | 4   4    |  TFN | KEEP    | no row is 5, but some may be NULL
    x IS NULL          | int    | 4   4    |  TF  | KEEP    | NULL has no bucket: another rule
    x = 5 OR x = 6     | int    | 4   4    |  FN  | DROP    | the same list
    x = 5 OR x IS NULL | int    | 4   4    |  TF  | KEEP    | NULL, but never 5
    s LIKE 'a%'        | string | 4   4    |  TFN | KEEP    | a prefix is not a list (trap T48)
"""

from __future__ import annotations

from lakeprune.predicate.tree import Member
from lakeprune.skipping.fact import PROVEN, Covered, unproven
from lakeprune.skipping.ladder import Bucketing, Seen
from lakeprune.skipping.mask import UNKNOWN, Mask, leaf
from lakeprune.values.intervals import Interval, IntervalSet, from_intervals
from lakeprune.values.types import INT, Family

MOST_VALUES = 256  # of a set that are looked at


def bucket_mask(predicate: Member, bucketing: Bucketing, buckets: Seen) -> Mask:
    """The mask of a membership by the buckets of its values; UNKNOWN when they are too many."""
    numbers = _numbers(predicate, bucketing)
    if numbers is None or len(numbers) == bucketing.count:
        return UNKNOWN
    wanted = from_intervals([Interval(number, number) for number in sorted(numbers)], INT)
    others = Covered(buckets, wanted.complement()) if numbers else PROVEN
    return leaf(unproven(others), PROVEN, PROVEN)


def _numbers(predicate: Member, bucketing: Bucketing) -> set[int] | None:
    values = _few(predicate.values, is_discrete=predicate.column.type.family is Family.INTEGER)
    if values is None or predicate.values.nan:
        return None
    numbers = {bucketing.apply(value) for value in values}
    return None if None in numbers else {number for number in numbers if number is not None}


def _few(values: IntervalSet, *, is_discrete: bool) -> list[object] | None:
    """Every value of the set, None when they cannot be listed or are too many."""
    found: list[object] = []
    for interval in values.intervals:
        if interval.lo is None or interval.hi is None:
            return None
        if interval.lo == interval.hi:
            found.append(interval.lo)
        elif is_discrete and interval.hi - interval.lo < MOST_VALUES:
            found += range(interval.lo + interval.lo_open, interval.hi + (not interval.hi_open))
        else:
            return None
        if len(found) > MOST_VALUES:
            return None
    return found
