r"""RLIKE by Python's `re`, for the part of the syntax that Java and Python read alike; anything else has no answer.

In: a pattern and a text. Out: whether the pattern is found in the text. Refused (`EvaluationFailed`): look-around, flags,
possessive and lazy quantifiers, nested or intersected classes, `\b` and Unicode classes, and texts with line ends, about
which `.` and `$` disagree.
"""

from __future__ import annotations

from lakeprune.predicate.functions.function import EvaluationFailed

_PLAIN_ESCAPES = frozenset("dDwWsS.\\-/+*?()[]{}|^$_:,\"'#@ ")
_LINE_ENDS = frozenset("\n\r\u0085\u2028\u2029")


def is_found(pattern: str, text: str) -> bool:
    """Whether Java's `Matcher.find` succeeds.

    >>> is_found("^b[0-9]+$", "b05")
    True
    """
    import re

    if not _LINE_ENDS.isdisjoint(text):
        raise EvaluationFailed("Java and Python disagree about line ends in regular expressions")
    if not _is_common_syntax(pattern):
        raise EvaluationFailed(f"the regular expression {pattern!r} may mean something else in Java")
    try:
        return re.search(pattern, text, re.ASCII) is not None
    except re.error as problem:
        raise EvaluationFailed(f"{pattern!r} is no regular expression") from problem


def _is_common_syntax(pattern: str) -> bool:
    import re

    # Escapes and simple classes count as one ordinary character; what is left must be text, groups and single quantifiers.
    bare = re.sub(r"\\(.)", lambda found: "x" if found[1] in _PLAIN_ESCAPES else "\0", pattern, flags=re.DOTALL)
    bare = re.sub(r"\[\^?[^\[\]&~|^]+\]", "x", bare)
    bare = re.sub(r"\{\d+(?:,\d*)?\}", "*", bare)
    if any(character in bare for character in "\0[]{}\\"):
        return False
    return re.search(r"(?:^|[*+?(|^])[*+?]", bare) is None
