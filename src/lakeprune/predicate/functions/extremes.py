"""greatest and least of several values; NULLs are passed over, NaN is the greatest.

Nothing moves yet (OPAQUE_ON_DATA). Evaluated on partition values when all arguments have one type.
Example: `greatest(p1, p2) > 5` over partition columns.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.predicate.comparison import order
from lakeprune.predicate.functions.function import MANY, EvaluationFailed, Function, common_type, takes
from lakeprune.predicate.tree import Call, Expr, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.types import Scalar


def _choose(call: Call, value_of: Callable[[Expr], Scalar], profile: Profile) -> Scalar:
    types = {type_ for arg in call.args if (type_ := type_of(arg)) is not None}
    if len(types) != 1:
        raise EvaluationFailed(f"{call.function} of several types")
    type_ = next(iter(types))
    sign = 1 if call.function == "greatest" else -1
    best: Scalar = None
    for arg in call.args:
        value = value_of(arg)
        if value is not None and (best is None or order(value, type_, best, type_, profile) == sign):
            best = value
    return best


FUNCTIONS = (
    Function(("greatest",), takes(2, MANY), ("Greatest",), common_type, choose=_choose),
    Function(("least",), takes(2, MANY), ("Least",), common_type, choose=_choose),
)
