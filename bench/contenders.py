"""The commands that are measured: lakeprune as users start it, its peers, and the floors no tool of this kind can go below."""

from __future__ import annotations

import sys
from pathlib import Path

BIN = Path(sys.executable).parent

PARTITION_AND_STATS = "day >= '2024-03-01' AND day < '2024-06-01' AND kind = 'order'"
STATS_ONLY = "id >= 10000000 AND id < 90000000 AND kind = 'order'"
PREDICATES = {"partition and statistics": PARTITION_AND_STATS, "statistics only": STATS_ONLY}


def lakeprune(table: Path, predicate: str) -> list[str]:
    return [str(BIN / "lakeprune"), "explain", str(table), "-w", predicate]


def lakeprune_page(table: Path, predicate: str, target: Path) -> list[str]:
    return [*lakeprune(table, predicate), "--format", "html", "--output", str(target)]


def delta_explain(table: Path, predicate: str) -> list[str]:
    return [str(BIN / "delta-explain"), str(table), "-w", predicate]


def deltalake_load(table: Path) -> list[str]:
    """The table opened with its file list loaded, and no question asked."""
    return python("import sys; from deltalake import DeltaTable; DeltaTable(sys.argv[1])", str(table))


def duckdb_decode(table: Path) -> list[str] | None:
    """DuckDB reading path, partitionValues and stats of the checkpoint and nothing else; None without a checkpoint."""
    checkpoints = sorted((table / "_delta_log").glob("*.checkpoint.parquet"))
    if not checkpoints:
        return None
    query = (
        "SELECT sum(strlen(add.path)), sum(cardinality(add.partitionValues)), sum(strlen(add.stats)) "
        "FROM read_parquet(?) WHERE add.path IS NOT NULL"
    )
    return python(f'import sys, duckdb; print(duckdb.execute("{query}", [sys.argv[1]]).fetchall())', str(checkpoints[-1]))


def bare_imports() -> list[str]:
    return python("import duckdb, sqlglot")


def explain_many(table: Path, count: int) -> list[str]:
    """So many different predicates on one table, through Python."""
    code = (
        "import sys, lakeprune\n"
        "predicates = [f\"id >= {n * 1000} AND id < {n * 1000 + 90000} AND kind = 'order'\" for n in range(int(sys.argv[2]))]\n"
        "reports = list(lakeprune.explain_many(sys.argv[1], predicates))\n"
        "assert len(reports) == len(predicates)"
    )
    return python(code, str(table), str(count))


def overlap_depth(files: int) -> list[str]:
    """The overlap depth of so many ranges, each overlapping with most others: a count of pairs would take days."""
    code = (
        "import sys\n"
        "from lakeprune.engines.duckdb.engine import DuckDBEngine\n"
        "from lakeprune.formats.relation import Relation\n"
        "from lakeprune.skipping.ladder import Seen\n"
        "from lakeprune.programs.overlap import overlap_of\n"
        "from lakeprune.predicate.schema import Role\n"
        "from lakeprune.predicate.tree import Column\n"
        "from lakeprune.values.types import LONG\n"
        "column = Seen(Column(('x',), ('x',), LONG, Role.DATA))\n"
        "ranges = f'SELECT hash(i) % 1000000000 AS low, hash(-i) % 1000000000 AS width FROM range({sys.argv[1]}) AS numbers(i)'\n"
        "bounds = 'CAST(low AS BIGINT) AS c0_lo, CAST(low + width AS BIGINT) AS c0_hi, FALSE AS c0_all_null'\n"
        "source = f'(SELECT {bounds}, 10 AS rows, 0 AS deleted FROM ({ranges}) AS ranges)'\n"
        "found = overlap_of(DuckDBEngine(), Relation(source, {column: 0}, {}), column)\n"
        "assert found.files == int(sys.argv[1]) and found.depth > found.files / 10, found"
    )
    return python(code, str(files))


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]
