"""startswith endswith contains: whether a text begins with, ends with or has another.

What moves: `startswith(s, 'ab')` becomes the prefix set 'ab'. Safe: strings with one prefix lie side by side in code point order.
Example: `startswith(s, 'b0')` is `s LIKE 'b0%'`. Refuses endswith, contains and a prefix that is not a constant (OPAQUE_ON_DATA).
"""

from __future__ import annotations

from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.rewrite import predicate_in
from lakeprune.predicate.tree import Call, Expr, Literal, Profile, Within
from lakeprune.predicate.walk import type_of
from lakeprune.values.intervals import IntervalSet, prefixed
from lakeprune.values.types import BOOLEAN, STRING, Scalar


def _evaluate(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text, part = args
    if not isinstance(text, str) or not isinstance(part, str) or any(type_of(arg) != STRING for arg in call.args):
        raise EvaluationFailed(f"{call.function} on something that is not plain text")
    if call.function == "contains":
        return part in text
    return text.startswith(part) if call.function == "startswith" else text.endswith(part)


def _preimage(call: Call, values: IntervalSet, _profile: Profile) -> Expr | None:
    text, prefix = call.args
    if type_of(text) != STRING or not isinstance(prefix, Literal) or not isinstance(prefix.value, str):
        return None
    return predicate_in(Within(text, prefixed(prefix.value)), values)


FUNCTIONS = (
    Function(("startswith",), takes(2), ("StartsWith",), always(BOOLEAN), _evaluate, _preimage),
    Function(("endswith",), takes(2), ("EndsWith",), always(BOOLEAN), _evaluate),
    Function(("contains",), takes(2), ("Contains",), always(BOOLEAN), _evaluate),
)
