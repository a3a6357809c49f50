"""Expressions over partition columns that lakeprune cannot evaluate, evaluated by an engine that can.

In: a bound predicate, or the distinct partition values. Out: the predicate in which such expressions are Exact instead of opaque,
and what each of them gives on the values. Only what depends on its columns alone is taken; clocks stand still at the moment of
the question. What fails on a value keeps its files (EVALUATION_FAILED). Patterns are not taken: Java runs
`(a+)+$` for ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from lakeprune.engines.engine import Engine, Truth, Typed
from lakeprune.errors import PredicateError
from lakeprune.predicate.clock import pinned
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.passes.rebuild import rebuild
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role, Schema
from lakeprune.predicate.tree import Column, Exact, Expr, Literal, Opaque, Profile
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.values.literals import date_text
from lakeprune.values.time.calendar import DAY, SECOND
from lakeprune.values.types import BOOLEAN, DataType, Kind, Scalar

MEANINGS: dict[Truth, bool | None] = {Truth.TRUE: True, Truth.FALSE: False, Truth.NULL: None}
_PATTERNS = re.compile(r"\b(regexp\w*|rlike|split|str_to_map)\b", re.IGNORECASE)  # what Spark gives to Java's regular expressions
_NAMES = {Kind.LONG: "BIGINT", Kind.SHORT: "SMALLINT", Kind.BYTE: "TINYINT"}  # where Spark SQL has another name


def evaluated_by(engine: Engine, bound: Expr, profile: Profile) -> Expr:
    """The predicate, where every expression over partition columns that only this engine evaluates is exact."""

    def take(leaf: Expr) -> Expr:
        if not isinstance(leaf, Opaque) or leaf.reason.code is not ReasonCode.UNSUPPORTED_EXPRESSION or leaf.sql is None:
            return leaf
        columns = tuple(columns_of(leaf))
        if _PATTERNS.search(leaf.sql):
            return leaf
        if not columns or any(column.role is not Role.PARTITION for column in columns):
            return leaf
        exact = Exact(leaf, columns)
        return exact if engine.evaluates(_condition(exact, profile)) else leaf

    return rebuild(bound, leaf=take)


def engine_truths(
    engine: Engine, exact: Exact, values: Sequence[Sequence[tuple[Scalar, ...] | None]], profile: Profile
) -> list[set[Truth] | None]:
    """What the expression can give on each of these tuples of possible values; None where a value is not known.

    Only its opaque parts are the engine's; what stands around them, like NOT, is evaluated as everywhere.
    """
    choices = [None if None in each else list(product(*(found or () for found in each))) for each in values]
    distinct = list(dict.fromkeys(choice for several in choices if several is not None for choice in several))
    rows = [[_text(value, column.type) for value, column in zip(choice, exact.columns, strict=True)] for choice in distinct]
    opaque = dict.fromkeys(node for node in nodes(exact.predicate) if isinstance(node, Opaque))
    answers = {leaf: engine.truths(_condition(Exact(leaf, exact.columns), profile), rows) for leaf in opaque}
    truths = {}
    for number, choice in enumerate(distinct):
        known = {leaf: found[number] for leaf, found in answers.items()}
        truths[choice] = _whole(exact, known, dict(zip(exact.columns, choice, strict=True)), profile)
    return [None if several is None else {truths[choice] for choice in several} for several in choices]


def truths_of_failed(
    engine: Engine, schema: Schema, exact: Exact, values: Sequence[Sequence[tuple[Scalar, ...] | None]], profile: Profile
) -> list[set[Truth] | None]:
    """The same for an expression that lakeprune has no value of on these tuples; None where the engine has none, either.

    The engine gets the text of its parts, if reading a text again gives that very part.
    """
    reason = Reason(ReasonCode.UNSUPPORTED_EXPRESSION, "it has no value")

    def take(leaf: Expr) -> Expr:
        text = whole_text(leaf, profile.zone)
        if text is None or _PATTERNS.search(text) or not _reads_back(text, leaf, schema, profile):
            return leaf
        opaque = Opaque(text, reason, exact.columns, text)
        return opaque if engine.evaluates(_condition(Exact(opaque, exact.columns), profile)) else leaf

    asked = Exact(rebuild(exact.predicate, leaf=take), exact.columns)
    if not any(isinstance(node, Opaque) for node in nodes(asked.predicate)):
        return [None] * len(values)
    return [None if found and Truth.FAILED in found else found for found in engine_truths(engine, asked, values, profile)]


def _reads_back(text: str, leaf: Expr, schema: Schema, profile: Profile) -> bool:
    from lakeprune.predicate.bind.bind import bind
    from lakeprune.predicate.read.sql.parse import parse_predicate

    try:
        return bind(parse_predicate(text, profile), schema, profile, text) == leaf
    except PredicateError:
        return False


def _whole(exact: Exact, known: Mapping[Opaque, Truth], values: Mapping[Column, Scalar], profile: Profile) -> Truth:
    """The truth of the expression, given that of its opaque parts."""
    if Truth.FAILED in known.values():
        return Truth.FAILED

    def answered(leaf: Expr) -> Expr:
        return Literal(MEANINGS[known[leaf]], BOOLEAN) if isinstance(leaf, Opaque) else leaf

    try:
        truth = evaluate(rebuild(exact.predicate, leaf=answered), dict(values), profile)
    except EvaluationFailed:
        return Truth.FAILED
    return next((each for each, meaning in MEANINGS.items() if meaning is truth), Truth.FAILED)


def _condition(exact: Exact, profile: Profile) -> Typed:
    assert isinstance(exact.predicate, Opaque), "lakeprune evaluates everything else by itself"
    columns = tuple((column.path[0], _spark_type(column.type)) for column in exact.columns)
    return Typed(pinned(exact.predicate.sql or "", profile), columns, profile.zone)


def _spark_type(data_type: DataType) -> str:
    return _NAMES.get(data_type.kind, str(data_type).upper())


def _text(value: Scalar, data_type: DataType) -> str | None:
    """The value as text that a cast of Spark turns into it, in any zone; bytes as hexadecimal digits."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and data_type.kind is Kind.DATE:
        return date_text(value)
    if isinstance(value, int) and data_type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        days, micros = divmod(value, DAY)
        seconds, fraction = divmod(micros, SECOND)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
        return f"{date_text(days)} {clock}" + ("Z" if data_type.kind is Kind.TIMESTAMP else "")
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(value), str(value))
