r"""RLIKE for the part of the syntax that Java and Python read alike; anything else has no answer.

In: a pattern and a text. Out: whether the pattern is found in the text, in time that grows with the length of the text alone:
patterns become deterministic automata (ADR 17), nothing backtracks. Refused (`EvaluationFailed`): look-around, flags,
possessive and lazy quantifiers, nested or intersected classes, `\b` and Unicode classes; texts with line ends, about which `.`
and `$` disagree; patterns beyond the limits of automaton.py.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lakeprune.predicate.functions.automaton import MAX_STATES, Automaton, Group, Repeat, Tree
from lakeprune.predicate.functions.function import EvaluationFailed

MAX_DEPTH = 50  # groups inside each other
_PLAIN_ESCAPES = frozenset("dDwWsS.\\-/+*?()[]{}|^$_:,\"'#@ ")
_LINE_ENDS = frozenset("\n\r\u0085\u2028\u2029")
_PIECE = re.compile(r"\\.|\[\^?(?:\\.|[^\[\]\\])+\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def is_found(pattern: str, text: str) -> bool:
    """Whether Java's `Matcher.find` succeeds.

    >>> is_found("^b[0-9]+$", "b05"), is_found("(a+)+$", "a" * 5000 + "b")
    (True, False)
    """
    check_text(text)
    automaton = _automaton_or_failure(pattern)
    if isinstance(automaton, EvaluationFailed):
        raise EvaluationFailed(*automaton.args)
    return automaton.is_found(text)


def check_text(text: str) -> None:
    if not _LINE_ENDS.isdisjoint(text):
        raise EvaluationFailed("Java and Python disagree about line ends in regular expressions")


@lru_cache(maxsize=256)
def _automaton_or_failure(pattern: str) -> Automaton | EvaluationFailed:
    """Both are remembered: partition values ask the same pattern again and again."""
    try:
        return Automaton(tree_of(pattern)[0])
    except EvaluationFailed as failure:
        return failure


def tree_of(pattern: str) -> tuple[Tree, int]:
    """The tree of a pattern, and how many groups it has."""
    if len(pattern) > MAX_STATES:
        raise EvaluationFailed(f"a regular expression of more than {MAX_STATES:,} characters")
    if not _is_common_syntax(pattern):
        raise EvaluationFailed(f"the regular expression {pattern!r} may mean something else in Java")
    pieces = _PIECE.findall(pattern)[::-1]
    groups = pieces.count("(")
    tree = _tree(pieces, 0, groups)
    if pieces:
        raise EvaluationFailed(f"{pattern!r} is not a regular expression")
    return tree, groups


def _is_common_syntax(pattern: str) -> bool:
    # Escapes and simple classes count as one ordinary character; what remains must be text, groups and single quantifiers.
    bare = re.sub(r"\\(.)", lambda found: "x" if found[1] in _PLAIN_ESCAPES else "\0", pattern, flags=re.DOTALL)
    bare = re.sub(r"\[\^?[^\[\]&~|^]+\]", "x", bare)
    bare = re.sub(r"\{\d+(?:,\d*)?\}", "*", bare)
    if any(character in bare for character in "\0[]{}\\"):
        return False
    return re.search(r"(?:^|[*+?(|^$])[*+?]", bare) is None


def _tree(pieces: list[str], depth: int, groups: int) -> Tree:
    """The tree of the pieces, taken from the end of the list up to the bracket that closes this group."""
    if depth > MAX_DEPTH:
        raise EvaluationFailed(f"a regular expression with more than {MAX_DEPTH} groups inside each other")
    alternatives: list[list[Tree]] = [[]]
    while pieces and pieces[-1] != ")":
        piece = pieces.pop()
        if piece == "|":
            alternatives.append([])
            continue
        part: Tree = piece
        if piece == "(":
            number = groups - pieces.count("(")
            inside = _tree(pieces, depth + 1, groups)
            part = [] if inside == [] else Group(number, inside)
            if not pieces:
                raise EvaluationFailed("a group of a regular expression that is not closed")
            pieces.pop()
        if pieces and (pieces[-1] in _REPEATS or pieces[-1].startswith("{")):
            part = _repeated(part, pieces.pop())
        if part != []:
            alternatives[-1].append(part)
    return alternatives[0] if len(alternatives) == 1 else tuple(alternatives)


def _repeated(part: Tree, quantifier: str) -> Tree:
    if quantifier in _REPEATS:
        least, most = _REPEATS[quantifier]
    else:
        first, comma, last = quantifier.strip("{}").partition(",")
        least, most = int(first), int(last) if last else None if comma else int(first)
    if most is not None and most < least:
        raise EvaluationFailed(f"the quantifier {quantifier} of a regular expression")
    return [] if part == [] or most == 0 else Repeat(part, least, most)
