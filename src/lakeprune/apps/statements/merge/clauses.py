"""The WHEN clauses of a MERGE as values: which rows, on which condition, what becomes of them.

In: the text behind a flag (`all`, `a = s.a`, `AND s.op = 'u' THEN all`) or a mapping. Out: `MergeClause`s whose conditions and
expressions are passed on one by one. The target is called `t`, the source `s`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


KINDS = {  # by the name of the option; the flag has dashes
    "when_matched_update": (Rows.MATCHED, Action.UPDATE),
    "when_matched_delete": (Rows.MATCHED, Action.DELETE),
    "when_not_matched_insert": (Rows.SOURCE_ONLY, Action.INSERT),
    "when_not_matched_by_source_update": (Rows.TARGET_ONLY, Action.UPDATE),
    "when_not_matched_by_source_delete": (Rows.TARGET_ONLY, Action.DELETE),
}


class MergeClause(Struct, frozen=True):
    """`assignments` are None for `all`; a DELETE has none. `condition` is None when every such row is meant."""

    rows: Rows
    action: Action
    condition: str | None
    assignments: tuple[Assignment, ...] | None

    @property
    def text(self) -> str:
        """The clause as SQL writes it.

        >>> clause_of("when_matched_update", "AND s.op = 'u' THEN a = s.a").text
        "WHEN MATCHED AND s.op = 'u' THEN UPDATE SET a = s.a"
        """
        condition = "" if self.condition is None else f" AND {self.condition}"
        return f"WHEN {self.rows.value.upper()}{condition} THEN {self._action()}"

    def _action(self) -> str:
        if self.action is Action.DELETE:
            return "DELETE"
        if self.assignments is None:
            return "UPDATE SET *" if self.action is Action.UPDATE else "INSERT *"
        if self.action is Action.UPDATE:
            return f"UPDATE SET {', '.join(f'{a.target} = {a.expression}' for a in self.assignments)}"
        columns, values = (a.target for a in self.assignments), (a.expression for a in self.assignments)
        return f"INSERT ({', '.join(columns)}) VALUES ({', '.join(values)})"


def clauses_of(given: Sequence[tuple[str, Any]]) -> tuple[MergeClause, ...]:
    """The clauses, in order, of options by name; an option that is a list stands for several clauses."""
    found = []
    for name, value in given:
        if name not in KINDS:
            raise UsageError("LP256", f"{name!r} is not a clause of MERGE", fix=f"the clauses are {', '.join(KINDS)}")
        found += [clause_of(name, one) for one in (value if isinstance(value, list | tuple) else [value])]
    if not found:
        raise UsageError("LP256", "a MERGE without a WHEN clause does nothing", fix="add --when-matched-update all, for example")
    return tuple(found)


def clause_of(name: str, given: Any) -> MergeClause:
    """One clause, by the name of its option.

    >>> clause_of("when_matched_delete", "AND t.a > 1 -- old").condition
    't.a > 1'
    """
    rows, action = KINDS[name]
    if isinstance(given, Mapping) and action is not Action.DELETE:
        return MergeClause(rows, action, None, assignments_of(given))
    if given is True and action is Action.DELETE:
        return MergeClause(rows, action, None, ())
    if not isinstance(given, str):
        raise UsageError("LP256", f"{name} is {given!r}", fix=_FIX)
    condition, rest = _split(name, given)
    if action is Action.DELETE:
        return MergeClause(rows, action, condition, ())
    if rest.strip().lower() not in _ALL:
        return MergeClause(rows, action, condition, assignments_of(rest))
    if rows is Rows.TARGET_ONLY:
        why = "a row that the source does not have cannot be set from it"
        raise StatementError("LP441", "`all` cannot set rows without a source row", why=why, fix="name the columns: a = 0")
    return MergeClause(rows, action, condition, None)


def _split(name: str, text: str) -> tuple[str | None, str]:
    """The condition, and what stands behind THEN, which a DELETE does not have."""
    is_delete = KINDS[name][1] is Action.DELETE
    what, fix = f"--{name.replace('_', '-')} does not parse", "write it like  AND s.op = 'd'" if is_delete else _FIX
    try:
        tokens = tokenize(text)
    except PredicateError as error:
        raise StatementError("LP440", what, where=error.where, why=error.why, fix=_FIX) from error
    count = len(tokens.items)
    if tokens.key(0) != "and" and (count == 0) == is_delete:
        return None, tokens.uncommented()
    then = count if is_delete else _then(tokens)
    if tokens.key(0) != "and" or then is None or then == 1 or then + 1 == count:
        raise StatementError("LP440", what, where=text, fix=fix)
    return tokens.uncommented(1, then), tokens.uncommented(then + 1, count)


def _then(tokens: Tokens) -> int | None:
    """Where THEN stands outside brackets and outside CASE."""
    for index, token in enumerate(tokens.items):
        if token.kind == "word" and token.key == "then" and tokens.depth[index] == 0 and tokens.key(index - 1) != ".":
            return index
    return None
