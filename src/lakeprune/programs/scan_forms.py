"""The files of a scan in the two forms in which they leave the engine: Arrow columns, and a line of JSON each.

In: a `ScanSql`. Out: queries. Both forms have the same fields, and `sql_of_lines` reads the second back into the first; in JSON
the values of partitions and bounds are text, so that no digit and no type is lost on the way.
"""

from __future__ import annotations

from typing import Any

from lakeprune.engines.dialect import Dialect
from lakeprune.predicate.tree import Column
from lakeprune.programs.scan import Asked, ScanSql, bound_type
from lakeprune.programs.typed_sql import as_text, from_text

_VERDICT = "CASE WHEN is_full THEN 'full' ELSE 'partial' END"
_NUMBERS = {"path": "STRING", "uri": "STRING", "size": "BIGINT", "modified": "BIGINT", "rows": "BIGINT", "verdict": "STRING"}


def arrow_sql(dialect: Dialect, scan: ScanSql) -> str:
    """Columns as apps/scan/model.py lists them; `partition` and `stats` are left out where they would have no field."""
    partition = [(name_of(column), f"p{k}") for k, column in enumerate(scan.asked.partitions)]
    stats = [
        (name_of(column), dialect.struct([("min", f"lo{k}"), ("max", f"hi{k}"), ("nulls", f"nulls{k}")]))
        for k, column in enumerate(scan.asked.statistics)
    ]
    items = [f"{value} AS {dialect.identifier(name)}" for name, value in _fields(dialect, scan, partition, stats)]
    return f"SELECT {', '.join(items)} FROM {scan.source}{scan.order}"


def lines_sql(dialect: Dialect, scan: ScanSql) -> str:
    """One column: a JSON object per file."""
    partition = [(name_of(column), as_text(dialect, f"p{k}", column.type)) for k, column in enumerate(scan.asked.partitions)]
    stats = []
    for k, column in enumerate(scan.asked.statistics):
        low, high = (as_text(dialect, end, bound_type(column.type)) for end in (f"lo{k}", f"hi{k}"))
        stats.append((name_of(column), dialect.struct([("min", low), ("max", high), ("nulls", f"nulls{k}")])))
    line = dialect.json_of(dialect.struct(_fields(dialect, scan, partition, stats)))
    return f"SELECT {line} FROM {scan.source}{scan.order}"


def sql_of_lines(dialect: Dialect, lines: str, asked: Asked) -> str:
    """The Arrow form of lines, which are the column `line` of a FROM item and keep the order of its column `number`."""
    shape: dict[str, Any] = {**_NUMBERS, "residual": "INTEGER[]", "vector": "STRING", "group": "INTEGER"}
    if asked.partitions:
        shape["partition"] = {name_of(column): "STRING" for column in asked.partitions}
    if asked.statistics:
        shape["stats"] = {name_of(each): {"min": "STRING", "max": "STRING", "nulls": "BIGINT"} for each in asked.statistics}

    def part(*path: str) -> str:
        return dialect.field("file", path)

    partition = [
        (name_of(column), from_text(dialect, part("partition", name_of(column)), column.type)) for column in asked.partitions
    ]
    stats = []
    for column in asked.statistics:
        name, kind = name_of(column), bound_type(column.type)
        ends = [(end, from_text(dialect, part("stats", name, end), kind)) for end in ("min", "max")]
        stats.append((name, dialect.struct([*ends, ("nulls", part("stats", name, "nulls"))])))
    fields = [(name, part(name)) for name in (*_NUMBERS, "residual")]
    fields += [("partition", dialect.struct(partition))] * bool(partition)
    fields += [("vector", part("vector")), ("group", part("group"))]
    fields += [("stats", dialect.struct(stats))] * bool(stats)
    items = ", ".join(f"{value} AS {dialect.identifier(name)}" for name, value in fields)
    return f"SELECT {items} FROM (SELECT number, {dialect.parse_json('line', shape)} AS file FROM {lines}) ORDER BY number"


def name_of(column: Column) -> str:
    return ".".join(column.path)


def _fields(
    dialect: Dialect, scan: ScanSql, partition: list[tuple[str, str]], stats: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    residual = [f"CASE WHEN n{k} THEN {k} END" for k in range(len(scan.plan.positions))]
    fields = [(name, name) for name in ("path", "uri", "size", "modified")]
    fields += [("rows", "live"), ("verdict", _VERDICT), ("residual", dialect.list_without_nulls(residual, "INTEGER"))]
    fields += [("partition", dialect.struct(partition))] * bool(partition)
    fields += [("vector", "vector"), ("group", "file_group")]
    fields += [("stats", dialect.struct(stats))] * bool(stats)
    return fields
