"""Points in time in hints: literals that lost their microseconds, or never had a time zone.

In: a timestamp column, and the least and greatest moment that the client can have meant. Out: a bound predicate, bracketed by
Either. Spark truncates timestamp literals to milliseconds before it sends them, toward zero, so every literal is off by less than
one millisecond either way.
"""

from __future__ import annotations

from lakeprune.predicate.tree import And, Column, Compare, Either, Expr, Literal, Not, Op

MARGIN = 1000  # microseconds


def moment(op: Op, column: Column, low: int, high: int) -> Expr:
    """`column op L` for some L in low..high, give or take a millisecond; it is not known which.

    >>> from lakeprune.predicate.schema import Role
    >>> from lakeprune.predicate.write.show import show
    >>> from lakeprune.values.types import TIMESTAMP
    >>> found = moment(Op.LE, Column(("ts",), ("ts",), TIMESTAMP, Role.DATA), 3_000_000, 3_000_000)
    >>> show(found.outer), show(found.inner)
    ("ts <= '1970-01-01 00:00:03.001'", "ts <= '1970-01-01 00:00:02.999'")
    """

    def compared(with_op: Op, value: int) -> Expr:
        return Compare(with_op, column, Literal(value, column.type))

    low, high = low - MARGIN, high + MARGIN
    match op:
        case Op.LT | Op.LE:
            return Either(compared(op, high), compared(op, low))
        case Op.GT | Op.GE:
            return Either(compared(op, low), compared(op, high))
        case Op.EQ:
            near = And((compared(Op.GE, low), compared(Op.LE, high)))
            never = And((compared(Op.GT, high), compared(Op.LT, low)))  # FALSE for every value, NULL for NULL
            return Either(near, never)
        case Op.NE:
            return Not(moment(Op.EQ, column, low + MARGIN, high - MARGIN))
        case Op.NULL_SAFE_EQ:
            raise AssertionError("readers of hints refuse <=> on moments")
