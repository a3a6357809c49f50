"""The text of one term as sqlglot reads it best, with a way back to the user's offsets.

In: tokens. Out: one line of SQL: comments gone, strings in one canonical quoting (sqlglot reads `''` and raw strings otherwise
than Spark), keywords that can only be column names back-ticked.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from lakeprune.predicate.read.sql.literals import plain_list, unquote
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens
from lakeprune.values.literals import format_value, quote

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
    "regexp"
})  # fmt: skip


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
