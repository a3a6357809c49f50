"""What lakeprune, deltalake and delta-explain keep of one table for one predicate; None where a peer does not accept it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from deltalake import DeltaTable

import lakeprune

DELTA_EXPLAIN = Path(sys.executable).with_name("delta-explain")
# Comparisons that both peers read, on the columns of the tables by which the three are compared.
PREDICATES = (
    "i = 25", "i > 35", "i >= 30 AND i < 40", "i < 0", "i IN (5, 45)", "i NOT IN (1)", "i BETWEEN 12 AND 18",
    "NOT (i > 15)", "i != 3", "s = 'k25'", "s < 'k2'", "s >= 'k4'", "s IN ('k11', 'zz')", "r < 10", "r = 25.5",
    "r BETWEEN 20 AND 30", "d = 12.34", "d > 40", "p = 'a'", "p != 'a'", "p IN ('a', 'b')", "p = 'a' AND i > 15",
    "p = 'b' OR i < 5", "n IS NULL", "n IS NOT NULL", "n > 100", "i > 5 AND i < 3", "t < '2024-01-03'",
    "t >= '2024-01-04'", "q = true", "NOT q", "(i < 10 OR i > 40) AND p = 'a'",
    # floats, on which a NaN that no statistic shows would decide
    "r > 100", "r >= 50.0", "NOT (r < 100)", "r > 20 AND i < 200", "r != 25.5", "r NOT BETWEEN 10 AND 20", "r > 8 OR i < 0",
    "f > 40", "f >= 44.5", "NOT (f <= 20)", "f < 3", "f = 25.5", "f > 8 AND r > 8", "f <> 3", "r > 30 AND r < 45",
    "NOT (r BETWEEN 10 AND 40)", "r > 100 OR f > 100", "p = 'a' AND r > 33", "r IS NULL", "r IS NOT NULL AND f > 49",
)  # fmt: skip


def kept_by_us(table: Path, where: str, **options: Any) -> set[str]:
    report = lakeprune.explain(table, where, **options)
    return {unquote(file.path) for file in report.files if file.verdict.value != "DROP"}


def kept_by_deltalake(table: Path, where: str) -> set[str] | None:
    try:
        uris = DeltaTable(table).file_uris(file_pruning_predicate=where)
    except Exception:  # noqa: BLE001  # deltalake raises it bare for what it cannot cast
        return None
    return {unquote(uri.removeprefix(str(table)).lstrip("/")) for uri in uris}


def kept_by_delta_explain(table: Path, where: str) -> set[str] | None:
    command = [str(DELTA_EXPLAIN), str(table), "--where", where, "--format", "json", "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    return {unquote(file["path"]) for file in json.loads(done.stdout)["files"] if file["kept"]}
