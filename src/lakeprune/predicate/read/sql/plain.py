"""Terms so plain that no SQL parser is needed: a column against literals.

In: the tokens of one term. Out: the node, or None when it is anything else, which sqlglot then reads. Most predicates consist of
such terms only, and importing sqlglot would cost them more than everything else lakeprune does. A test holds both readers equal.
"""

from __future__ import annotations

from lakeprune.predicate.read.sql.literals import negated, number, plain_list, unquote
from lakeprune.predicate.read.sql.tokens import Tokens
from lakeprune.predicate.tree import And, Compare, Expr, In, IsNull, IsTruth, Like, Literal, Name, Not, Op
from lakeprune.values.literals import parse_as
from lakeprune.values.names import unquote_name
from lakeprune.values.types import BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ

_OPS = {**{op.value: op for op in Op}, "==": Op.EQ, "<>": Op.NE}
_WORDS = {"true": Literal(True, BOOLEAN), "false": Literal(False, BOOLEAN), "null": Literal(None, None)}
_TYPED = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ltz": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ}
_NOT_NAMES = frozenset({
    *_WORDS, "and", "between", "case", "current_date", "current_timestamp", "current_user", "distinct", "else", "end", "exists",
    "from", "in", "interval", "is", "like", "localtimestamp", "not", "or", "session_user", "then", "user", "when",
})  # fmt: skip


def read_plain(tokens: Tokens, first: int, last: int, zone: str) -> Expr | None:
    """`column op literal`, `literal op column`, IS [NOT] NULL | TRUE | FALSE, [NOT] IN, BETWEEN and LIKE of literals."""
    reader = _Reader(tokens, first, last, zone)
    try:
        found = reader.term()
    except ValueError:
        return None  # a typed literal that is none: the full parser says what is wrong with it
    return found if reader.at == last else None


class _Reader:
    def __init__(self, tokens: Tokens, first: int, last: int, zone: str) -> None:
        self._tokens = tokens
        self._last = last
        self._zone = zone
        self.at = first

    def term(self) -> Expr | None:
        literal = self._literal()
        if literal is not None:
            op = _OPS.get(self._next())
            name = None if op is None else self._name()
            return None if op is None or name is None else Compare(op, literal, name)
        name = self._name()
        if name is None:
            return None
        if self.at == self._last:
            return name
        key = self._next()
        if key in _OPS:
            right = self._literal()
            return None if right is None else Compare(_OPS[key], name, right)
        if key == "is":
            return self._is(name)
        is_negated = key == "not"
        found = self._test(name, self._next() if is_negated else key)
        return Not(found) if found is not None and is_negated else found

    def _next(self) -> str:
        self.at += 1
        return self._tokens.key(self.at - 1) if self.at <= self._last else ""

    def _peek(self) -> str:
        return self._tokens.key(self.at) if self.at < self._last else ""

    def _is(self, name: Name) -> Expr | None:
        key = self._next()
        is_negated = key == "not"
        key = self._next() if is_negated else key
        if key not in ("null", "true", "false"):
            return None
        found: Expr = IsNull(name) if key == "null" else IsTruth(name, key == "true")
        return Not(found) if is_negated else found

    def _test(self, name: Name, key: str) -> Expr | None:
        if key == "in":
            options = self._options()
            return None if options is None else In(name, options)
        if key not in ("between", "like"):
            return None
        low = self._literal()
        if low is None:
            return None
        if key == "like":
            return Like(name, low) if isinstance(low.value, str) and low.type is None else None
        if self._next() != "and":
            return None
        high = self._literal()
        return None if high is None else And((Compare(Op.GE, name, low), Compare(Op.LE, name, high)))

    def _options(self) -> tuple[Expr, ...] | None:
        if self.at < self._last and self._tokens.items[self.at].kind == "list":
            listed = self._tokens.items[self.at]
            self.at += 1
            return plain_list(self._tokens.text[listed.start : listed.end])
        if self._next() != "(":
            return None
        options: list[Expr] = []
        while (literal := self._literal()) is not None:
            options.append(literal)
            key = self._next()
            if key == ")":
                return tuple(options)
            if key != ",":
                return None
        return None

    def _name(self) -> Name | None:
        parts: list[str] = []
        start = self.at
        while self.at < self._last:
            token = self._tokens.items[self.at]
            if token.kind == "name":
                parts.append(unquote_name(self._tokens.text[token.start : token.end]))
            elif token.kind == "word" and (parts or token.key not in _NOT_NAMES):
                parts.append(self._tokens.text[token.start : token.end])
            else:
                return None
            self.at += 1
            if self._peek() != ".":
                return Name(tuple(parts), self._tokens.items[start].start, token.end)
            self.at += 1
        return None

    def _literal(self) -> Literal | None:
        """The literal at this place, which is then behind us; None when there is none."""
        if self.at >= self._last:
            return None
        token = self._tokens.items[self.at]
        if token.kind == "string":
            return Literal(self._string(), None)
        if token.kind == "number":
            self.at += 1
            return number(token.key)
        follows = self._tokens.items[self.at + 1].kind if self.at + 1 < self._last else ""
        if token.key == "-" and follows == "number":
            self.at += 2
            return negated(number(self._tokens.key(self.at - 1)))
        if token.kind == "word" and token.key in _WORDS and follows != "string":
            self.at += 1
            return _WORDS[token.key]
        if token.kind == "word" and token.key in _TYPED and follows == "string":
            self.at += 1
            type_ = _TYPED[token.key]
            return Literal(parse_as(self._string(), type_, self._zone), type_)
        return None

    def _string(self) -> str:
        """One string literal and those directly behind it, which Spark joins."""
        value = ""
        while self.at < self._last and self._tokens.items[self.at].kind == "string":
            value += unquote(self._tokens.key(self.at))
            self.at += 1
        return value
