"""How many rows of each file are deleted, in Spark SQL: what deletes.py finds in this process, as joins on the executors.

In: live entries of data and delete files. Out: a FROM item with the data files and `deleted`, NULL when deletes apply whose rows
are not counted. The rules are those of deletes.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeprune.engines.engine import Engine

_EQUALITY = "content = 2"
_VECTOR = "content <> 2 AND lower(file_format) = 'puffin' AND referenced_data_file IS NOT NULL"
_BY_PATH = "content <> 2 AND lower(file_format) <> 'puffin' AND referenced_data_file IS NOT NULL"


def deleted_rows(engine: Engine, live: str, fields: Mapping[int, str], unpartitioned: Sequence[int]) -> str:
    """The data files among the live entries, each with its deleted rows."""
    everywhere = f"spec_id IN ({', '.join(map(str, unpartitioned))})" if unpartitioned else "FALSE"
    keyed = f"(SELECT *, {_key(fields)} AS tuple FROM {live})"
    # Kept: it is joined in five ways, and each would read every manifest again.
    names = "content, file_format, referenced_data_file, sequence_number, record_count, spec_id, tuple"
    deletes = engine.kept(f"SELECT {names} FROM {keyed} WHERE content > 0")

    def newest(where: str, by: str) -> str:
        return f"(SELECT {by}, max(sequence_number) AS newest FROM {deletes} WHERE {where} GROUP BY {by})"

    vectors = (
        "(SELECT referenced_data_file, collect_list(struct(sequence_number AS newest, record_count AS rows)) AS vectors "
        f"FROM {deletes} WHERE {_VECTOR} GROUP BY referenced_data_file)"
    )
    joins = [
        f"LEFT JOIN {vectors} AS v ON v.referenced_data_file = f.file_path",
        f"LEFT JOIN {newest(_BY_PATH, 'referenced_data_file')} AS b ON b.referenced_data_file = f.file_path",
        f"LEFT JOIN {newest('content = 1 AND referenced_data_file IS NULL', 'tuple')} AS t ON t.tuple = f.tuple",
        f"LEFT JOIN {newest(f'{_EQUALITY} AND NOT ({everywhere})', 'tuple')} AS e ON e.tuple = f.tuple",
        f"CROSS JOIN (SELECT max(sequence_number) AS newest FROM {deletes} WHERE {_EQUALITY} AND {everywhere}) AS g",
    ]
    own = "f.sequence_number"
    applying = f"filter(v.vectors, each -> each.newest >= {own})"
    deleted = (
        f"CASE WHEN {own} < greatest(g.newest, e.newest) THEN NULL "
        f"WHEN size({applying}) = 1 AND {applying}[0].rows >= 0 THEN {applying}[0].rows "
        f"WHEN size({applying}) > 0 OR {own} <= greatest(b.newest, t.newest) THEN NULL ELSE 0 END"
    )
    files = f"(SELECT * FROM {keyed} WHERE coalesce(content, 0) = 0) AS f"
    return f"(SELECT f.*, CAST({deleted} AS BIGINT) AS deleted FROM {files} {' '.join(joins)})"


def _key(fields: Mapping[int, str]) -> str:
    """Text that is equal for two files of one spec whose tuples are the same bit by bit; every NaN is the same (T88).

    Text because Spark takes -0.0 and 0.0 for one value when it joins.
    """
    parts = ["CAST(spec_id AS STRING)"]
    for number, kind in fields.items():
        value = f"hex(p{number})" if kind == "binary" else f"hex(CAST(CAST(p{number} AS STRING) AS BINARY))"
        parts.append(f"coalesce(concat('=', {value}), '')")
    return f"concat_ws(',', {', '.join(parts)})"
