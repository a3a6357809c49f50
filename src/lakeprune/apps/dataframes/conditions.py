"""The filters of a scan as one question to its table.

In: filters of an optimised plan, a planner. Out: the `Question` that they are, each filter bound once. Spark adds `x IS NOT NULL`
beside nearly every comparison of x; where the comparison proves it by itself it is left out, which changes no answer. Delta adds
what a generated column would imply; where that depends on the time zone of whoever wrote the row it proves nothing and is left
out too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lakeprune.apps.dataframes.iceberg_filters import sql_of
from lakeprune.apps.dataframes.scan import Filter, Scan
from lakeprune.errors import PredicateError
from lakeprune.planning.planner import Planner, read
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.passes.rebuild import all_of
from lakeprune.predicate.read.catalyst.plan import LONGEST_TEXT, Relation, read_filter
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import And, Either, Expr, IsNull, Member, Name, Not, Opaque, Or
from lakeprune.predicate.write.show import show
from lakeprune.values.types import Kind


def question_of(scan: Scan, planner: Planner) -> Question:
    """What the scan asks of its table."""
    facts, zone = planner.facts, planner.profile.zone
    relation = Relation(facts.schema, scan.columns, zone)
    zoned = _of_writers_zone(facts.schema, facts.computed_columns)
    written = [one for one in scan.filters if not (_is_derived(one) and zoned & _names(one))]
    bound = [_bound(read_filter(one.nodes, one.sql, relation), one, planner) for one in written]
    needed = _without_implied([*bound, *_taken_alone(scan, bound, planner)], planner)
    if not needed:
        return planner.ask(None)
    trees, whole = (all_of(parts) for parts in zip(*needed, strict=True))
    return planner.ask_bound(Condition(show(trees, zone), trees), whole)


def _taken_alone(scan: Scan, bound: Sequence[tuple[Expr, Expr]], planner: Planner) -> list[tuple[Expr, Expr]]:
    """The filters that Iceberg took over and Spark no longer has."""
    known = {normalise(meaning, planner.profile) for _, meaning in bound}
    texts = (sql_of(each, planner.facts.schema, planner.profile) for each in scan.taken)
    found = []
    for text in filter(None, texts):
        try:
            condition = read(text, planner.profile)
            meaning = planner.bound(condition)
        except PredicateError:
            continue
        if (stated := normalise(meaning, planner.profile)) not in known:
            known.add(stated)
            found.append((condition.tree, meaning))
    return found


def _is_derived(filter_: Filter) -> bool:
    """Whether it has the form that Delta gives to what it derives from a generated column: `x OR x IS NULL`."""
    nodes = filter_.nodes
    half = len(nodes) // 2
    is_form = str(nodes[0]["class"]).endswith(".Or") and str(nodes[half]["class"]).endswith(".IsNull")
    return is_form and nodes[1:half] == nodes[half + 1 :]


def _of_writers_zone(schema: Schema, computed: Mapping[str, str]) -> set[str]:
    """The generated columns that are made of a timestamp: its year, day or hour is another one in another time zone."""
    times = {field.name.lower() for field in schema.fields if field.type.kind is Kind.TIMESTAMP}
    return {name.lower() for name, how in computed.items() if times & set(re.findall(r"\w+", how.lower()))}


def _names(filter_: Filter) -> set[str]:
    return {str(node["name"]).lower() for node in filter_.nodes if str(node["class"]).endswith(".AttributeReference")}


def _bound(tree: Expr, filter_: Filter, planner: Planner) -> tuple[Expr, Expr]:
    """The tree, and the same bound: Spark has accepted the filter, so what lakeprune refuses of it is only not understood."""
    try:
        return tree, planner.bound(Condition("", tree))
    except PredicateError as error:
        unknown = Opaque(filter_.sql[:LONGEST_TEXT], Reason(ReasonCode.UNSUPPORTED_EXPRESSION, error.what))
        return unknown, unknown


def _without_implied(filters: Sequence[tuple[Expr, Expr]], planner: Planner) -> list[tuple[Expr, Expr]]:
    meanings = [normalise(bound, planner.profile) for tree, bound in filters if _tested(tree) is None]
    return [
        (tree, bound)
        for tree, bound in filters
        if (name := _tested(tree)) is None or not any(_demands(meaning, _path(name)) for meaning in meanings)
    ]


def _tested(tree: Expr) -> Name | None:
    """The column of `column IS NOT NULL`."""
    match tree:
        case Not(IsNull(Name() as name)):
            return name
        case _:
            return None


def _path(name: Name) -> tuple[str, ...]:
    return tuple(part.lower() for part in name.parts)


def _demands(meaning: Expr, path: tuple[str, ...]) -> bool:
    """Whether the meaning is TRUE only where the column has a value."""
    match meaning:
        case Member(column, _):
            return tuple(part.lower() for part in column.path) == path
        case And(parts):
            return any(_demands(part, path) for part in parts)
        case Or(parts):
            return all(_demands(part, path) for part in parts)
        case Either(outer, inner):
            return _demands(outer, path) and _demands(inner, path)
        case Not(Member() as member):
            return _demands(member, path)
        case _:
            return False
