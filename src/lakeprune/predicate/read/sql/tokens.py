"""Spark SQL text as tokens, with every limit on hostile text enforced here.

In: the predicate text. Out: `Token`s with offsets, brackets and CASE ... END already paired. One pass over the text by one
regular expression; a long list of plain literals is a single token, so that 100,000 of them cost nothing to nest or to scan.
Whatever follows may recurse, because no text leaves here nested deeper than `MAX_NESTING`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error, underline
from lakeprune.values.names import unquote_name

MAX_TEXT = 32 * 1024 * 1024  # characters
MAX_NESTING = 200  # brackets and CASE around any one place of the predicate
MAX_TERM_NESTING = 24  # of them inside one comparison, which the recursive parser has to walk

MAX_DIGITS = 400  # of one number; Spark itself stops at 38, and at 309 before the point of a double

COMPARISONS = frozenset({"=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>"})
_TYPOGRAPHIC = "\u2018\u2019\u201a\u201c\u201d\u201e\u00b4"
_TYPOGRAPHIC_MARKS = str.maketrans(dict.fromkeys(_TYPOGRAPHIC, "'"))
_CLOSING = {"(": ")", "[": "]", "{": "}"}
MARKS = frozenset("{[$?:@%")  # of templates and of lists in brackets
_PREFIXES = frozenset({"-", "+", "~", "!"})

_ITEM = r"(?:'[^'\\]*+'(?!\s*+['\"])|[-+]?[0-9]{1,100}+(?:\.[0-9]{1,100}+)?(?![\w.])|(?i:null)(?!\w))"
_RAW = r"[rR]'[^']*+'|[rR]\"[^\"]*+\""  # in which a backslash escapes nothing, the quote neither
_STRING = rf"{_RAW}|'(?:[^'\\]++|\\.|'')*+'|\"(?:[^\"\\]++|\\.|\"\")*+\""
_NAME = r"`(?:[^`]++|``)++`"
QUOTED = f"{_STRING}|{_NAME}"  # text in which no word means anything; needs re.DOTALL
_TOKEN = re.compile(
    r"(?P<space>\s++|--(?:\\\n|[^\r\n])*+)"  # a backslash carries a comment over the end of its line
    r"|(?P<comment>/\*)"
    rf"|(?P<string>{_STRING})"
    rf"|(?P<name>{_NAME})"
    r"|(?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?(?:[lLsSyYdDfF]|[bB][dD])?(?![\w]))"
    r"|(?P<word>\w++)"
    r"|(?P<symbol><=>|<>|!=|<=|>=|==|\|\||->|=>|::|<<|>>|/(?!\*)|[-+*%=<>!(){}\[\],.;:&|^~?@$])",
    re.DOTALL,
)
_COMMENT_ENDS = re.compile(r"/\*|\*/")
# Words after which a value begins: `between (` is a call there, and the operator elsewhere.
BEFORE_VALUES = frozenset({
    "and", "or", "not", "case", "when", "then", "else", "in", "like", "rlike", "ilike", "regexp", "between", "div", "is", "escape"
})  # fmt: skip
_LIST = re.compile(rf"\s*+\(\s*+(?:{_ITEM}\s*+,\s*+){{8,}}+{_ITEM}\s*+\)")
LIST_ITEM = re.compile(_ITEM)


class Token(Struct, frozen=True):
    """`kind` is string, name (back-ticked), number, list, word or symbol; `key` the word in lower case or the symbol."""

    kind: str
    key: str
    start: int
    end: int


class Tokens(Struct, frozen=True):
    """`partner[i]` is the index of the bracket (or CASE, END) that belongs to token i; `depth[i]` how deep it lies."""

    text: str
    items: tuple[Token, ...]
    partner: dict[int, int]
    depth: tuple[int, ...]

    def source(self, first: int, last: int) -> str:
        """Tokens first..last-1 as the user wrote them."""
        return self.text[self.items[first].start : self.items[last - 1].end]

    def uncommented(self, first: int = 0, last: int | None = None) -> str:
        """The same without comments, which other parsers may end elsewhere; of all tokens when no range is given."""
        pieces = []
        last = len(self.items) if last is None else last
        for index in range(first, last):
            token = self.items[index]
            pieces.append(self.text[token.start : token.end])
            if index + 1 < last and self.items[index + 1].start > token.end:
                pieces.append(" ")
        return "".join(pieces)

    def key(self, index: int) -> str:
        return self.items[index].key if 0 <= index < len(self.items) else ""

    def is_between_call(self, index: int) -> bool:
        """`between(x, 1, 2)`, and not the operator, which stands behind a value."""
        if self.key(index) != "between" or self.items[index].kind != "word" or self.key(index + 1) != "(":
            return False
        before = index - 2 if self.key(index - 1) in ("not", "!") else index - 1
        if before < 0:
            return True
        token = self.items[before]
        ends_value = token.kind != "symbol" and token.key not in BEFORE_VALUES
        return not ends_value and token.key not in (")", "]")

    def name(self, index: int) -> str | None:
        """A word or a name without its back-ticks; None for any other token."""
        token = self.items[index]
        written = self.text[token.start : token.end]
        return unquote_name(written) if token.kind == "name" else written if token.kind == "word" else None

    def path(self, first: int, last: int) -> tuple[str, ...] | None:
        """The names of a bare column, `a` or `` `a b`.c ``; None for any other expression."""
        names = [self.name(index) for index in range(first, last, 2)]
        has_dots = all(self.key(index) == "." for index in range(first + 1, last, 2))
        found = tuple(name for name in names if name is not None)
        return found if has_dots and len(found) == len(names) and (last - first) % 2 == 1 else None


def tokenize(text: str) -> Tokens:
    """The tokens of `text`, or LP101 at the first character that cannot be part of a predicate.

    >>> [t.key for t in tokenize("a.`b` >= 1 -- comment").items]
    ['a', '.', '`b`', '>=', '1']
    """
    if len(text) > MAX_TEXT:
        raise PredicateError(
            "LP101",
            f"the predicate is {len(text):,} characters long",
            why=f"the limit is {MAX_TEXT:,} characters",
            fix="split it, or join against a table of values",
        )
    items = _drop_final_semicolon(_scan(text))
    partner, depth = _pair(text, items)
    return Tokens(text, tuple(items), partner, depth)


def _scan(text: str) -> list[Token]:
    items: list[Token] = []
    position = 0
    while position < len(text):
        if items and items[-1].key == "in" and (match := _LIST.match(text, position)):
            items.append(Token("list", "(...)", text.index("(", position), match.end()))
            position = match.end()
            continue
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise _bad_character(text, position)
        position = _comment_end(text, found.start()) if found.lastgroup == "comment" else found.end()
        if found.lastgroup not in ("space", "comment"):
            items.append(_token(text, found.lastgroup, found.start(), found.end()))
    return items


def _comment_end(text: str, start: int) -> int:
    """Behind the bracketed comment that opens there; others may lie inside it."""
    depth = 0
    for found in _COMMENT_ENDS.finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    raise _bad_character(text, start)


def _token(text: str, kind: str, start: int, end: int) -> Token:
    written = text[start:end]
    if kind == "number" and end - start > MAX_DIGITS:
        raise syntax_error(text, start, end, f"a number may have at most {MAX_DIGITS} digits")
    if kind in ("string", "name") and any("\ud800" <= c <= "\udfff" for c in written):
        raise syntax_error(text, start, end, "this text is not valid Unicode")
    return Token(kind, written.lower() if kind == "word" else written, start, end)


def _bad_character(text: str, position: int) -> PredicateError:
    character = text[position]
    if character in "'\"`":
        why = "the quote that opens here is never closed"
        fix = _plain_quotes(text) if any(letter in text for letter in _TYPOGRAPHIC) else None
        return syntax_error(text, position, position + 1, why, fix=fix)
    if text.startswith("/*", position):
        return syntax_error(text, position, position + 2, "the comment that opens here is never closed")
    if character in _TYPOGRAPHIC:
        return syntax_error(text, position, position + 1, "this is a typographic quote", fix=_plain_quotes(text))
    return syntax_error(text, position, position + 1, f"the character U+{ord(character):04X} cannot stand here")


def _plain_quotes(text: str) -> str | None:
    return f"write: {text.translate(_TYPOGRAPHIC_MARKS)}" if len(text) <= MAX_REPEATED else None


def _drop_final_semicolon(items: list[Token]) -> list[Token]:
    while items and items[-1].key == ";":
        items = items[:-1]
    return items


def _pair(text: str, items: list[Token]) -> tuple[dict[int, int], tuple[int, ...]]:
    partner: dict[int, int] = {}
    depth: list[int] = []
    open_: list[int] = []
    for index, token in enumerate(items):
        depth.append(len(open_))
        if token.key in _CLOSING or _opens_case(items, index):
            open_.append(index)
            if len(open_) > MAX_NESTING:
                raise _too_deep(text, token, MAX_NESTING)
        elif token.key in ")]}" or (token.key == "end" and open_ and items[open_[-1]].key == "case"):
            if not open_ or _CLOSING.get(items[open_[-1]].key, "end") != token.key:
                fix = (
                    f"write: {text[: token.start]}{text[token.end :]}" if token.key == ")" and len(text) <= MAX_REPEATED else None
                )
                raise syntax_error(text, token.start, token.end, f"`{token.key}` closes nothing", fix=fix)
            if items[index - 1].key == ",":
                raise syntax_error(text, token.start, token.end, "something is missing after the comma")
            partner[open_[-1]] = index
            partner[index] = open_.pop()
            depth[index] = len(open_)
        elif token.key == ";":
            raise syntax_error(text, token.start, token.end, "nothing can follow a semicolon")
    if open_:
        token = items[open_[-1]]
        fix = f"write: {text.rstrip()})" if token.key == "(" and len(text) <= MAX_REPEATED else None
        raise syntax_error(text, token.start, token.end, f"`{text[token.start : token.end]}` is never closed", fix=fix)
    return partner, tuple(depth)


def _opens_case(items: list[Token], index: int) -> bool:
    """CASE is a word of its own only where a column of that name cannot stand (`case = 1`, `a.case`)."""
    if items[index].key != "case":
        return False
    follows = items[index + 1].key if index + 1 < len(items) else ""
    return follows not in COMPARISONS and not (index and items[index - 1].key == ".") and follows not in ("", ".", ")")


def check_term_nesting(tokens: Tokens, first: int, last: int) -> None:
    """LP101 when one comparison is nested deeper than a recursive parser may go, unary operators included."""
    base = min(tokens.depth[first:last])
    run = 0
    for index in range(first, last):
        token = tokens.items[index]
        run = run + 1 if token.key in _PREFIXES or token.key == "not" else 0
        if tokens.depth[index] - base + run > MAX_TERM_NESTING:
            raise _too_deep(tokens.text, token, MAX_TERM_NESTING)


def _too_deep(text: str, token: Token, limit: int) -> PredicateError:
    where = underline(text, token.start, token.end)
    why = f"the limit is {limit} levels" + (" inside one comparison" if limit == MAX_TERM_NESTING else "")
    return PredicateError("LP101", "the predicate is nested too deep", where=where, why=why, fix="flatten it")
