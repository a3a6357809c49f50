"""One comparison of a predicate, read by sqlglot (dialect spark) and turned into the predicate tree.

In: the tokens of one term. Out: tree nodes, or Opaque with a reason for anything not understood. sqlglot is asked for syntax
only: its rewriting of functions is switched off, because `date_format`, `unix_timestamp` and others would lose their meaning. It
gets one line of SQL: comments gone, strings in one canonical quoting (it reads quotes in quotes and raw strings otherwise than
Spark), keywords that can only be column names back-ticked.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, ClassVar

from msgspec import Struct
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser

from lakeprune.errors import PredicateError
from lakeprune.predicate.clock import Clock
from lakeprune.predicate.read.sql.functions import Unsupported
from lakeprune.predicate.read.sql.literals import plain_list, unquote
from lakeprune.predicate.read.sql.nodes import Converter, names_in
from lakeprune.predicate.read.sql.spans import syntax_error, underline
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens, check_term_nesting
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.tree import Expr, In, Name, Not, Opaque
from lakeprune.values.literals import format_value, quote

MAX_OPAQUE = 1000  # characters of an opaque term that are kept to be shown
_DIALECT = Spark()
_KEPT_PARSERS = ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "SUBSTR", "TRIM")
# Words that Spark takes as a column name but sqlglot does not: they begin statements or clauses, which no term contains.
_NAMES = frozenset({
    "alter", "call", "create", "cross", "describe", "drop", "except", "execute", "explain", "fetch", "glob", "grant",
    "having", "inner", "insert", "intersect", "into", "join", "lateral", "minus", "notnull", "on", "optimize", "outer",
    "prepare", "qualify", "rename", "returning", "revoke", "rollback", "select", "serdeproperties", "show",
    "tablesample", "uncache", "union", "using", "vacuum", "values", "where", "with", "xor", "limit"
})  # fmt: skip
# Words that are part of the grammar unless a comparison follows at once.
_NAMES_BEFORE_COMPARISON = frozenset({
    "from", "for", "all", "distinct", "as", "case", "not", "then", "else", "when", "like", "between", "rlike", "ilike",
    "regexp", "in",
})  # fmt: skip


class _TermParser(SparkParser):
    """Spark's grammar with every function left as it is written."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {k: v for k, v in SparkParser.FUNCTION_PARSERS.items() if k in _KEPT_PARSERS}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


def read_term(tokens: Tokens, first: int, last: int, clock: Clock) -> Expr:
    """The node of tokens first..last-1."""
    check_term_nesting(tokens, first, last)
    path = _variant_path(tokens, first, last)
    if path is not None:
        return path
    if tokens.items[last - 1].kind == "list" and tokens.key(last - 2) == "in" and last - 2 > first:
        return _membership(tokens, first, last, clock)
    return _convert(tokens, first, last, clock)


def _membership(tokens: Tokens, first: int, last: int, clock: Clock) -> Expr:
    """`value [NOT] IN (many plain literals)`, with the list read directly."""
    negated = tokens.key(last - 3) == "not" and last - 3 > first
    value = _convert(tokens, first, last - (3 if negated else 2), clock)
    if isinstance(value, Opaque):
        return Opaque(tokens.source(first, last)[:MAX_OPAQUE], value.reason, value.columns, tokens.uncommented(first, last))
    listed = tokens.items[last - 1]
    options = plain_list(tokens.text[listed.start : listed.end])
    member = In(value, options)
    return Not(member) if negated else member


def _variant_path(tokens: Tokens, first: int, last: int) -> Opaque | None:
    """`column:path` (semi-structured access, which sqlglot's Spark does not read) as Opaque; None for any other term."""
    for index in range(first + 1, last - 1):
        before, after = tokens.items[index - 1], tokens.items[index + 1]
        if tokens.key(index) == ":" and before.kind in ("word", "name") and after.kind in ("word", "name", "string"):
            reason = Reason(ReasonCode.NO_ORDERED_STATISTICS, "a path inside a variant")
            name = tokens.text[before.start : before.end].strip("`")
            return Opaque(tokens.source(first, last)[:MAX_OPAQUE], reason, (Name((name,), before.start, before.end),))
    return None


