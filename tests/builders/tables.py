"""Planners over tables made of Python rows, for applications that list files."""

from __future__ import annotations

from typing import Any

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Engine
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.programs.patterns import Evaluation
from tests.builders.snapshot import RowsSnapshot


class ListedSnapshot(RowsSnapshot):
    """Its paths are compared as they are."""

    def file_key(self, engine: Engine, path: str) -> str:  # noqa: ARG002
        return path


def planner_over(table: RowsSnapshot, **session: Any) -> Planner:
    profile, _ = profile_of(**session)
    return Planner(Evaluation(DuckDBEngine(), table, profile))
