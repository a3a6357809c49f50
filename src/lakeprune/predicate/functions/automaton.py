"""Deterministic automata: whether a text holds what a tree describes, with one step for each character.

In: a tree of characters, classes, sequences, alternatives and repetitions. Out: an `Automaton`, or `EvaluationFailed` when it
would exceed MAX_STATES or MAX_WORK: both depend on the tree alone, so a pattern has an answer for every text or for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from lakeprune.predicate.functions.function import EvaluationFailed

MAX_STATES = 1_000  # one for each character of the pattern, as often as {m,n} repeats it
MAX_WORK = 50_000  # states looked at to find out which sets of them a text can lead to
Tree = Any  # a character or class as written, a list (parts in sequence), a tuple (alternatives), a Group or a Repeat
FOUND = 0  # the state behind the whole tree
START, END = "start of text", "end of text"  # what no character passes
_Test = re.Pattern[str] | str  # of a character


class Repeat(Struct, frozen=True):
    part: Tree
    least: int
    most: int | None


class Group(Struct, frozen=True):
    """What stands in the parentheses of that number; group 0 is the whole."""

    number: int
    part: Tree


class Automaton:
    """All ways through a tree followed at once: the sets of states they can be in, and where each kind of character leads.

    Characters that pass the same tests are of one kind. Classes name the characters between which nothing changes, and what is
    neither named nor next to one of these is like every other such character.
    """

    def __init__(self, tree: Tree) -> None:
        ways = Ways(tree)
        tests = dict.fromkeys(test for test, _ in ways.nodes)
        self._classes = [test for test in tests if isinstance(test, re.Pattern)]
        self._letters = {test for test in tests if isinstance(test, str)}
        named = {c for test in self._classes for c in test.pattern} | {test for test in self._letters if len(test) == 1}
        near = {chr(min(max(ord(c) + step, 0), 0x10FFFF)) for c in named for step in (-1, 0, 1)}
        examples = {self._passes(c): c for c in sorted(near.union(map(chr, range(129))))}
        self._kinds = {passes: number for number, passes in enumerate(examples)}
        self._known: dict[str, int] = {}
        sets = [ways.closed([ways.first], is_start=True)]
        numbers = {sets[0]: 0}
        work = len(near) * len(self._classes)
        self._next: list[list[int]] = []  # by the number of a set and of a kind
        for states in sets:  # a list that grows meanwhile
            row = []
            for classes, character in examples.items():
                behind = ways.behind(states, character, classes)
                work += len(states) + len(behind)
                if work > MAX_WORK:
                    raise EvaluationFailed(f"a regular expression that takes more than {MAX_WORK:,} steps to prepare")
                if behind not in numbers:
                    numbers[behind] = len(sets)
                    sets.append(behind)
                row.append(numbers[behind])
            self._next.append(row)
        self._is_found = [FOUND in states for states in sets]
        self._is_found_at_end = [FOUND in ways.closed(states, is_end=True) for states in sets]
        self._is_found_in_nothing = FOUND in ways.closed(sets[0], is_start=True, is_end=True)

    def is_found(self, text: str) -> bool:
        if not text:
            return self._is_found_in_nothing
        number = 0
        for character in text:
            if self._is_found[number]:
                return True
            kind = self._known.get(character)
            if kind is None:
                kind = self._known[character] = self._kinds[self._passes(character)]
            number = self._next[number][kind]
        return self._is_found_at_end[number]

    def _passes(self, character: str) -> tuple[_Test, ...]:
        """The tests that a character passes."""
        found: list[_Test] = [test for test in self._classes if test.fullmatch(character)]
        return (*found, character) if character in self._letters else tuple(found)


class Ways:
    """States by number, each with what leads on and the states behind it, in the order in which Java tries them.

    What leads on is the test of a character, with `has_groups` the edge of a group (twice its number, and one more at its end),
    or nothing: None. Every part of a tree makes at least one state, so MAX_STATES bounds the time that this takes.
    """

    def __init__(self, tree: Tree, *, has_groups: bool = False) -> None:
        self.nodes: list[tuple[_Test | int | None, list[int]]] = [(None, [])]  # FOUND
        self._has_groups = has_groups
        self.first = self._put(tree, FOUND)

    def behind(self, states: Iterable[int], character: str, classes: tuple[_Test, ...]) -> frozenset[int]:
        """The states behind a character, and the first one: the tree may be found anywhere."""
        passed = [self.first]
        for state in states:
            test, behind = self.nodes[state]
            if test is not None and (test == character or test in classes):
                passed += behind
        return self.closed(passed)

    def closed(self, states: Iterable[int], *, is_start: bool = False, is_end: bool = False) -> frozenset[int]:
        """These states and those that are reached from them without a character."""
        found = set(states)
        pending = list(found)
        while pending:
            test, behind = self.nodes[pending.pop()]
            if test is None or (test is START and is_start) or (test is END and is_end):
                fresh = [state for state in behind if state not in found]
                found.update(fresh)
                pending += fresh
        return frozenset(found)

    def _put(self, tree: Tree, behind: int) -> int:
        """The state in front of this part, when `behind` is the one behind it."""
        match tree:
            case str():
                return self._node(_test_of(tree), [behind])
            case list():
                for part in reversed(tree):
                    behind = self._put(part, behind)
                return behind
            case tuple():
                return self._node(None, [self._put(part, behind) for part in tree])
            case Group(number, part):
                if not self._has_groups:
                    return self._put(part, behind)
                return self._node(2 * number, [self._put(part, self._node(2 * number + 1, [behind]))])
        if tree.most is None:
            again = self._node(None, [])
            self.nodes[again][1].extend((self._put(tree.part, again), behind))
            behind = again
        else:
            end = behind
            for _ in range(tree.most - tree.least):
                behind = self._node(None, [self._put(tree.part, behind), end])
        for _ in range(tree.least):
            behind = self._put(tree.part, behind)
        return behind

    def _node(self, test: _Test | int | None, behind: list[int]) -> int:
        if len(self.nodes) >= MAX_STATES:
            raise EvaluationFailed(f"a regular expression of more than {MAX_STATES:,} states")
        self.nodes.append((test, behind))
        return len(self.nodes) - 1


def _test_of(piece: str) -> _Test:
    if piece in ("^", "$"):
        return START if piece == "^" else END
    if len(piece) == 1 and piece != ".":
        return piece
    try:
        return re.compile(piece, re.ASCII)
    except re.error as problem:
        raise EvaluationFailed(f"the class {piece} of a regular expression") from problem
