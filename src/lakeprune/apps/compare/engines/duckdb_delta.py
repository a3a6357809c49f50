"""DuckDB with its extension for Delta, which is loaded where it is installed and never fetched."""

from __future__ import annotations

import re

from lakeprune.apps.compare.engines.ran import Asked, Ran


def run(asked: Asked) -> Ran:
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}
    with duckdb.connect(config=settings) as connection:
        installed = connection.execute("SELECT installed FROM duckdb_extensions() WHERE extension_name = 'delta'").fetchone()
        if not installed or not installed[0]:
            return Ran(duckdb.__version__, missing="DuckDB's extension for Delta is not installed")
        connection.execute("LOAD delta")
        connection.execute(f"CREATE VIEW t AS SELECT * FROM delta_scan('{asked.location.replace(chr(39), chr(39) * 2)}')")
        rows = connection.sql(asked.query).to_arrow_table().num_rows
        (_, plan) = connection.execute(f"EXPLAIN {asked.query}").fetchall()[0]
    return Ran(duckdb.__version__, rows, tuple(re.findall(r"Filters:\s*(.*?)\s*│", plan)))
