"""Step 3: one Spark job over the undecided files, and over no other: how many live rows each has, and how many match.

In: a target, a condition, candidates. Out: (live, matching) by the key of the file. Only the condition's columns are read.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as sql

from lakeprune.apps.statements.candidates import keys_of
from lakeprune.apps.statements.model import Candidate
from lakeprune.apps.statements.spark_target import Target
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.files import FILE, active, with_file


def count_rows(target: Target, condition: str, files: Sequence[Candidate]) -> dict[str, tuple[int, int]]:
    """The numbers of every file that has a live row."""
    if not files:
        return {}
    with active(target.spark), row_errors(target.location, condition):
        judged = with_file(target.rows_of(files)).selectExpr(f"{FILE} AS url", f"({condition}) AS matches")
        counted = judged.groupBy("url").agg(sql.count(sql.lit(1)), sql.count_if("matches")).collect()
    keys = keys_of(target.planner, [row[0] for row in counted])
    return {keys[url]: (int(live), int(matching)) for url, live, matching in counted}
