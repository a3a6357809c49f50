"""The embedded engine that tests share: awake from the first test to the last (tests/conftest.py), closed before Python exits.

DuckDB lists every connection that is still open when Python exits as a leak, so an engine of a test either is this one or is
used inside `with engine.awake()`.
"""

from __future__ import annotations

from lakeprune.engines.duckdb.engine import DuckDBEngine

ENGINE = DuckDBEngine()
