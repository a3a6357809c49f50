"""lower and upper, for letters whose case every engine folds alike.

Nothing moves: folding does not keep the order, and letters outside ASCII fold into it (the Kelvin sign lowers to k), so on
data it is opaque (OPAQUE_ON_DATA). On partition values it is exact for ASCII, Latin and Cyrillic letters with one-to-one
case; other text has no answer. Example: `lower(country) = 'de'` on a partition column.
"""

from __future__ import annotations

from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.tree import Call, Profile
from lakeprune.values.types import STRING, Scalar


def lowered(text: str) -> str:
    """The text in lower case.

    >>> lowered("ÄB")
    'äb'
    """
    return text.lower() if text.isascii() else "".join(_fold(letter, upper=False) for letter in text)


def _uppered(text: str) -> str:
    return text.upper() if text.isascii() else "".join(_fold(letter, upper=True) for letter in text)


def _fold(letter: str, *, upper: bool) -> str:
    code = ord(letter)
    known = code < 0x80 or 0xC0 <= code <= 0x17E or 0x400 <= code <= 0x45F
    folded = letter.upper() if upper else letter.lower()
    # A letter that changes length or does not come back (sharp s, dotted capital I) depends on the engine's tables.
    if not known or len(folded) != 1 or letter not in (folded.lower(), folded.upper()):
        raise EvaluationFailed(f"the case of {letter!r} depends on the engine")
    return folded


def _evaluate(call: Call, args: tuple[Scalar, ...], _profile: Profile) -> Scalar:
    text = args[0]
    if not isinstance(text, str):
        raise EvaluationFailed("the case of something that is not text")
    return lowered(text) if call.function == "lower" else _uppered(text)


FUNCTIONS = (
    Function(("lower", "lcase"), takes(1), ("Lower",), always(STRING), _evaluate),
    Function(("upper", "ucase"), takes(1), ("Upper",), always(STRING), _evaluate),
)
