"""The same tables through delta-explain and through us: same names, same types, same numbers where semantics agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from tests.builders import delta

PEER = Path(sys.executable).parent / "delta-explain"
PREDICATES = [
    None,
    "country = 'DE' AND age > 40",
    "country = 'DE'",
    "age > 40",
    "country = 'DE' OR age > 60",
    "country IN ('DE', 'US') AND age BETWEEN 30 AND 39 AND name IS NULL",
    "country LIKE '%E' AND age < 30",
]
OURS_DIFFERS = {"elapsed_ms", "schema_version", "tool_version"}  # ours by definition
OURS_SAYS_MORE = {"message"}  # words for readers


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("peer")
    gap = [
        delta.protocol(),
        delta.metadata({"country": "string", "age": "integer", "name": "string"}, ["country"]),
        delta.add("a.parquet", partition={"country": "DE"}, stats=delta.statistics(10, age=(1, 9, 0), name=("a", "b", 0))),
        delta.add("b.parquet", partition={"country": "DE"}, stats=delta.statistics(10, age=(1, 9, None))),
        delta.add("c.parquet", partition={"country": "US"}),
    ]
    return {
        "users": delta.users(home / "users"),
        "users-flat": delta.users_flat(home / "users-flat"),
        "gap": delta.write_log(home / "gap", [gap]),
        "empty": delta.write_log(home / "empty", [gap[:2]]),
    }


CASES = [
    (name, where)
    for name in ("users", "users-flat", "gap", "empty")
    for where in PREDICATES
    # On data columns a pattern that begins with a wildcard is stats-safe here and unsplittable there.
    if not (name == "users-flat" and where is not None and "LIKE" in where)
]


@pytest.mark.parametrize(("name", "where"), CASES)
def test_every_field_of_the_contract_is_there_with_the_same_meaning(
    tables: dict[str, Path], name: str, where: str | None
) -> None:
    table = tables[name]
    where_flag = [] if where is None else ["-w", where]
    command = [str(PEER), str(table), *where_flag, "-v", "--format", "json", "--assert-stats"]
    peer = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)
    ours = json.loads(lakeprune.explain(str(table), where, assert_stats=True).to_json(verbose=True))
    for document in (peer, ours):
        document["files"].sort(key=lambda file: file["path"])
        if name == "gap" and where is not None:
            del document["assertions"], document["result"]  # ours asks for the predicate's columns, not for any statistics
        if where is not None and " OR " in where:
            del document["analysis"]["stats_coverage"]  # the peer does not tell what a mixed OR needs
    assert differences(peer, ours) == []


def differences(peer: Any, ours: Any, path: str = "") -> list[str]:
    """Where our document lacks a field of the peer's, or gives it another type or value."""
    key = path.rsplit(".", 1)[-1]
    if key in OURS_SAYS_MORE:
        return []
    if isinstance(peer, dict) and isinstance(ours, dict):
        missing = [f"{path}.{name} is missing" for name in peer if name not in ours]
        return missing + [d for name in peer if name in ours for d in differences(peer[name], ours[name], f"{path}.{name}")]
    if isinstance(peer, list) and isinstance(ours, list):
        if len(peer) != len(ours):
            return [f"{path}: {len(peer)} entries there, {len(ours)} here"]
        return [d for i, (a, b) in enumerate(zip(peer, ours, strict=True)) for d in differences(a, b, f"{path}.{i}")]
    if type(peer) is not type(ours):
        return [f"{path}: {peer!r} there, {ours!r} here"]
    if key in OURS_DIFFERS:
        return []
    same = abs(peer - ours) < 0.0001 if isinstance(peer, float) else peer == ours
    return [] if same else [f"{path}: {peer!r} there, {ours!r} here"]
