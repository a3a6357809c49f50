"""What a whole query demands of each table that it reads, as far as that is certain.

In: the text of a query, and the columns of some tables. Out: per table a predicate that every row has to satisfy which can
matter to the answer, or nothing. The engine still applies its own conditions: this only says which files need not be opened, so
everything that is not plainly the same in every dialect is left out.

A condition counts where a row that fails it cannot matter:

    WHERE                    for tables that no outer join fills with NULL (`l LEFT JOIN r WHERE r.x IS NULL` wants r whole)
    ON of an inner join      for both sides
    ON of a LEFT JOIN        for the right side
    anything else            never

A table that is read several times has to serve all its readers: their conditions are joined by OR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.write.show import name_text
from lakeprune.values.literals import quote
from lakeprune.values.types import INTEGRAL_KINDS, Kind

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?")
_NUMBER = re.compile(r"\d{1,18}(\.\d{1,9})?")
_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_OTHER_PARTS = ("sample", "pivots", "laterals", "joins", "when", "changes", "version")


def query_filters(query: str, tables: Mapping[str, Schema], dialect: str, zone: str) -> dict[str, str | None]:
    """A predicate in Spark's SQL per table that the query reads; None where every row may matter.

    `zone` is written behind moments without one: the zone in which the engine reads them, whatever that of a plan is.
    """
    try:
        trees = sqlglot.parse(query, read=dialect)
    except (SqlglotError, RecursionError):
        return dict.fromkeys(tables)  # the engine says what is wrong with it, if anything is
    tree = trees[0]
    if len(trees) != 1 or not isinstance(tree, exp.Query):
        return dict.fromkeys(tables)
    schemas = {name.lower(): schema for name, schema in tables.items()}
    shadowed = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    demands: dict[str, list[list[str]]] = {}
    for table in tree.find_all(exp.Table):
        name = table.name.lower()
        if name in schemas and not table.db:
            is_doubtful = name in shadowed  # the table, or the CTE of its name: `WITH t AS (SELECT * FROM t) ...` reads both
            demands.setdefault(name, []).append([] if is_doubtful else list(_demanded(table, schemas, zone)))
    return {name: _joined(demands[name.lower()]) for name in tables if name.lower() in demands}


def _joined(readers: list[list[str]]) -> str | None:
    if not all(readers):
        return None
    return " OR ".join(f"({' AND '.join(f'({part})' for part in parts)})" for parts in readers)


def _demanded(table: exp.Table, schemas: Mapping[str, Schema], zone: str) -> Iterator[str]:
    """The conditions on one reading of a table."""
    select, join = _place(table)
    if select is None or table.alias_column_names or any(table.args.get(part) for part in _OTHER_PARTS):
        return
    joins = select.args.get("joins") or []
    if any(not _is_known(each) for each in joins) or select.args.get("laterals"):
        return
    scope = _Scope(select, schemas, zone)
    at = -1 if join is None else joins.index(join)
    is_filled = (at >= 0 and joins[at].side == "LEFT") or any(each.side == "RIGHT" for each in joins[at + 1 :])
    conditions: list[exp.Expr] = []
    if not is_filled and select.args.get("where") is not None:
        conditions.append(select.args["where"].this)
    for place, each in enumerate(joins):
        on = each.args.get("on")
        serves = (not each.side and not is_filled) or (each.side == "LEFT" and place == at)
        if on is not None and serves and place >= at:
            conditions.append(on)
    for condition in conditions:
        for part in exp.and_(condition, copy=True).flatten() if isinstance(condition, exp.And) else [condition]:
            said = scope.about(part, table)
            if said is not None:
                yield said


def _place(table: exp.Table) -> tuple[exp.Select | None, exp.Join | None]:
    """The SELECT that reads a table directly, and the join that brings it in."""
    parent = table.parent
    join = parent if isinstance(parent, exp.Join) else None
    if join is not None:
        parent = join.parent
    elif isinstance(parent, exp.From):
        parent = parent.parent
    return (parent, join) if isinstance(parent, exp.Select) else (None, None)


def _is_known(join: exp.Join) -> bool:
    """Inner, cross, LEFT and RIGHT joins with ON or nothing; not NATURAL, USING, SEMI, ANTI, ASOF, FULL or LATERAL."""
    is_plain = not join.args.get("method") and not join.args.get("using") and (join.kind or "") in ("", "INNER", "CROSS", "OUTER")
    return is_plain and (join.side or "") in ("", "LEFT", "RIGHT") and not isinstance(join.this, exp.Lateral)


class _Scope:
    """The tables of one SELECT, by the names under which its conditions know them."""

    def __init__(self, select: exp.Select, schemas: Mapping[str, Schema], zone: str) -> None:
        source = select.args.get("from") or select.args.get("from_")
        self._sources = [source.this] if source is not None else []
        self._sources += [join.this for join in select.args.get("joins") or []]
        self._schemas, self._zone = schemas, zone

    def about(self, condition: exp.Expr, table: exp.Table) -> str | None:
        """The condition in Spark's SQL when it is about this table alone and means the same there."""
        try:
            return self._said(condition, table)
        except _NotPlain:
            return None

    def _said(self, node: exp.Expr, table: exp.Table) -> str:
        match node:
            case exp.Paren():
                return self._said(node.this, table)
            case exp.And() | exp.Or():
                word = "AND" if isinstance(node, exp.And) else "OR"
                return f"({self._said(node.left, table)} {word} {self._said(node.right, table)})"
            case exp.Not():
                return f"(NOT {self._said(node.this, table)})"
            case exp.Is(expression=exp.Null()):
                return f"({name_text((self._column(node.this, table).name,))} IS NULL)"
            case exp.Between() if not node.args.get("symmetric"):
                field = self._column(node.this, table)
                low, high = (_literal(node.args[end], field, self._zone) for end in ("low", "high"))
                return f"({name_text((field.name,))} BETWEEN {low} AND {high})"
            case exp.In() if node.expressions and not node.args.get("query") and not node.args.get("unnest"):
                field = self._column(node.this, table)
                items = ", ".join(_literal(item, field, self._zone) for item in node.expressions)
                return f"({name_text((field.name,))} IN ({items}))"
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                return self._compared(node, table)
            case _:
                raise _NotPlain

    def _compared(self, node: exp.Binary, table: exp.Table) -> str:
        word = _COMPARED[type(node)]
        if isinstance(node.left, exp.Column):
            field = self._column(node.left, table)
            return f"({name_text((field.name,))} {word} {_literal(node.right, field, self._zone)})"
        field = self._column(node.right, table)
        return f"({_literal(node.left, field, self._zone)} {word} {name_text((field.name,))})"

    def _column(self, node: exp.Expr, table: exp.Table) -> Field:
        """The top-level column of the table that a name means; nothing else that is in scope may be meant."""
        if not isinstance(node, exp.Column) or node.args.get("db") or isinstance(node.this, exp.Star):
            raise _NotPlain
        fields = self._schemas[table.name.lower()].fields
        if node.table:
            named = [source for source in self._sources if source.alias_or_name.lower() == node.table.lower()]
            if named != [table]:
                raise _NotPlain
        elif any(self._may_have(source, node.name) for source in self._sources if source is not table):
            raise _NotPlain
        same = [field for field in fields if field.name.lower() == node.name.lower()]
        if len(same) != 1:
            raise _NotPlain
        return same[0]

    def _may_have(self, source: exp.Expr, name: str) -> bool:
        if not isinstance(source, exp.Table) or source.db or source.name.lower() not in self._schemas:
            return True
        return any(field.name.lower() == name.lower() for field in self._schemas[source.name.lower()].fields)


