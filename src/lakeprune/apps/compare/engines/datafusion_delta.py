"""DataFusion over the table provider that delta-rs gives it."""

from __future__ import annotations

from importlib.util import find_spec

from lakeprune.apps.compare.engines.delta_rs import filters_of
from lakeprune.apps.compare.engines.ran import Asked, Ran


def run(asked: Asked) -> Ran:
    import datafusion

    if find_spec("deltalake") is None:
        return Ran(datafusion.__version__, missing="its Delta tables come from deltalake")
    from deltalake import DeltaTable

    context = datafusion.SessionContext()
    context.register_table("t", DeltaTable(asked.location))
    rows = sum(batch.num_rows for batch in context.sql(asked.query).collect())
    plan = "\n".join(context.sql(f"EXPLAIN {asked.query}").to_pydict()["plan"])
    return Ran(datafusion.__version__, rows, filters_of(plan))
