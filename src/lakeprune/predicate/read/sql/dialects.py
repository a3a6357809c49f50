"""A predicate in the SQL of other engines, as near as a translator brings it.

In: a predicate in Spark's SQL, the names of the table's columns. Out: a query in another dialect. Good for asking engines the
same question; whoever needs the same answer compares rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp


def query_in(dialect: str, predicate: str, columns: Sequence[str]) -> str:
    """All rows of `t` that satisfy the predicate, every name quoted as the table has it.

    >>> query_in("duckdb", "Day >= DATE '2024-01-01'", ["day"])
    'SELECT * FROM t WHERE "day" >= CAST(\\'2024-01-01\\' AS DATE)'
    """
    tree = sqlglot.parse_one(f"SELECT * FROM t WHERE {predicate}", read="spark")
    own = {name.lower(): name for name in columns}
    for column in tree.find_all(exp.Column):
        first = column.parts[0]
        first.replace(exp.to_identifier(own.get(first.name.lower(), first.name), quoted=True))
    return tree.sql(dialect=dialect)
