"""What was probably meant by text that Spark would not read: a why and a fix for it, most often the text as it should be.

In: the tokens of a predicate. Out: an error for what is never meant (a template without its values, a list in brackets), or a
better error for text that has already failed. Nothing else that parses comes here, so a hint refuses nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.edits import Edit, Hint, edited
from lakeprune.predicate.read.sql.slips import (
    compared_once,
    in_two_quotes,
    is_in,
    joined_operators,
    pattern_without_quotes,
    ranges,
)
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, syntax_error, underline
from lakeprune.predicate.read.sql.tokens import COMPARISONS, Tokens

_OPERATORS = {
    ("&", "&"): "AND",
    ("=", "<"): "<=",
    ("!", "~"): "NOT RLIKE",
    ("~", "*"): "RLIKE",
    ("=", "~"): "RLIKE",
    ("==", "="): "=",
}
_TESTS = {
    **dict.fromkeys(("contains", "includes"), "contains"), **dict.fromkeys(("startswith", "starts"), "startswith"),
    **dict.fromkeys(("endswith", "ends"), "endswith"), **dict.fromkeys(("matches", "similar"), "RLIKE"),
}  # fmt: skip
_AFTER_WHERE = frozenset({"order", "group", "sort", "cluster", "distribute", "limit", "offset", "having", "window", "qualify"})
_AFTER_NAME = frozenset({"in", "not", "is", "like", "ilike", "rlike", "regexp", "between"})
_TEMPLATE = re.compile(r"""(['"])(\{\{[^'"]*\}\}|\$\{[^}'"]*\})\1""")  # a text that is nothing but a placeholder
_GRAMMAR = frozenset({
    "and", "or", "not", "in", "is", "like", "ilike", "rlike", "regexp", "between", "null", "true", "false", "case", "when",
    "then", "else", "end", "escape", "interval", "from", "distinct", "date", "timestamp", "div", "exists", "if",
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
        if token.key in ("[", "{") and tokens.key(index - 1) == "in" and index in tokens.partner:
            close = tokens.items[tokens.partner[index]]
            fixed = edited(tokens.text, [(token.start, token.end, "("), (close.start, close.end, ")")])
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
    if key == "{":
        return after in ("{", "%") or (tokens.key(index + 2) == "}" and tokens.items[index + 1].kind == "word")
    if key == "?" or (key == "$" and after == "{"):
        return True
    if key == "%" and tokens.key(index - 1) in ("like", "ilike"):
        return False  # a pattern without its quotes
    if key not in (":", "$", "@", "%") or index + 1 == len(tokens.items) or not _begins_operand(tokens, index):
        return False  # `column:path` goes into a variant, `a % b` divides
    return tokens.items[index + 1].kind in ("word", "number") or (key == "%" and after == "(")


def _begins_operand(tokens: Tokens, index: int) -> bool:
    """Whether what stands there is not an index into what stands before it."""
    before = tokens.key(index - 1)
    return index == 0 or before in _GRAMMAR or (tokens.items[index - 1].kind == "symbol" and before not in (")", "]"))


def _bracketed(tokens: Tokens, index: int) -> Hint:
    open_, close = tokens.items[index], tokens.items[tokens.partner[index]]
    if tokens.items[index + 1].kind in ("string", "number"):
        edits = [(open_.start, open_.end, "array("), (close.start, close.end, ")")]
        return "Spark writes an array as a call", f"write: {edited(tokens.text, edits)}"
    edit = (open_.start, close.end, f"`{tokens.text[open_.end : close.start].strip()}`")
    return "a name that is not a plain word stands in back-ticks", f"write: {edited(tokens.text, [edit])}"


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
    return "only the condition of WHERE is read", f"write: {_unqualified(tokens, first, last)}"


def _unqualified(tokens: Tokens, first: int, last: int) -> str:
    """The condition without the names by which its query calls the table: `s.id` is `id`."""
    keys = [token.key for token in tokens.items]
    names = set()
    if "from" in keys[:first]:
        index = keys.index("from") + 1
        while tokens.key(index + 1) == ".":
            index += 2
        named = keys[index : first - 1]  # the table's own name, AS, another name
        names = {key for key in (*named[:1], *named[-1:]) if key not in ("", "as")} if len(named) <= 3 else set()
    start = tokens.items[first].start
    edits = [
        (tokens.items[n].start - start, tokens.items[n + 1].end - start, "")
        for n in range(first, last - 1)
        if keys[n] in names and keys[n + 1] == "." and keys[n - 1] != "."
    ]
    return edited(tokens.source(first, last), edits)


def _operators(tokens: Tokens) -> Hint | None:
    edits: list[Edit] = []
    wrong: list[str] = []
    for index, (token, following) in enumerate(pairwise(tokens.items)):
        put = _OPERATORS.get((token.key, following.key)) if token.end == following.start else None
        if put is not None and not (index and wrong and tokens.items[index - 1].end == token.start and put == "="):
            edits.append((token.start, following.end, _apart(tokens.text, token.start, following.end, put)))
            wrong.append(token.key + following.key)
            if token.key == "~" and index + 2 < len(tokens.items) and tokens.items[index + 2].kind == "string":
                pattern = tokens.items[index + 2].start + 1
                edits.append((pattern, pattern, "(?i)"))
        elif token.key == "=>" or (token.key == "~" and index and tokens.key(index - 1) not in ("!", *COMPARISONS)):
            edits.append((token.start, token.end, ">=" if token.key == "=>" else "RLIKE"))
            wrong.append(token.key)
    if not edits:
        return None
    return f"`{wrong[0]}` is not an operator of Spark SQL", f"write: {edited(tokens.text, edits)}"


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
            return "a list has at least one value", f"nothing is in an empty list, write: {edited(tokens.text, [edit])}"
    return None


def _names(tokens: Tokens) -> Hint | None:
    """`Order Total > 100`, whose name stands in back-ticks."""
    for index, (token, following) in enumerate(pairwise(tokens.items)):
        is_name = token.kind == following.kind == "word" and not {token.key, following.key} & _GRAMMAR
        if is_name and _begins_operand(tokens, index) and tokens.key(index + 2) in (*COMPARISONS, *_AFTER_NAME):
            name = tokens.text[token.start : following.end]
            edit = (token.start, following.end, f"`{name}`")
            return "a name with a space stands in back-ticks", f"write: {edited(tokens.text, [edit])}"
    return None


def _between(tokens: Tokens) -> Hint | None:
    keys = [token.key for token in tokens.items]
    index = keys.index("between") if "between" in keys else len(keys)
    ands = [n for n in range(index, len(keys)) if keys[n] == "and"]
    if index == len(keys) or ands not in ([], [len(keys) - 1]):
        return None
    token, is_negated = tokens.items[index], keys[index - 1] == "not"
    start = tokens.items[index - 1].start if is_negated else token.start
    edits = [(start, token.end, "<" if is_negated else ">="), *((tokens.items[n].start, tokens.items[n].end, "") for n in ands)]
    return "BETWEEN needs AND and a second bound", f"add the second bound, or write: {edited(tokens.text, edits)}"


def _in_without_list(tokens: Tokens) -> Hint | None:
    """`region IN 'EU'`, and `'a' IN tags`, which asks an array."""
    for index in range(1, len(tokens.items) - 1):
        before, token, after = tokens.items[index - 1 : index + 2]
        if token.key != "in" or after.kind in ("list", "symbol"):
            continue
        if after.kind in ("string", "number"):
            last = index + 1
            while tokens.key(last + 1) == "," and last + 2 < len(tokens.items):
                last += 2
            if tokens.items[min(last + 1, len(tokens.items) - 1)].kind == "number" and last + 1 < len(tokens.items):
                continue  # 1..5
            edits = [(after.start, after.start, "("), (tokens.items[last].end, tokens.items[last].end, ")")]
            return "IN needs a list of values in parentheses", f"write: {edited(tokens.text, edits)}"
        if before.kind in ("string", "number"):
            last = index + 1
            while tokens.key(last + 1) == "." and last + 2 < len(tokens.items):
                last += 2
            array, value = tokens.source(index + 1, last + 1), tokens.source(index - 1, index)
            edit = (before.start, tokens.items[last].end, f"array_contains({array}, {value})")
            return "IN needs a list of values in parentheses", f"write: {edited(tokens.text, [edit])}"
    return None


def _is_value(tokens: Tokens) -> Hint | None:
    """`id IS 5`, where `=` was meant."""
    for index, token in enumerate(tokens.items):
        is_negated = tokens.key(index + 1) == "not"
        at = index + (2 if is_negated else 1)
        if token.key == "is" and at < len(tokens.items) and tokens.items[at].kind in ("string", "number"):
            edit = (token.start, tokens.items[at - 1].end, "!=" if is_negated else "=")
            return "IS stands before NULL, TRUE and FALSE", f"write: {edited(tokens.text, [edit])}"
    return None


def _separators(tokens: Tokens) -> Hint | None:
    """`1,000`, which is a number elsewhere."""
    found = re.search(r"(?<![\w.,'\"])[0-9]{1,3}(?:,[0-9]{3})+(?![\w,'\"])", tokens.text)
    if found is None or "," not in (token.key for token in tokens.items):
        return None
    fixed = edited(tokens.text, [(found.start(), found.end(), found[0].replace(",", ""))])
    return "", f"numbers have no separators, write: {fixed}"


def _chain(tokens: Tokens) -> Hint | None:
    """`a = 'x' || b > 5` and `a = 'x' | b > 5`, where OR was meant, and `1 < a < 5`."""
    for mark, joins, meant in (("||", "text", "OR"), ("|", "bits", "OR"), ("&", "bits", "AND")):
        marks = [token for token in tokens.items if token.key == mark]
        if marks:
            edits = [(token.start, token.end, _apart(tokens.text, token.start, token.end, meant)) for token in marks]
            return "", f"`{mark}` joins {joins}; if {meant} is meant, write: {edited(tokens.text, edits)}"
    for index in range(1, len(tokens.items) - 3):
        if tokens.key(index) in COMPARISONS and tokens.key(index + 2) in COMPARISONS:
            middle, operator = tokens.items[index + 1], tokens.items[index + 2]
            edit = (operator.start, operator.start, f"AND {tokens.text[middle.start : middle.end]} ")
            return "", f"write: {edited(tokens.text, [edit])}"
    return None


def _interval(tokens: Tokens) -> Hint | None:
    for index, token in enumerate(tokens.items[:-2]):
        amount, unit = tokens.items[index + 1 : index + 3]
        number = tokens.text[amount.start : amount.end].strip("'\" ")
        if token.key == "interval" and unit.key in ("day", "days") and number.isdigit():
            return "", f"write: {edited(tokens.text, [(token.start, unit.end, number)])}"
    return None


def _unjoined(tokens: Tokens) -> Hint | None:
    """`a = 1, b = 2` and `a = 1 b = 2`, where AND was meant, and `a = 1 XOR b = 2`."""
    edits: list[Edit] = []
    for index in range(2, len(tokens.items) - 1):
        before, token = tokens.items[index - 1 : index + 1]
        if token.key == "xor" and not tokens.depth[index]:
            left, right = tokens.text[: token.start].strip(), tokens.text[token.end :].strip()
            return "XOR is not an operator of Spark SQL", f"write: ({left}) != ({right})"
        is_name = token.kind in ("word", "name") and tokens.key(index) not in _GRAMMAR
        if token.key == "," and not tokens.depth[index]:
            edits.append((token.start, token.end, " AND"))
        elif is_name and before.kind in ("number", "string") and tokens.key(index + 1) in (*COMPARISONS, *_AFTER_NAME):
            edits.append((token.start, token.start, "AND "))
    return ("conditions are joined by AND or OR", f"write: {edited(tokens.text, edits)}") if edits else None


def _unfinished(tokens: Tokens) -> Hint | None:
    last = tokens.items[-1] if tokens.items else None
    return None if last is None or last.key not in COMPARISONS else ("", f"add what is compared, behind `{last.key}`")


def _arguments(tokens: Tokens) -> Hint | None:
    """`upper(region, 1)` without what the function does not take."""
    from lakeprune.predicate.read.sql.functions import refused_count

    for index, token in enumerate(tokens.items[:-1]):
        if token.kind != "word" or tokens.key(index + 1) != "(":
            continue
        close, inside = tokens.partner[index + 1], tokens.depth[index + 1] + 1
        commas = [n for n in range(index + 2, close) if tokens.key(n) == "," and tokens.depth[n] == inside]
        given = len(commas) + 1 if close > index + 2 else 0
        arity = refused_count(token.key, given)
        if arity is not None and given > arity[-1]:
            first = tokens.items[commas[arity[-1] - 1] if arity[-1] else index + 2]
            return "", f"write: {edited(tokens.text, [(first.start, tokens.items[close].start, '')])}"
    return None


def _tests(tokens: Tokens) -> Hint | None:
    """`region contains 'E'`, which is a call in Spark, and `region matches 'E.*'`."""
    for index in range(1, len(tokens.items) - 1):
        found, token = _TESTS.get(tokens.key(index)), tokens.items[index]
        at = index + 2 if tokens.key(index + 1) in ("with", "to") else index + 1
        is_negated = tokens.key(index - 1) == "not"
        first = _operand_before(tokens, index - 2 if is_negated else index - 1)
        if found is None or first is None or at >= len(tokens.items) or tokens.items[at].kind not in ("string", "word", "name"):
            continue
        value, other = tokens.source(first, index - 1 if is_negated else index), tokens.source(at, at + 1)
        call = f"{value} RLIKE {other}" if found == "RLIKE" else f"{found}({value}, {other})"
        edit = (tokens.items[first].start, tokens.items[at].end, f"NOT {call}" if is_negated else call)
        return f"`{tokens.text[token.start : tokens.items[at - 1].end]}` is not an operator of Spark SQL", (
            f"write: {edited(tokens.text, [edit])}"
        )
    return None


def _operand_before(tokens: Tokens, last: int) -> int | None:
    """Where the column or call begins that ends there; None when it is something else."""
    if tokens.key(last) == ")":
        last = tokens.partner[last] - 1
    if last < 0 or tokens.items[last].kind not in ("word", "name") or tokens.key(last) in _GRAMMAR:
        return None
    while tokens.key(last - 1) == "." and last > 1:
        last -= 2
    return last


_HINTS: dict[str, tuple[Callable[[Tokens], Hint | None], ...]] = {
    "LP101": (
        _query,
        _operators,
        joined_operators,
        is_in,
        in_two_quotes,
        pattern_without_quotes,
        ranges,
        _empty_list,
        _between,
        _in_without_list,
        _is_value,
        _separators,
        _tests,
        _names,
        _unjoined,
        _unfinished,
    ),
    "LP104": (compared_once,),
    "LP105": (_query,),
    "LP106": (_arguments, _interval, _chain),
}
