"""The WHEN clauses of a MERGE as values: which rows, on which condition, what becomes of them.

In: the text behind a flag (`all`, `a = s.a`, `AND s.op = 'u' THEN all`) or a mapping. Out: `MergeClause`s whose conditions and
expressions are passed on one by one. The target is called `t`, the source `s`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from lakeprune.apps.statements.assignments import Assignment, assignments_of
from lakeprune.errors import PredicateError, StatementError, UsageError
from lakeprune.predicate.read.sql.tokens import Tokens, tokenize

_FIX = "write it like  all   or  a = s.a, b = t.b + 1   or  AND s.op = 'u' THEN all"
_ALL = frozenset({"all", "*"})


class Rows(Enum):
    """Which rows a clause is about."""

    MATCHED = "matched"
    SOURCE_ONLY = "not matched"
    TARGET_ONLY = "not matched by source"


class Action(Enum):
    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


class ClauseKind(Enum):
    """The value is the name of the option; the flag has dashes."""

    MATCHED_UPDATE = "when_matched_update"
    MATCHED_DELETE = "when_matched_delete"
    INSERT = "when_not_matched_insert"
    BY_SOURCE_UPDATE = "when_not_matched_by_source_update"
    BY_SOURCE_DELETE = "when_not_matched_by_source_delete"

    @property
    def rows(self) -> Rows:
        if self in (ClauseKind.MATCHED_UPDATE, ClauseKind.MATCHED_DELETE):
            return Rows.MATCHED
        return Rows.SOURCE_ONLY if self is ClauseKind.INSERT else Rows.TARGET_ONLY

    @property
    def action(self) -> Action:
        return Action(self.value.rsplit("_", 1)[1])


_KINDS = {kind.value: kind for kind in ClauseKind}


class MergeClause(Struct, frozen=True):
    """`assignments` are None for `all`; a DELETE has none. `condition` is None when every such row is meant."""

    kind: ClauseKind
    condition: str | None
    assignments: tuple[Assignment, ...] | None

    @property
    def text(self) -> str:
        """The clause as SQL writes it.

        >>> clause_of(ClauseKind.MATCHED_UPDATE, "AND s.op = 'u' THEN a = s.a").text
        "WHEN MATCHED AND s.op = 'u' THEN UPDATE SET a = s.a"
        """
        when = f"WHEN {self.kind.rows.value.upper()}"
        condition = "" if self.condition is None else f" AND {self.condition}"
        return f"{when}{condition} THEN {self._action()}"

    def _action(self) -> str:
        action = self.kind.action
        if action is Action.DELETE:
            return "DELETE"
        if self.assignments is None:
            return "UPDATE SET *" if action is Action.UPDATE else "INSERT *"
        if action is Action.UPDATE:
            return f"UPDATE SET {', '.join(f'{a.target} = {a.expression}' for a in self.assignments)}"
        columns, values = (a.target for a in self.assignments), (a.expression for a in self.assignments)
        return f"INSERT ({', '.join(columns)}) VALUES ({', '.join(values)})"


def clauses_of(given: Sequence[tuple[str, Any]]) -> tuple[MergeClause, ...]:
    """The clauses, in order, of options by name; an option that is a list stands for several clauses."""
    found = []
    for name, value in given:
        kind = _KINDS.get(name)
        if kind is None:
            raise UsageError("LP256", f"{name!r} is no clause of MERGE", fix=f"the clauses are {', '.join(_KINDS)}")
        found += [clause_of(kind, one) for one in (value if isinstance(value, list | tuple) else [value])]
    if not found:
        raise UsageError("LP256", "a MERGE without a WHEN clause does nothing", fix="add --when-matched-update all, for example")
    return tuple(found)


def clause_of(kind: ClauseKind, given: Any) -> MergeClause:
    """One clause.

    >>> clause_of(ClauseKind.MATCHED_DELETE, "AND t.a > 1 -- old").condition
    't.a > 1'
    """
    if isinstance(given, Mapping) and kind.action is not Action.DELETE:
        return MergeClause(kind, None, assignments_of(given))
    if given is True and kind.action is Action.DELETE:
        return MergeClause(kind, None, ())
    if not isinstance(given, str):
        raise UsageError("LP256", f"{kind.value} is {given!r}", fix=_FIX)
    condition, rest = _split(kind, _tokens(given, kind))
    if kind.action is Action.DELETE:
        return MergeClause(kind, condition, ())
    if not rest.strip():
        raise _no_clause(kind, given)
    if rest.strip().lower() not in _ALL:
        return MergeClause(kind, condition, assignments_of(rest))
    if kind is ClauseKind.BY_SOURCE_UPDATE:
        why = "a row that the source does not have cannot be set from it"
        raise StatementError("LP441", "`all` is no SET for rows without a source row", why=why, fix="name the columns: a = 0")
    return MergeClause(kind, condition, None)


def _split(kind: ClauseKind, tokens: Tokens) -> tuple[str | None, str]:
    """The condition, and what stands behind THEN."""
    count = len(tokens.items)
    if kind.action is Action.DELETE:
        if not count:
            return None, ""
        if tokens.key(0) != "and" or count == 1:
            raise _no_clause(kind, tokens.text)
        return tokens.uncommented(1, count), ""
    if tokens.key(0) != "and":
        return None, tokens.uncommented(0, count)
    then = next(_thens(tokens), None)
    if then is None or then == 1 or then + 1 == count:
        raise _no_clause(kind, tokens.text)
    return tokens.uncommented(1, then), tokens.uncommented(then + 1, count)


def _thens(tokens: Tokens) -> Iterator[int]:
    """Where THEN stands outside brackets and outside CASE."""
    for index in range(len(tokens.items)):
        token = tokens.items[index]
        if token.kind == "word" and token.key == "then" and tokens.depth[index] == 0 and tokens.key(index - 1) != ".":
            yield index


def _tokens(text: str, kind: ClauseKind) -> Tokens:
    try:
        return tokenize(text)
    except PredicateError as error:
        raise StatementError("LP440", f"{_flag(kind)} does not parse", where=error.where, why=error.why, fix=_FIX) from error


def _no_clause(kind: ClauseKind, text: str) -> StatementError:
    fix = "write it like  AND s.op = 'd'" if kind.action is Action.DELETE else _FIX
    return StatementError("LP440", f"{_flag(kind)} does not parse", where=text, fix=fix)


def _flag(kind: ClauseKind) -> str:
    return f"--{kind.value.replace('_', '-')}"
