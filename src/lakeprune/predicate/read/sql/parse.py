"""The SQL front-end: WHERE text as Spark users write it -> the predicate tree.

In: text and the session it is read in. Out: a `Condition`. Only text that does not parse (LP101), something that is not a
predicate (LP104) and subqueries, aggregates or windows (LP105) are errors; all else that is not understood is Opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.errors import PredicateError, UsageError
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.read.sql.logic import connect
from lakeprune.predicate.read.sql.plain import read_plain
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error, underline
from lakeprune.predicate.read.sql.tokens import MARKS, Tokens, tokenize
from lakeprune.predicate.tree import Constant, Expr, Literal, Profile

if TYPE_CHECKING:
    from lakeprune.predicate.clock import Clock

QUERY_INSTEAD = 'have Spark plan the whole query: lakeprune explain --engine spark --sql "SELECT ..."'


def read_condition(text: str, profile: Profile) -> Condition:
    """The predicate of a text; names are as written, literals have no column's type yet.

    >>> read_condition("age > 40", Profile(now=0)).tree
    Compare(op=<Op.GT: '>'>, left=Name(parts=('age',), start=0, end=3), right=Literal(value=40, type=None))
    >>> [read_condition(text, Profile(now=0)).asks_clock for text in ("now > 'now()'", "now > now()")]
    [False, True]
    """
    if not isinstance(text, str):
        raise UsageError("LP218", f"the predicate is of type {type(text).__name__}", fix="give an SQL condition as text")
    try:
        return _read(text, profile)
    except PredicateError as error:
        if len(text) > MAX_REPEATED:
            raise
        from lakeprune.predicate.read.sql.repair import followed

        raise followed(error, text, lambda mended: _read(mended, profile)) from error


def _read(text: str, profile: Profile) -> Condition:
    tokens = tokenize(text)
    clock: Clock | None = None

    def term(first: int, last: int) -> Expr:
        nonlocal clock
        found = read_plain(tokens, first, last, profile.zone)
        if found is None:
            from lakeprune.predicate.clock import Clock
            from lakeprune.predicate.read.sql.slips import reject_slips
            from lakeprune.predicate.read.sql.terms import read_term

            clock = clock or Clock(profile)
            _reject_other_rows(tokens, first, last)
            reject_slips(tokens, first, last)
            found = read_term(tokens, first, last, clock)
        return _as_predicate(found, tokens, first, last)

    if "{" in text or any(token.key in MARKS for token in tokens.items):
        from lakeprune.predicate.read.sql.hints import reject_unreadable

        reject_unreadable(tokens)
    try:
        tree = connect(tokens, 0, len(tokens.items), term)
    except PredicateError as error:
        if len(text) > MAX_REPEATED:
            raise
        from lakeprune.predicate.read.sql.hints import hinted
        from lakeprune.predicate.read.sql.repair import is_mended

        found = hinted(error, tokens)
        if error.code == "LP105":  # of a query its condition may do, where other rows are needed elsewhere
            found = syntax_error(text, 0, tokens.items[0].end, found.why or "", fix=found.fix)
            found = found if is_mended(found, lambda mended: _read(mended, profile)) else error
        raise found from error
    return Condition(text, tree, clock is not None and clock.was_asked)


def parse_predicate(text: str, profile: Profile) -> Expr:
    """The tree of `read_condition`, for callers that need nothing else of it."""
    return read_condition(text, profile).tree


def _as_predicate(expr: Expr, tokens: Tokens, first: int, last: int) -> Expr:
    if not isinstance(expr, Literal):
        return expr
    if expr.value is None or isinstance(expr.value, bool):
        return Constant(expr.value)
    where = underline(tokens.text, tokens.items[first].start, tokens.items[last - 1].end)
    raise PredicateError("LP104", "this is a value, not a predicate", where=where, fix="compare it with something")


def _reject_other_rows(tokens: Tokens, first: int, last: int) -> None:
    """LP105 for what cannot be decided row by row: subqueries and aggregates."""
    from lakeprune.predicate.read.sql.functions import AGGREGATES, GENERATORS, WINDOW_FUNCTIONS

    for index in range(first, last):
        key, before = tokens.key(index), tokens.key(index - 1)
        if tokens.items[index].kind != "word" or before == ".":
            continue
        if key in ("select", "with") and before == "(" and not _is_name(tokens, index, last):
            raise _needs_other_rows(tokens, index, "a subquery")
        if key in AGGREGATES and tokens.key(index + 1) == "(" and before not in ("like", "ilike"):
            kind = "window function" if key in WINDOW_FUNCTIONS else "aggregate"
            raise _needs_other_rows(tokens, index, f"the {kind} {key}()")
        if key in GENERATORS and tokens.key(index + 1) == "(":
            where = underline(tokens.text, tokens.items[index].start, tokens.items[index].end)
            what, why = f"the generator {key}() cannot be part of a predicate", "it makes several rows of one"
            raise PredicateError("LP105", what, where=where, why=why, fix="ask the array: array_contains, exists")


def _is_name(tokens: Tokens, index: int, last: int) -> bool:
    """Whether a word that can begin a subquery is a column here: an operator follows that no query begins with."""
    follows = tokens.items[index + 1] if index + 1 < last else None
    return follows is not None and follows.kind == "symbol" and follows.key not in ("*", "(", "-", "+")


def _needs_other_rows(tokens: Tokens, index: int, what: str) -> PredicateError:
    where = underline(tokens.text, tokens.items[index].start, tokens.items[index].end)
    fix = QUERY_INSTEAD if what == "a subquery" else None
    return PredicateError(
        "LP105", f"{what} cannot be part of a predicate", where=where, why="it needs other rows to be read", fix=fix
    )