def _convert(tokens: Tokens, first: int, last: int, clock: Clock) -> Expr:
    written = rewrite(tokens, first, last)
    start, end = tokens.items[first].start, tokens.items[last - 1].end
    node = _parse(tokens.text, written, (start, end))
    try:
        return Converter(written, clock).expression(node)
    except Unsupported as unsupported:
        reason = Reason(unsupported.code, str(unsupported))
        return Opaque(tokens.source(first, last)[:MAX_OPAQUE], reason, names_in(node, written), tokens.uncommented(first, last))
    except PredicateError as error:
        error.where = error.where or underline(tokens.text, start, end)
        raise
    except RecursionError as error:
        raise syntax_error(tokens.text, start, end, "this is nested too deep") from error


def _parse(text: str, written: Rewritten, span: tuple[int, int]) -> exp.Expr:
    try:
        parsed = _TermParser(dialect=_DIALECT).parse_into(exp.Condition, _DIALECT.tokenize(written.sql), written.sql)
    except ParseError as error:
        raise _located(text, written, error) from error
    except (TokenError, RecursionError) as error:
        raise syntax_error(text, *span, "this is not SQL that Spark reads") from error
    node = parsed[0] if len(parsed) == 1 else None
    if not isinstance(node, exp.Expr):
        raise syntax_error(text, *span, "this is not a predicate")
    return node


def _located(text: str, written: Rewritten, error: ParseError) -> PredicateError:
    """LP101 at the place in the user's text where sqlglot stopped."""
    at = error.errors[0] if error.errors else {}
    near = str(at.get("highlight") or "")
    shown = near.strip("`")
    column = at.get("col")
    if not near or not isinstance(column, int):
        return syntax_error(text, written.origin(0), written.origin(len(written.sql)), "this is not SQL that Spark reads")
    start = max(0, column - len(near))
    incomplete = str(at.get("description", "")).startswith(("Required", "Expect"))
    why = f"something is missing or misplaced near `{shown}`" if incomplete else f"`{shown}` was not expected here"
    return syntax_error(text, written.origin(start), written.origin(start + len(near) - 1) + 1, why)


class Rewritten(Struct, frozen=True):
    """`starts[i]` in `sql` is where the token at `origins[i]` of the user's text begins."""

    sql: str
    starts: tuple[int, ...]
    origins: tuple[tuple[int, int], ...]

    def origin(self, offset: int) -> int:
        """The user's offset for an offset into `sql`."""
        index = max(0, bisect_right(self.starts, offset) - 1)
        begin, end = self.origins[index]
        return min(begin + offset - self.starts[index], max(begin, end - 1))


def rewrite(tokens: Tokens, first: int, last: int) -> Rewritten:
    """Tokens first..last-1 for sqlglot."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []
    length = 0
    previous_end = -1
    for index in range(first, last):
        token = tokens.items[index]
        if index > first and token.start > previous_end:
            pieces.append(" ")
            length += 1
        piece = _piece(tokens, index)
        if token.kind == "string" and index > first and tokens.items[index - 1].kind == "string":
            piece = ""  # adjacent strings are one literal, already written with the first
        starts.append(length)
        origins.append((token.start, token.end))
        pieces.append(piece)
        length += len(piece)
        previous_end = token.end
    return Rewritten("".join(pieces), tuple(starts), tuple(origins))


def _piece(tokens: Tokens, index: int) -> str:
    token = tokens.items[index]
    written = tokens.text[token.start : token.end]
    follows = tokens.key(index + 1)
    match token.kind:
        case "string":
            return _string(tokens, index)
        case "word" if token.key == "where" and tokens.key(index - 2) == "filter":
            return written
        case "word" if tokens.is_between_call(index):
            return f"`{written}`"
        case "word" if token.key in _NAMES and follows != "(":
            return f"`{written}`"
        case "word" if token.key in _NAMES_BEFORE_COMPARISON and follows in COMPARISONS:
            return f"`{written}`"
        case "word" if written[0].isdigit() or tokens.key(index - 1) == ".":
            return f"`{written}`"
        case "list":
            return "(" + ", ".join(format_value(option.value, None) for option in plain_list(written)) + ")"
    return written


def _string(tokens: Tokens, index: int) -> str:
    """A string literal and the strings that follow it directly, which Spark joins."""
    value = ""
    while index < len(tokens.items) and tokens.items[index].kind == "string":
        token = tokens.items[index]
        value += unquote(tokens.text[token.start : token.end])
        index += 1
    return quote(value)
