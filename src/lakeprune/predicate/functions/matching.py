"""regexp_replace and regexp_extract: where a regular expression matches, and what its groups hold.

In: a pattern of the common syntax (regular_expression.py). Out: the match that Java's backtracking finds first, by following all
ways through the pattern at once, in order of preference: time grows with pattern times text, nothing backtracks (ADR 17).
Nothing moves (OPAQUE_ON_DATA). Refused (`EvaluationFailed`): repetitions of what may be empty, which engines leave at different
points; texts with line ends or characters that Java counts twice; replacements with a backslash; MAX_STEPS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lakeprune.predicate.functions.automaton import END, FOUND, START, Group, Repeat, Tree, Ways
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import as_int
from lakeprune.predicate.functions.regular_expression import check_text, tree_of
from lakeprune.predicate.functions.text import limit_length, texts_of
from lakeprune.predicate.tree import Call, Profile
from lakeprune.values.types import STRING, Scalar

MAX_STEPS = 100_000  # ways looked at in one text
Spans = tuple[int, ...]  # of each group its start and end, -1 where it took no part; group 0 is the whole match


class Matcher:
    """The ways through a pattern, followed in order of preference."""

    def __init__(self, pattern: str) -> None:
        tree, self.groups = tree_of(pattern)
        if _repeats_nothing(tree):
            raise EvaluationFailed("a repetition of what may be empty, which engines leave at different points")
        ways = Ways(Group(0, tree), has_groups=True)
        self._nodes, self._first = ways.nodes, ways.first

    def matches(self, text: str) -> Iterator[Spans]:
        """Every match from left to right; behind an empty one the search goes on one character later."""
        start, steps = 0, [0]
        while start <= len(text) and (spans := self._search(text, start, steps)) is not None:
            yield spans
            start = spans[1] + (spans[0] == spans[1])

    def _search(self, text: str, start: int, steps: list[int]) -> Spans | None:
        best: Spans | None = None
        ways: dict[int, Spans] = {}
        for at in range(start, len(text) + 1):
            if best is None:
                self._enter(ways, self._first, (-1,) * (2 * self.groups + 2), at, text)
            steps[0] += len(ways) + 1
            if steps[0] > MAX_STEPS:
                raise EvaluationFailed(f"a regular expression that takes more than {MAX_STEPS:,} steps in this text")
            onwards: dict[int, Spans] = {}
            for node, spans in ways.items():
                if node == FOUND:
                    best = spans
                    break  # the ways that follow are worse
                test, behind = self._nodes[node]
                if at < len(text) and _passes(test, text[at]):
                    self._enter(onwards, behind[0], spans, at + 1, text)
            ways = onwards
            if best is not None and not ways:
                break
        return best

    def _enter(self, ways: dict[int, Spans], node: int, spans: Spans, at: int, text: str) -> None:
        """Adds what is reached without a character, best first; what a better way has reached stays its own."""
        pending = [(node, spans)]
        while pending:
            node, spans = pending.pop()
            if node in ways:
                continue
            test, behind = self._nodes[node]
            if isinstance(test, int):
                spans = (*spans[:test], at, *spans[test + 1 :])
            ways[node] = spans
            if test is None or isinstance(test, int) or (test is START and at == 0) or (test is END and at == len(text)):
                pending.extend((following, spans) for following in reversed(behind))


def _passes(test: object, character: str) -> bool:
    return test.fullmatch(character) is not None if isinstance(test, re.Pattern) else test == character


def _repeats_nothing(tree: Tree) -> bool:
    """Whether something is repeated that may be empty."""
    match tree:
        case str():
            return False
        case list() | tuple():
            return any(map(_repeats_nothing, tree))
        case Repeat(part) if _can_be_empty(part):
            return True
        case _:
            return _repeats_nothing(tree.part)


def _can_be_empty(tree: Tree) -> bool:
    match tree:
        case str():
            return tree in ("^", "$")
        case list():
            return all(map(_can_be_empty, tree))
        case tuple():
            return any(map(_can_be_empty, tree))
        case Repeat(part, least, _):
            return least == 0 or _can_be_empty(part)
        case _:
            return _can_be_empty(tree.part)


@lru_cache(maxsize=256)
def _matcher_or_failure(pattern: str) -> Matcher | EvaluationFailed:
    try:
        return Matcher(pattern)
    except EvaluationFailed as failure:
        return failure


def _matcher(pattern: str, text: str) -> Matcher:
    check_text(text)
    if any(character > "\uffff" for character in text):
        raise EvaluationFailed("characters that Java counts twice, in a regular expression")
    found = _matcher_or_failure(pattern)
    if isinstance(found, EvaluationFailed):
        raise EvaluationFailed(*found.args)
    return found


def _group(text: str, spans: Spans, number: int) -> str:
    return text[spans[2 * number] : spans[2 * number + 1]] if spans[2 * number] >= 0 else ""


def _replace(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    if len(args) > 3 and args[3] != 1:
        raise EvaluationFailed("regexp_replace from a position on")
    text, pattern, replacement = texts_of(Call(call.function, call.args[:3]), args[:3], profile)
    matcher = _matcher(pattern, text)
    pieces = re.findall(r"\$[0-9](?![0-9])|[^$\\]", replacement, re.DOTALL)
    if "".join(pieces) != replacement or any(piece > f"${matcher.groups}" for piece in pieces if len(piece) > 1):
        raise EvaluationFailed(f"the replacement {replacement!r}")
    found, end, length = [], 0, len(text)
    for spans in matcher.matches(text):
        put = "".join(_group(text, spans, int(piece[1])) if len(piece) > 1 else piece for piece in pieces)
        length += len(put)
        limit_length(length)
        found += [text[end : spans[0]], put]
        end = spans[1]
    return "".join(found) + text[end:]


def _extract(call: Call, args: tuple[Scalar, ...], profile: Profile) -> Scalar:
    text, pattern = texts_of(Call(call.function, call.args[:2]), args[:2], profile)
    matcher, number = _matcher(pattern, text), as_int(args[2]) if len(args) > 2 else 1
    if not 0 <= number <= matcher.groups:
        raise EvaluationFailed("a group that the pattern does not have")
    spans = next(matcher.matches(text), None)
    return "" if spans is None else _group(text, spans, number)


FUNCTIONS = (
    Function(("regexp_replace",), takes(3, 4), ("RegExpReplace",), always(STRING), _replace),
    Function(("regexp_extract",), takes(2, 3), ("RegExpExtract",), always(STRING), _extract),
)
