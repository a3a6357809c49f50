"""The application behind `compare`: every engine reads the same rows, and the kernel counts the files it opens.

In: a table in a directory of this machine, a predicate, names of engines. Out: a `Comparison`. Each engine runs in a process of
its own: what it does to itself is a row of the answer, not the end of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec

import msgspec

from lakeprune.apps.compare.engines.ran import Asked, Ran
from lakeprune.apps.compare.model import ClauseRow, Comparison, EngineRow, Status
from lakeprune.apps.compare.opens import Opens
from lakeprune.errors import UsageError

# engine -> the module it needs, how it is installed, the dialect of its SQL
ENGINES: dict[str, tuple[str, str, str]] = {
    "lakeprune": ("pyarrow", "pip install pyarrow", "spark"),
    "spark": ("pyspark", "pip install pyspark", "spark"),
    "delta-rs": ("deltalake", "pip install deltalake", "postgres"),
    "datafusion": ("datafusion", "pip install datafusion deltalake", "postgres"),
    "duckdb": ("duckdb", "pip install duckdb, then INSTALL delta in DuckDB", "duckdb"),
    "polars": ("polars", "pip install polars deltalake", "postgres"),
}
_SLOWEST = 600  # seconds that one engine may take
_LONGEST = 300


def compare(table: str | os.PathLike[str], where: str, *, engines: Sequence[str] = tuple(ENGINES)) -> Comparison:
    """What each of these engines opens of a Delta table for a predicate."""
    from lakeprune.apps.scan.plan import plan
    from lakeprune.predicate.read.sql.dialects import query_in

    started = time.monotonic()
    table = os.fspath(table) if isinstance(table, os.PathLike) else table
    if not isinstance(where, str):
        raise UsageError("LP218", f"the predicate is of type {type(where).__name__}", fix="give an SQL condition as text")
    _check(table, engines)
    found = plan(table, where)
    assert found.planner is not None, "a plan that was made here has its table"
    facts = found.planner.facts
    if facts.format != "delta":
        what = "engines are compared on Delta tables, and this is not one"
        raise UsageError("LP290", what, where=f"{facts.title}: {table}")
    every = plan(table).files.column("uri").to_pylist()
    names = [field.name for field in facts.schema.fields]
    rows = []
    with Opens(every) as opens:
        for engine in engines:
            asked = Asked(facts.location, where, query_in(ENGINES[engine][2], where, names))
            opens.so_far()
            rows.append(_row(engine, asked, opens))
    return Comparison(
        table=table,
        version=facts.version,
        predicate=where,
        files_total=found.totals.files_total,
        files_needed=found.totals.files_scanned,
        clauses=tuple(ClauseRow(clause.text, clause.pushdown.value) for clause in found.clauses),
        engines=tuple(rows),
        elapsed_ms=round(1000 * (time.monotonic() - started)),
    )


def _check(table: str, engines: Sequence[str]) -> None:
    if isinstance(engines, str):
        raise UsageError("LP292", f"the engines are {engines!r}", fix=f"give a list of names, of {', '.join(ENGINES)}")
    if unknown := [engine for engine in engines if engine not in ENGINES]:
        raise UsageError("LP292", f"there is no engine `{unknown[0]}`", fix=f"the engines are: {', '.join(ENGINES)}")
    if "://" in table and not table.startswith("file:"):
        fix = "copy the table to a directory of this machine"
        raise UsageError("LP290", "engines are compared on tables of this machine", where=table, fix=fix)


def _row(engine: str, asked: Asked, opens: Opens) -> EngineRow:
    module, install, _ = ENGINES[engine]
    if find_spec(module) is None:
        return EngineRow(engine, Status.MISSING, message=f"not installed: {install}")
    command = [sys.executable, "-m", "lakeprune.apps.compare.worker", engine]
    try:
        done = subprocess.run(  # noqa: S603  # a fixed command; the question goes through its input
            command, input=msgspec.json.encode(asked), capture_output=True, timeout=_SLOWEST, check=False
        )
    except subprocess.TimeoutExpired:
        return EngineRow(engine, Status.FAILED, message=f"took more than {_SLOWEST} seconds")
    opened = len(opens.so_far())
    if done.returncode:
        return EngineRow(engine, Status.FAILED, message=_last_words(done.stderr.decode(errors="replace")))
    ran = msgspec.json.decode(done.stdout.splitlines()[-1], type=Ran)
    if ran.missing is not None:
        return EngineRow(engine, Status.MISSING, ran.version, message=f"{ran.missing}: {install}")
    return EngineRow(engine, Status.RAN, ran.version, opened, ran.rows, ran.pushed)


def _last_words(text: str) -> str:
    """The line that names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "leaked" not in line]
    named = [line for line in lines if "Error" in line or "Exception" in line or line.startswith("error[")]
    return (named or lines or ["ended without a word"])[-1][:_LONGEST]
