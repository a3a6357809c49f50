"""delta-rs: its own query engine over the table."""

from __future__ import annotations

import re

from lakeprune.apps.compare.engines.ran import Asked, Ran


def run(asked: Asked) -> Ran:
    import deltalake
    import pyarrow as pa

    builder = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(asked.location))
    rows = pa.table(builder.execute(asked.query)).num_rows
    plan = "\n".join(pa.table(builder.execute(f"EXPLAIN {asked.query}")).column("plan").to_pylist())
    return Ran(deltalake.__version__, rows, filters_of(plan))


def filters_of(plan: str) -> tuple[str, ...]:
    """The filters that a plan of DataFusion gives to its scans.

    >>> filters_of("TableScan: t projection=[id], partial_filters=[t.id = Int64(3)]")
    ('t.id = Int64(3)',)
    """
    found = re.findall(r"(?:partial|full)_filters=\[(.*?)\](?=, (?:partial|full)_filters=|$)", plan, re.MULTILINE)
    return tuple(dict.fromkeys(found))
