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

from lakeprune.predicate.functions.automaton import END, START, Group, Repeat, Tree, test_of
from lakeprune.predicate.functions.function import EvaluationFailed, Function, always, takes
from lakeprune.predicate.functions.pieces import as_int
from lakeprune.predicate.functions.regular_expression import check_text, tree_of
from lakeprune.predicate.functions.text import limit_length, texts_of
from lakeprune.predicate.tree import Call, Profile
from lakeprune.values.types import STRING, Scalar

MAX_STEPS = 100_000  # ways looked at in one text
MAX_NODES = 1_000
_FOUND = 0
Spans = tuple[int, ...]  # of each group its start and end, -1 where it took no part; group 0 is the whole match


class Matcher:
    """A pattern as nodes by number: what leads on (a test, a group's edge, or nothing), and the nodes behind, best first."""

    def __init__(self, pattern: str) -> None:
        tree, self.groups = tree_of(pattern)
        self._nodes: list[tuple[object, list[int]]] = [(None, [])]  # _FOUND
        self._first = self._put(Group(0, tree), _FOUND)

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
                if node == _FOUND:
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

    def _put(self, tree: Tree, behind: int) -> int:
        """The node in front of this part, when `behind` is the one behind it."""
        match tree:
            case str():
                return self._node(test_of(tree), [behind])
            case list():
                for part in reversed(tree):
                    behind = self._put(part, behind)
                return behind
            case tuple():
                return self._node(None, [self._put(part, behind) for part in tree])
            case Group(number, part):
                return self._node(2 * number, [self._put(part, self._node(2 * number + 1, [behind]))])
        if _can_be_empty(tree.part):
            raise EvaluationFailed("a repetition of what may be empty, which engines leave at different points")
        if tree.most is None:
            again = self._node(None, [])
            self._nodes[again][1].extend((self._put(tree.part, again), behind))
            behind = again
        else:
            end = behind
            for _ in range(tree.most - tree.least):
                behind = self._node(None, [self._put(tree.part, behind), end])
        for _ in range(tree.least):
            behind = self._put(tree.part, behind)
        return behind

    def _node(self, test: object, behind: list[int]) -> int:
        if len(self._nodes) >= MAX_NODES:
            raise EvaluationFailed(f"a regular expression of more than {MAX_NODES:,} states")
        self._nodes.append((test, behind))
        return len(self._nodes) - 1


def _passes(test: object, character: str) -> bool:
    return test.fullmatch(character) is not None if isinstance(test, re.Pattern) else test == character


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
