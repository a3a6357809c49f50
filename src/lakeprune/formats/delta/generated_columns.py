"""Generated partition columns: what the value of `day`, generated as CAST(ts AS DATE), proves about `ts`.

In: generation expressions from the schema. Out: `Source`: a column, and the partition columns that are generated from it;
lifted_sql.py writes its domain. Only the forms below are understood, those from which Delta Spark derives partition filters too:

    c                                any but float and binary
    CAST(c AS DATE), DATE(c)         timestamps, date
    YEAR, MONTH, DAY of c            timestamps, date
    HOUR(c)                          timestamps
    DATE_TRUNC('unit', c)            timestamps
    TRUNC(c, 'unit')                 timestamps, date
    DATE_FORMAT(c, 'yyyy-MM-dd')     timestamps, date; and yyyyMMdd, yyyy-MM, yyyyMM, yyyy, yyyy-MM-dd-HH
    SUBSTRING(c, 1, n), LEFT(c, n)   string

Why a value can be trusted: the protocol binds the writers of a table with generated columns (writer version 4 to 6, or the
feature generatedColumns) to store the value of the expression and nothing else. Without that declaration the expression is a
remark, and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from lakeprune.formats.delta.actions import Protocol
from lakeprune.formats.delta.ladder import EVIDENCE, PARTITION
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Evidence, Rung
from lakeprune.values.names import name_parts
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, TIME_KINDS, DataType, Family, Kind

FORMATS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy-MM", "yyyyMM", "yyyy", "yyyy-MM-dd-HH")
LARGE_UNITS = {"YEAR": 366, "YYYY": 366, "YY": 366, "QUARTER": 92, "MONTH": 31, "MM": 31, "MON": 31, "WEEK": 7}  # days, at most
SMALL_UNITS = dict.fromkeys(("DAY", "DD", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"), 1)
_STAMPS = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})
_PART = r"(?:`(?:[^`]|``)+`|\w+)"
_COLUMN = rf"(?P<column>{_PART}(?:\.{_PART})*)"


class Form(Enum):
    IDENTITY = "identity"
    DATE = "date"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"
    DATE_TRUNC = "date_trunc"
    TRUNC = "trunc"
    DATE_FORMAT = "date_format"
    PREFIX = "prefix"


_FORMS = (
    (Form.DATE, rf"CAST\({_COLUMN} AS DATE\)"),
    (Form.DATE, rf"(?:TO_)?DATE\({_COLUMN}\)"),
    (Form.YEAR, rf"YEAR\({_COLUMN}\)"),
    (Form.MONTH, rf"MONTH\({_COLUMN}\)"),
    (Form.DAY, rf"DAY(?:OFMONTH)?\({_COLUMN}\)"),
    (Form.HOUR, rf"HOUR\({_COLUMN}\)"),
    (Form.DATE_TRUNC, rf"DATE_TRUNC\('(?P<argument>\w+)',{_COLUMN}\)"),
    (Form.TRUNC, rf"TRUNC\({_COLUMN},'(?P<argument>\w+)'\)"),
    (Form.DATE_FORMAT, rf"DATE_FORMAT\({_COLUMN},'(?P<argument>[^']*)'\)"),
    (Form.PREFIX, rf"SUBSTR(?:ING)?\({_COLUMN},[01],(?P<argument>[1-9]\d{{0,8}})\)"),
    (Form.PREFIX, rf"LEFT\({_COLUMN},(?P<argument>[1-9]\d{{0,8}})\)"),
    (Form.IDENTITY, _COLUMN),
)


class Expression(Struct, frozen=True):
    form: Form
    column: tuple[str, ...]
    argument: str = ""


class Generated(Struct, frozen=True):
    """A partition column, and how it is generated."""

    form: Form
    argument: str
    physical: str
    type: DataType


class Source(Struct, frozen=True):
    """A column from which partition columns are generated, by its physical path."""

    physical: tuple[str, ...]
    type: DataType
    columns: tuple[Generated, ...]


def expression_of(text: str) -> Expression | None:
    """What a generation expression does, None when it is of another form.

    >>> expression_of("CAST(`event time` AS DATE)")
    Expression(form=<Form.DATE: 'date'>, column=('event time',), argument='')
    >>> expression_of("date_format( ts , 'yyyy-MM' )"), expression_of("CAST(ts AS STRING)")
    (Expression(form=<Form.DATE_FORMAT: 'date_format'>, column=('ts',), argument='yyyy-MM'), None)
    """
    bare = _without_blanks(text.strip())
    for form, pattern in _FORMS:
        match = re.fullmatch(pattern, bare, re.IGNORECASE)
        if match is not None:
            return Expression(form, name_parts(match["column"]), match.groupdict().get("argument") or "")
    return None


def _without_blanks(text: str) -> str:
    """Without the white space around parentheses and commas, outside of quotes."""
    parts = re.split(r"('[^']*'|`(?:[^`]|``)*`)", text)
    return "".join(part if number % 2 else re.sub(r"\s*([(),.])\s*", r"\1", part) for number, part in enumerate(parts))


def sources_of(schema: Schema, expressions: Mapping[str, str], protocol: Protocol) -> tuple[Source, ...]:
    """The columns that partition columns are generated from; `expressions` by the name of the partition column."""
    if not (4 <= protocol.writer_version <= 6 or "generatedColumns" in protocol.writer_features):
        return ()
    found: dict[tuple[str, ...], tuple[DataType, list[Generated]]] = {}
    for field in schema.fields:
        expression = expression_of(expressions.get(field.name, "")) if field.role is Role.PARTITION else None
        source = None if expression is None else _found(schema, expression.column)
        if expression is None or source is None or not _fits(expression, source[1].type, field.type):
            continue
        columns = found.setdefault(source[0], (source[1].type, []))[1]
        columns.append(Generated(expression.form, expression.argument, field.physical, field.type))
    return tuple(Source(physical, kind, tuple(columns)) for physical, (kind, columns) in found.items())


def evidence_of(sources: tuple[Source, ...]) -> Evidence:
    """Delta's evidence, where partition values also speak about the columns that they are generated from."""
    if not sources:
        return EVIDENCE
    lifted = frozenset(source.physical for source in sources)

    def rungs_of(column: Column) -> frozenset[Rung]:
        known = EVIDENCE.rungs_of(column)
        return known | {PARTITION} if column.role is Role.DATA and column.physical in lifted else known

    return Evidence(EVIDENCE.ladder, rungs_of)