class _NotPlain(Exception):
    """What does not mean the same in every dialect, or is not about one table."""


def _literal(node: exp.Expr, field: Field, zone: str) -> str:
    """A constant that the type of the column compares with in the same way everywhere."""
    kind, collation = field.type.kind, field.type.collation
    sign, number = ("-", node.this) if isinstance(node, exp.Neg) else ("", node)
    if isinstance(number, exp.Literal) and not number.is_string:
        is_numeric = kind in INTEGRAL_KINDS or kind in (Kind.DECIMAL, Kind.DOUBLE)
        if is_numeric and _NUMBER.fullmatch(number.name):
            return f"{sign}{number.name}"
    elif isinstance(node, exp.Boolean) and kind is Kind.BOOLEAN:
        return "TRUE" if node.this else "FALSE"
    elif isinstance(node, exp.Literal) and not collation:
        text = node.name
        is_day = _DATE.fullmatch(text) is not None
        if kind is Kind.STRING or (kind is Kind.DATE and is_day):
            return quote(text)
        if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) and (is_day or _MOMENT.fullmatch(text)):
            moment = f"{text} 00:00:00" if is_day else text
            return quote(f"{moment} {zone}" if kind is Kind.TIMESTAMP else moment)
    elif isinstance(node, exp.Cast) and kind is Kind.DATE and node.to.is_type("date") and _is_day(node.this):
        return f"DATE {quote(node.this.name)}"
    raise _NotPlain


def _is_day(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string and _DATE.fullmatch(node.name) is not None
