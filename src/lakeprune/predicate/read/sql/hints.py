"""What was probably meant by text that Spark would not read: a why and a fix for it, most often the text as it should be.

In: the tokens of a predicate. Out: an error for what is never meant (a template without its values, a list in brackets), or a
better error for text that has already failed. Nothing else that parses comes here, so a hint refuses nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error, underline
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens

Edit = tuple[int, int, str]  # from, to, what stands there instead
Hint = tuple[str, str]  # why, fix
_OPERATORS = {("&", "&"): "AND", ("=", "<"): "<=", ("!", "~"): "NOT RLIKE", ("~", "*"): "RLIKE"}
_AFTER_WHERE = frozenset({"order", "group", "sort", "cluster", "distribute", "limit", "offset", "having", "window", "qualify"})
_AFTER_NAME = frozenset({"in", "not", "is", "like", "ilike", "rlike", "regexp", "between"})
_TEMPLATE = re.compile(r"""(['"])(\{\{[^'"]*\}\}|\$\{[^}'"]*\})\1""")  # a text that is nothing but a placeholder
_GRAMMAR = frozenset({
    "and", "or", "not", "in", "is", "like", "ilike", "rlike", "regexp", "between", "null", "true", "false", "case", "when",
    "then", "else", "end", "escape", "interval", "from", "distinct", "date", "timestamp", "div", "exists",
})  # fmt: skip


def reject_unreadable(tokens: Tokens) -> None:
    """LP110 for a placeholder that nobody filled in, LP101 for a list or a name in brackets: sqlglot would read them all."""
    for index, token in enumerate(tokens.items):
        if _is_placeholder(tokens, index):
            raise PredicateError(
                "LP110",
                "the predicate is a template: a placeholder has no value",
                where=underline(tokens.text, token.start, token.end),
                why="nothing filled in the placeholder before the predicate was given to lakeprune",
                fix="render the template first, or write the value in its place",
            )
        if token.key == "[" and tokens.key(index - 1) == "in" and index in tokens.partner:
            close = tokens.items[tokens.partner[index]]
            fixed = _edited(tokens.text, [(token.start, token.end, "("), (close.start, close.end, ")")])
            fix = f"write: {fixed}" if len(fixed) <= MAX_REPEATED else None
            raise syntax_error(tokens.text, token.start, close.end, "a list stands in parentheses", fix=fix)
        if token.key == "[" and index in tokens.partner and _begins_operand(tokens, index):
            close = tokens.items[tokens.partner[index]]
            why, fix = _bracketed(tokens, index)
            raise syntax_error(tokens.text, token.start, close.end, why, fix=fix)


def hinted(error: PredicateError, tokens: Tokens) -> PredicateError:
    """The same error, with what was probably meant."""
    for hint in _HINTS.get(error.code, ()):
        found = hint(tokens)
        if found is not None:
            why, fix = found
            return PredicateError(error.code, error.what, where=error.where, why=why or error.why, fix=fix)
    return error


def _is_placeholder(tokens: Tokens, index: int) -> bool:
    key, after = tokens.key(index), tokens.key(index + 1)
    if tokens.items[index].kind in ("string", "list"):
        matches = _TEMPLATE.fullmatch if tokens.items[index].kind == "string" else _TEMPLATE.search
        return matches(tokens.text[tokens.items[index].start : tokens.items[index].end]) is not None
    if key in ("{", "$"):
        return after == "{"
    if key == "?":
        return True
    if key != ":" or index + 1 == len(tokens.items) or tokens.items[index + 1].kind != "word":
        return False
    return _begins_operand(tokens, index)  # `column:path` goes into a variant


def _begins_operand(tokens: Tokens, index: int) -> bool:
    """Whether what stands there is not an index into what stands before it."""
    before = tokens.key(index - 1)
    return index == 0 or before in _GRAMMAR or (tokens.items[index - 1].kind == "symbol" and before not in (")", "]"))


def _bracketed(tokens: Tokens, index: int) -> Hint:
    open_, close = tokens.items[index], tokens.items[tokens.partner[index]]
    edit = (open_.start, close.end, f"`{tokens.text[open_.end : close.start].strip()}`")
    return "a name that is not a plain word stands in back-ticks", f"write: {_edited(tokens.text, [edit])}"


def _edited(text: str, edits: list[Edit]) -> str:
    for start, end, put in sorted(edits, reverse=True):
        text = text[:start] + put + text[end:]
    return text.strip()


def _query(tokens: Tokens) -> Hint | None:
    """SELECT ..., WHERE ..., ... ORDER BY ..."""
    keys = [token.key for token in tokens.items]
    is_query = keys[:1] == ["select"] or (keys[:1] == ["with"] and "select" in keys)
    first = keys.index("where") + 1 if "where" in keys and (is_query or keys[0] == "where") else 0
    last = next((n for n in range(first + 1, len(keys)) if keys[n] in _AFTER_WHERE and not tokens.depth[n]), len(keys))
    if is_query and not first:
        return "a whole query is not a predicate", "give the condition that would stand behind WHERE, or the query to --sql"
    if (first, last) == (0, len(keys)) or first >= last:
        return None
    return "only the condition of WHERE is read", f"write: {tokens.source(first, last)}"


def _operators(tokens: Tokens) -> Hint | None:
    edits: list[Edit] = []
    wrong: list[str] = []
    for index, (token, following) in enumerate(pairwise(tokens.items)):
        put = _OPERATORS.get((token.key, following.key)) if token.end == following.start else None
        if put is not None:
            edits.append((token.start, following.end, _apart(tokens.text, token.start, following.end, put)))
            wrong.append(token.key + following.key)
        elif token.key == "=>" or (token.key == "~" and index and tokens.key(index - 1) not in ("!", *COMPARISONS)):
            edits.append((token.start, token.end, ">=" if token.key == "=>" else "RLIKE"))
            wrong.append(token.key)
    if not edits:
        return None
    return f"`{wrong[0]}` is not an operator of Spark SQL", f"write: {_edited(tokens.text, edits)}"


def _apart(text: str, start: int, end: int, word: str) -> str:
    """The word with a space on each side where none stands."""
    before = "" if text[start - 1 : start].isspace() else " "
    return f"{before}{word}{'' if text[end : end + 1].isspace() else ' '}"


def _empty_list(tokens: Tokens) -> Hint | None:
    for index in range(1, len(tokens.items) - 2):
        if [tokens.key(n) for n in range(index, index + 3)] == ["in", "(", ")"]:
            is_negated = tokens.key(index - 1) == "not"
            first = index - 2 if is_negated else index - 1
            while tokens.key(first - 1) == ".":
                first -= 2
            edit = (tokens.items[max(first, 0)].start, tokens.items[index + 2].end, "TRUE" if is_negated else "FALSE")
            return "a list has at least one value", f"nothing is in an empty list, write: {_edited(tokens.text, [edit])}"
    return None


def _names(tokens: Tokens) -> Hint | None:
    """`Order Total > 100`, whose name stands in back-ticks."""
    for index, (token, following) in enumerate(pairwise(tokens.items)):
        is_name = token.kind == following.kind == "word" and not {token.key, following.key} & _GRAMMAR
        if is_name and _begins_operand(tokens, index) and tokens.key(index + 2) in (*COMPARISONS, *_AFTER_NAME):
            name = tokens.text[token.start : following.end]
            edit = (token.start, following.end, f"`{name}`")
            return "a name with a space stands in back-ticks", f"write: {_edited(tokens.text, [edit])}"
    return None


def _between(tokens: Tokens) -> Hint | None:
    keys = [token.key for token in tokens.items]
    if "between" not in keys or "and" in keys[keys.index("between") :]:
        return None
    token = tokens.items[keys.index("between")]
    fixed = _edited(tokens.text, [(token.start, token.end, ">=")])
    return "BETWEEN needs AND and a second bound", f"add the second bound, or write: {fixed}"


def _chain(tokens: Tokens) -> Hint | None:
    """`a = 'x' || b > 5`, where OR was meant, and `1 < a < 5`."""
    marks = [token for token in tokens.items if token.key == "||"]
    if marks:
        edits = [(token.start, token.end, _apart(tokens.text, token.start, token.end, "OR")) for token in marks]
        return "", f"`||` joins text; if OR is meant, write: {_edited(tokens.text, edits)}"
    for index in range(1, len(tokens.items) - 3):
        if tokens.key(index) in COMPARISONS and tokens.key(index + 2) in COMPARISONS:
            middle, operator = tokens.items[index + 1], tokens.items[index + 2]
            edit = (operator.start, operator.start, f"AND {tokens.text[middle.start : middle.end]} ")
            return "", f"write: {_edited(tokens.text, [edit])}"
    return None


def _interval(tokens: Tokens) -> Hint | None:
    for index, token in enumerate(tokens.items[:-2]):
        amount, unit = tokens.items[index + 1 : index + 3]
        number = tokens.text[amount.start : amount.end].strip("'\" ")
        if token.key == "interval" and unit.key in ("day", "days") and number.isdigit():
            return "", f"write: {_edited(tokens.text, [(token.start, unit.end, number)])}"
    return None


_HINTS: dict[str, tuple[Callable[[Tokens], Hint | None], ...]] = {
    "LP101": (_query, _operators, _empty_list, _between, _names),
    "LP106": (_interval, _chain),
}
