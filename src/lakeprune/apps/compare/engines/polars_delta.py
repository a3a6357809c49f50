"""Polars: `scan_delta`, asked in SQL."""

from __future__ import annotations

import re
from importlib.util import find_spec

from lakeprune.apps.compare.engines.ran import Asked, Ran


def run(asked: Asked) -> Ran:
    import polars as pl

    if find_spec("deltalake") is None:
        return Ran(pl.__version__, missing="its Delta tables come from deltalake")
    frame = pl.SQLContext(t=pl.scan_delta(asked.location), eager=False).execute(asked.query)
    rows = frame.collect().height
    return Ran(pl.__version__, rows, tuple(dict.fromkeys(re.findall(r"SELECTION: (.*)", frame.explain()))))
