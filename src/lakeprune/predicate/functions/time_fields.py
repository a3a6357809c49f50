"""hour minute second: a field of a timestamp's local time of day.

Nothing moves: they repeat every day, so minimum and maximum say nothing (OPAQUE_ON_DATA). Evaluated on partition values.
Example: `hour(ts) = 9` on a partition column is exact.
"""

from __future__ import annotations

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.tree import Call, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND
from lakeprune.values.types import INT, TIME_KINDS, Kind, Scalar

_UNITS = {"hour": (DAY, HOUR), "minute": (HOUR, MINUTE), "second": (MINUTE, SECOND)}


def _evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    type_ = type_of(call.args[0])
    if type_ is None or type_.kind not in TIME_KINDS:
        raise EvaluationFailed(f"the {call.function} of a {type_}")
    period, unit = _UNITS[call.function]
    return int(as_time(args[0], type_.kind, Kind.TIMESTAMP_NTZ, profile) % period // unit)


FUNCTIONS = tuple(Function((name,), takes(1), (name.capitalize(),), always(INT), _evaluate) for name in _UNITS)
