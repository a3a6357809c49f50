"""date_format(ts, pattern), for patterns made of yyyy MM dd HH mm ss and punctuation.

Nothing moves (OPAQUE_ON_DATA): text of dates has its own order. Evaluated on partition values; other pattern letters have no
answer. Example: `date_format(d, 'yyyy-MM') = '2024-03'` on a partition column.
"""

from __future__ import annotations

import re

from lakeprune.predicate.comparison import as_time
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.tree import Call, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.time.calendar import DAY, HOUR, MINUTE, SECOND, civil_of
from lakeprune.values.types import STRING, TIME_KINDS, Kind, Scalar


def _evaluate(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    type_, pattern = type_of(call.args[0]), args[1]
    if type_ is None or type_.kind not in TIME_KINDS or not isinstance(pattern, str):
        raise EvaluationFailed(f"a format of a {type_}")
    return formatted(int(as_time(args[0], type_.kind, Kind.TIMESTAMP_NTZ, profile)), pattern)


def formatted(local: int, pattern: str) -> str:
    """The text of a local time.

    >>> formatted(0, "yyyy/MM/dd HH:mm")
    '1970/01/01 00:00'
    """
    year, month, day = civil_of(local // DAY)
    if not 1 <= year <= 9999:
        raise EvaluationFailed("a year of more than four digits")
    fields = {
        "yyyy": f"{year:04}",
        "MM": f"{month:02}",
        "dd": f"{day:02}",
        "HH": f"{local % DAY // HOUR:02}",
        "mm": f"{local % HOUR // MINUTE:02}",
        "ss": f"{local % MINUTE // SECOND:02}",
    }
    pieces = re.findall(r"([A-Za-z])(\1*)|([^A-Za-z])", pattern)
    return "".join(_piece(letter + more, mark, fields) for letter, more, mark in pieces)


def _piece(letters: str, mark: str, fields: dict[str, str]) -> str:
    if mark in ("'", "[", "]", "#", "{", "}") or (letters and letters not in fields):
        raise EvaluationFailed(f"the pattern letters {letters or mark!r}")
    return fields[letters] if letters else mark


FUNCTIONS = (Function(("date_format",), takes(2), ("DateFormatClass",), always(STRING), _evaluate),)
