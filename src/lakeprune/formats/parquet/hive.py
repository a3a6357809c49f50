"""Partition values from the names of folders, as Hive writes them: `year=2024/city=New%20York/part-0.parquet`.

In: paths below the root. Out: the columns, and per path the text of each value. A name that not every reader understands alike
gives no value: the file counts as one that does not record the column.

    name                           value
    k=__HIVE_DEFAULT_PARTITION__   NULL
    k=a%2Fb, k=a b                 a/b, a b          (decoded once)
    k=%C3%A9                       unknown           (UTF-8 to some readers, two characters to Spark)
    k=                             unknown           ('' or NULL)
    k=1/k=2                        unknown

Types are those that Spark infers from all values of a column: whole numbers, dates. Other numbers and times
Spark takes for such, and other readers for text: `k > '9'` is not the same to both, so that nothing is compared with
them (T97).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from lakeprune.engines.dialect import Dialect
from lakeprune.predicate.schema import Field, Role
from lakeprune.values.time.calendar import days_of_iso
from lakeprune.values.types import DATE, INT, INTEGER_RANGES, LONG, STRING, DataType, Kind, Scalar

NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
# More than Spark takes for a number, and for a time.
_NUMBER = re.compile(
    r"\s*[+-]?(0[xX][0-9a-fA-F.]+([pP][+-]?\d+)?|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|NaN|Infinity)[dDfF]?\s*", re.ASCII
)
_TIME = re.compile(r"\s*[+-]?\d{4,7}-\d{1,2}(-\d{1,2})?([ T].*)?", re.ASCII)
_CLOCK = re.compile(r"\d[ T]", re.ASCII)
_AMBIGUOUS = "Spark takes the values of its folders for numbers or times, others for text"

Texts = Mapping[str, str | None]  # of one file: column -> text of its value; a column that is not there is unknown


def texts_of(path: str) -> dict[str, str | None]:
    """The partition values in a file's path.

    >>> texts_of("year=2024/city=New%20York/a.parquet"), texts_of("k=__HIVE_DEFAULT_PARTITION__/e=/a"), texts_of("k=1/k=2/a")
    ({'year': '2024', 'city': 'New York'}, {'k': None}, {})
    """
    found: dict[str, str | None] = {}
    unknown = set()
    for folder in path.split("/")[:-1]:
        name, separator, text = (_decoded(part) for part in folder.partition("="))
        if not separator or not name:
            continue
        if name in found or not text:
            unknown.add(name)
        elif text is not None:
            found[name] = None if text == NULL else text
    return {name: text for name, text in found.items() if name not in unknown}


def partition_fields(files: Iterable[Texts]) -> tuple[Field, ...]:
    """The partition columns, typed by all their values: integer, date, else text; not compared where that is not certain."""
    texts: dict[str, set[str]] = {}
    for each in files:
        for name, text in each.items():
            texts.setdefault(name, set()).update(() if text is None else (text,))
    return tuple(_field(name, values) for name, values in texts.items())


def value_of(text: str | None, data_type: DataType) -> Scalar:
    """The value that the text of a partition column stands for.

    >>> value_of("03", INT), value_of("1970-01-02", DATE), value_of(None, STRING)
    (3, 1, None)
    """
    if text is None or data_type.kind is Kind.STRING:
        return text
    return days_of_iso(text) if data_type.kind is Kind.DATE else int(text)


def value_sql(dialect: Dialect, text: str, data_type: DataType) -> str:
    """The same in SQL."""
    if data_type.kind is Kind.STRING:
        return text
    return dialect.days_of_date(text) if data_type.kind is Kind.DATE else dialect.try_cast(text, "BIGINT")


def without_shadowed(fields: Sequence[Field], partitions: Sequence[Field]) -> tuple[Field, ...]:
    """The fields of the files that no folder gives a value: where both do, readers take the folder's."""
    names = {field.name.lower() for field in partitions}
    return tuple(field for field in fields if field.name.lower() not in names)


def _decoded(text: str) -> str | None:
    """The text with its escapes decoded, None when readers decode it differently."""
    if any(int(code, 16) >= 0x80 for code in _ESCAPE.findall(text)):
        return None
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _field(name: str, texts: set[str]) -> Field:
    kind = _type_of(texts)
    unusable = _AMBIGUOUS if kind is STRING and texts and _is_ambiguous(texts) else None
    return Field(name, name, kind, Role.PARTITION, statistics_unusable=unusable)


def _is_ambiguous(texts: set[str]) -> bool:
    if all(_NUMBER.fullmatch(text) for text in texts):
        return True
    # Dates beside times are times as well; dates alone, in short or not, are not in doubt.
    return all(_TIME.fullmatch(text) for text in texts) and any(_CLOCK.search(text) for text in texts)


def _type_of(texts: set[str]) -> DataType:
    if texts and all(_INTEGER.fullmatch(text) for text in texts):
        low, high = INTEGER_RANGES[Kind.INT]
        return INT if all(low <= int(text) <= high for text in texts) else LONG
    return DATE if texts and all(days_of_iso(text) is not None for text in texts) else STRING
