"""SQL hints of Delta Sharing (`predicateHints`): one entry -> a bound predicate.

In: what a client sent, and the columns of the table. Out: a tree in which every comparison that is not understood is Opaque with
its reason. The text is read by the SQL front-end, under limits of its own, and never executed. Never raises.
"""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.read.sharing.columns import Columns, NotUnderstood, brief, is_whole_text, unknown
from lakeprune.predicate.read.sharing.sql_leaves import Reading, leaf
from lakeprune.predicate.read.sql.parse import read_condition
from lakeprune.predicate.read.sql.tokens import tokenize
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.write.show import show

MAX_TEXT = 8 * 1024  # bytes of one entry
MAX_ENTRIES = 100
_ZONES = ("+18:00", "-18:00")  # no clock is further from UTC; text without an offset lies between its readings in these


def read_sql_hint(text: str, columns: Columns, profile: Profile) -> Expr:
    """The predicate of one entry of `predicateHints`.

    >>> from lakeprune.predicate.schema import Field, Role, Schema
    >>> from lakeprune.values.types import DATE, INT
    >>> columns = Columns(Schema((Field("d", "d", DATE, Role.PARTITION), Field("id", "id", INT))))
    >>> show(read_sql_hint("(CAST(partitionValues.d AS DATE) = DATE '2021-04-29')", columns, Profile(now=0)))
    "d = '2021-04-29'"
    >>> read_sql_hint('"string"', columns, Profile(now=0)).reason.message
    'text in double quotes is a name to some engines'
    """
    try:
        _check_text(text, columns)
        early, late = (read_condition(text, replace(profile, zone=zone)) for zone in _ZONES)
        if early.asks_clock:
            raise NotUnderstood("it depends on the clock")
    except NotUnderstood as problem:
        return unknown("the SQL hint", str(problem))
    except PredicateError as error:
        return unknown("the SQL hint", f"{error.what}{'' if error.why is None else f': {error.why}'}")
    profiles = [replace(profile, zone=zone) for zone in _ZONES]
    return _tree(Reading(early.tree, profiles[0]), Reading(late.tree, profiles[1]), columns)


def _check_text(text: str, columns: Columns) -> None:
    """Refuses text that is too long, and quotes that engines read in different ways."""
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "replace")) > MAX_TEXT:
        raise NotUnderstood(f"a SQL hint has at most {MAX_TEXT // 1024} KiB")
    if not is_whole_text(text):
        raise NotUnderstood("this text is not valid Unicode")
    if "\\" in text:
        raise NotUnderstood("a backslash is an escape to some engines and a letter to others")
    tokens = tokenize(text)
    is_after_text = False
    has_name = any(
        token.kind in ("name", "word") and columns.has(text[token.start : token.end].strip("`")) for token in tokens.items
    )
    for token in tokens.items:
        written = text[token.start : token.end]
        if token.kind == "list" and ('"' in written or "''" in written):
            raise NotUnderstood("quotes in a list that engines read in different ways")
        if token.kind == "string" and (is_after_text or written[0] in written[1:-1]):
            raise NotUnderstood("a quote beside a quote is a letter to some engines and joins text in others")
        if token.kind == "string" and written[0] == '"' and (columns.has(written[1:-1]) or not has_name):
            raise NotUnderstood("text in double quotes is a name to some engines")
        is_after_text = token.kind == "string"


def _tree(early: Reading, late: Reading, columns: Columns) -> Expr:
    """The skeleton of both readings is the same; nesting is limited by the tokenizer."""
    match early.expr, late.expr:
        case (t.And(parts), t.And(others)) | (t.Or(parts), t.Or(others)) if len(parts) == len(others):
            pairs = zip(parts, others, strict=True)
            found = tuple([_tree(replace(early, expr=one), replace(late, expr=other), columns) for one, other in pairs])
            return t.And(found) if isinstance(early.expr, t.And) else t.Or(found)
        case t.Not(one), t.Not(other):
            return t.Not(_tree(replace(early, expr=one), replace(late, expr=other), columns))
        case t.IsTruth(one, truth), t.IsTruth(other):
            return t.IsTruth(_tree(replace(early, expr=one), replace(late, expr=other), columns), truth)
        case t.IsNull(one), t.IsNull(other) if not isinstance(one, t.Name | t.Call | t.Literal):
            return t.IsNull(_tree(replace(early, expr=one), replace(late, expr=other), columns))
        case t.Constant(), _:
            return early.expr
        case _:
            try:
                return leaf(early, late, columns)
            except NotUnderstood as problem:
                return unknown(brief(show(early.expr)), str(problem))
