"""The SET of an UPDATE as assignments: which column becomes which expression.

In: text like `a = 1, b = b + 1`, or a mapping of both. Out: `Assignment`s whose expressions are passed on one by one, so that no
text of a SET can become another part of the statement. Whether an expression makes sense is for Spark's analyser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from lakeprune.errors import PredicateError, StatementError, UsageError
from lakeprune.predicate.bind.names import Resolver
from lakeprune.predicate.read.sql.spans import underline
from lakeprune.predicate.read.sql.tokens import Tokens, tokenize
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import Name
from lakeprune.predicate.write.show import name_text

_FIX = "write it like  a = 1, b = b + 1"


class Assignment(Struct, frozen=True):
    column: tuple[str, ...]  # one name, or the path to a field of a struct
    expression: str
    where: str  # for messages

    @property
    def target(self) -> str:
        """The column as SQL."""
        return name_text(self.column)


def assignments_of(given: str | Mapping[str, str]) -> tuple[Assignment, ...]:
    """The assignments, in order.

    >>> [(a.column, a.expression) for a in assignments_of("`a b`.c = 1 /* x */ + 2, d = concat('=', e)")]
    [(('a b', 'c'), '1 + 2'), (('d',), "concat('=', e)")]
    """
    found = [_of_pair(*pair) for pair in _pairs(given)] if isinstance(given, Mapping) else _of_text(_text(given))
    if not found:
        raise StatementError("LP401", "nothing is set", where="--set", fix=_FIX)
    return tuple(found)


def check_columns(assignments: Sequence[Assignment], schema: Schema, computed: Mapping[str, str]) -> None:
    """Refuse columns that do not exist (LP102), that are set twice (LP402), that the table itself makes (LP403)."""
    made = {name.lower(): how for name, how in computed.items()}
    seen: list[tuple[str, ...]] = []
    for assignment in assignments:
        text = assignment.target
        resolver = Resolver(schema, text)
        name = Name(assignment.column, 0, len(text))
        if resolver.column(name) is None:
            why = "it lies inside an array, a map or a variant"
            raise StatementError("LP403", f"{text} cannot be set", where=assignment.where, why=why, fix="set the whole column")
        path = tuple(part.lower() for part in assignment.column)
        for other in seen:
            shorter = min(len(path), len(other))
            if path[:shorter] == other[:shorter]:
                what = f"{text} is set twice" if path == other else f"{text} is set both whole and in part"
                raise StatementError("LP402", what, where=assignment.where, fix="set every column once")
        seen.append(path)
        if path[0] in made:
            what = f"{text} cannot be set: it is {made[path[0]]}"
            raise StatementError("LP403", what, where=assignment.where, fix="leave it out: the table makes its values itself")


def _pairs(given: Mapping[str, str]) -> list[tuple[str, str]]:
    pairs = list(given.items())
    for column, expression in pairs:
        if not isinstance(column, str) or not isinstance(expression, str):
            what = f"the assignment of {column!r} is not text"
            raise UsageError("LP251", what, fix="give SQL expressions as text: {'a': '1', 'b': 'b + 1'}")
    return pairs


def _text(given: object) -> str:
    if not isinstance(given, str):
        fix = "give {'a': '1', 'b': 'b + 1'} or \"a = 1, b = b + 1\""
        raise UsageError("LP251", f"a {type(given).__name__} is not a SET", fix=fix)
    return given


def _of_text(text: str) -> list[Assignment]:
    tokens = _tokens(text)
    bounds = [index for index, token in enumerate(tokens.items) if token.key == "," and tokens.depth[index] == 0]
    starts, ends = [0, *(bound + 1 for bound in bounds)], [*bounds, len(tokens.items)]
    if not tokens.items:
        return []
    return [_between(tokens, start, end) for start, end in zip(starts, ends, strict=True)]


def _of_pair(column: str, expression: str) -> Assignment:
    names, value = _tokens(column), _tokens(expression)
    if not value.items:
        raise StatementError("LP401", f"nothing is assigned to {column}", fix=_FIX)
    return Assignment(_name(names, 0, len(names.items)), value.uncommented(), f"{column} = {expression}")


def _between(tokens: Tokens, start: int, end: int) -> Assignment:
    equals = next((index for index in range(start, end) if tokens.key(index) == "=" and tokens.depth[index] == 0), None)
    if equals is None or equals == start or equals + 1 == end:
        place = tokens.items[min(start, len(tokens.items) - 1)]
        last = tokens.items[max(start, end - 1)] if start < len(tokens.items) else place
        where = underline(tokens.text, place.start, last.end)
        raise StatementError("LP401", "this is not an assignment", where=where, why="it has no column = expression", fix=_FIX)
    return Assignment(_name(tokens, start, equals), tokens.uncommented(equals + 1, end), tokens.source(start, end))


def _name(tokens: Tokens, first: int, last: int) -> tuple[str, ...]:
    path = tokens.path(first, last)
    if path is None:
        where = tokens.source(first, last) if last > first else tokens.text
        raise StatementError("LP401", "this is not a column to assign to", where=where, fix=_FIX)
    return path


def _tokens(text: str) -> Tokens:
    try:
        return tokenize(text)
    except PredicateError as error:
        raise StatementError("LP401", "the SET does not parse", where=error.where, why=error.why, fix=_FIX) from error