def _found(schema: Schema, path: tuple[str, ...]) -> tuple[tuple[str, ...], Field] | None:
    """The data column with this name, by its physical path; None when there is none or more than one."""
    fields = schema.fields
    physical: tuple[str, ...] = ()
    for depth, name in enumerate(path):
        named = [field for field in fields if field.name.lower() == name.lower()]
        if len(named) != 1 or named[0].role is not Role.DATA:
            return None
        field = named[0]
        physical = (*physical, field.physical)
        if depth == len(path) - 1:
            return physical, field
        fields = field.children
    return None


def _fits(expression: Expression, source: DataType, target: DataType) -> bool:
    """Whether the form is understood for a source of this type, and gives values of that."""
    match expression.form:
        case Form.IDENTITY:
            return source == target and source.family not in (None, Family.BYTES) and source.kind not in FLOATING_KINDS
        case Form.DATE:
            return source.kind in TIME_KINDS and target.kind is Kind.DATE
        case Form.YEAR | Form.MONTH | Form.DAY:
            return source.kind in TIME_KINDS and target.kind in INTEGRAL_KINDS
        case Form.HOUR:
            return source.kind in _STAMPS and target.kind in INTEGRAL_KINDS
        case Form.DATE_TRUNC:
            known = expression.argument.upper() in LARGE_UNITS | SMALL_UNITS
            return known and source.kind in _STAMPS and target.kind is Kind.TIMESTAMP
        case Form.TRUNC:
            return expression.argument.upper() in LARGE_UNITS and source.kind in TIME_KINDS and target.kind is Kind.DATE
        case Form.DATE_FORMAT:
            return expression.argument in FORMATS and source.kind in TIME_KINDS and target.family is Family.TEXT
        case Form.PREFIX:
            return source.family is Family.TEXT and target.family is Family.TEXT
