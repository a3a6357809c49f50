"""Rows of tables that others wrote: every live file read by DuckDB under logical names, partition values from the log."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb

from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.report.model import FileReport
from lakeprune.values.types import Kind
from tests.generator.columns import DUCKDB, ColumnSpec
from tests.generator.literals import duckdb_text
from tests.generator.values import YEAR_1, YEAR_9999
from tests.soundness.truth import Seen


class Unreadable(Exception):
    """The rows cannot be had without a reader of our own."""


class GoldenRows:
    """The rows of one table, with the number of their file."""

    def __init__(self, root: Path, schema: Schema, files: list[FileReport]) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("SET TimeZone = 'UTC'")
        self._files = len(files)
        fields = [field for field in schema.fields if _name(field) is not None]
        if not fields:
            raise Unreadable("no column of a plain type")
        selects = [self._select(root, fields, file, number) for number, file in enumerate(files)]
        if not selects:
            raise Unreadable("no files")
        self._connection.execute("CREATE TABLE rows AS " + " UNION ALL ".join(selects))
        self.columns = tuple(self._spec(field) for field in fields)

    def seen(self, predicate: str) -> list[Seen] | None:
        asked = "coalesce(bool_or(p), FALSE), coalesce(bool_or(NOT p), FALSE), bool_or(p IS NULL)"
        try:
            rows = self._connection.execute(
                f"SELECT fid, {asked} FROM (SELECT fid, ({predicate}) AS p FROM rows) GROUP BY fid"
            ).fetchall()
        except duckdb.Error:
            return None
        found = [Seen()] * self._files
        for fid, *flags in rows:
            found[fid] = Seen(*flags)
        return found

    def _select(self, root: Path, fields: list[Field], file: FileReport, number: int) -> str:
        path = root / unquote(file.path)
        if not path.exists():
            raise Unreadable(f"{file.path} is not beside the log")
        source = f"read_parquet({duckdb_text(str(path))})"
        present = {row[0] for row in self._connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        picked = [f"{number} AS fid"]
        for field in fields:
            type_name = DUCKDB[_name(field) or ""]
            if field.role is Role.PARTITION:
                text = file.partition_values.get(field.name)
                value = "NULL" if text in (None, "") else duckdb_text(text or "")
            else:
                value = _quoted(field.physical) if field.physical in present else "NULL"
            picked.append(f"CAST({value} AS {type_name}) AS {_quoted(field.name)}")
        return f"SELECT {', '.join(picked)} FROM {source}"

    def _spec(self, field: Field) -> ColumnSpec:
        name = _name(field) or ""
        value = _quoted(field.name)
        if field.type.kind is Kind.DATE:
            value = f"({value} - DATE '1970-01-01')"
        elif field.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
            value = f"epoch_us({value})"
        sql = f"SELECT DISTINCT {value} FROM rows WHERE {_quoted(field.name)} IS NOT NULL ORDER BY 1 LIMIT 12"
        values = [row[0] for row in self._connection.execute(sql).fetchall()]
        pool = tuple(v for v in values if _is_usable(v, name))
        return ColumnSpec((field.name,), (field.physical,), name, field.role is Role.PARTITION, pool)


def _name(field: Field) -> str | None:
    """Our name of its type, None when the generator does not know the type."""
    return str(field.type) if field.type.family is not None and str(field.type) in DUCKDB else None


def _is_usable(value: Any, type_: str) -> bool:
    if type_ == "date":
        return bool(YEAR_1 <= value <= YEAR_9999)
    if type_ in ("timestamp", "timestamp_ntz"):
        return bool(YEAR_1 < value // 86_400_000_000 < YEAR_9999)
    return not (isinstance(value, float) and math.isnan(value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
