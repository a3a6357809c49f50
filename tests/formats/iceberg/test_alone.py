"""`pip install lakeprune` alone, without network, explains a local Iceberg folder: only its declared dependencies are there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, requires
from pathlib import Path
from typing import Any

import pytest

from tests.formats.iceberg.tables import Entry, SpecField, column, encoded, write_table
from tools.repository import ROOT

_PROGRAM = """
import socket, sys
def refuse(*_): raise AssertionError("the network was asked")
socket.socket.connect = socket.getaddrinfo = refuse
from lakeprune.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
extras = {"pyiceberg", "fastavro", "cramjam", "zstandard", "pyarrow", "pyspark", "numpy", "pandas"}
print("imported:", sorted(extras & {name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like site-packages after `pip install lakeprune`: links to the dependencies of pyproject.toml and theirs."""
    folder = tmp_path_factory.mktemp("site-packages")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    waiting, seen = [_name(text) for text in declared], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        waiting += [_name(text) for text in requires(name) or () if ";" not in text]
        for top in {Path(file.parts[0]) for file in found.files or () if file.parts[0] != ".."}:
            if not (folder / top).exists() and top.name != "__pycache__":
                (folder / top).symlink_to(str(found.locate_file(top)))
    (folder / "lakeprune").symlink_to(ROOT / "src/lakeprune")
    return folder


def _name(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return match[0]


def run(alone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(alone)!r})\n{_PROGRAM}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=alone, check=False)


def test_the_environment_has_no_extra(alone: Path) -> None:
    found = {path.name for path in alone.iterdir()}
    assert {"duckdb", "msgspec", "obstore", "sqlglot"} <= found
    assert not found & {"pyiceberg", "fastavro", "cramjam", "zstandard", "pyarrow", "pyspark", "numpy"}


def test_a_local_folder_is_explained_with_the_declared_dependencies_alone(alone: Path, tmp_path: Path) -> None:
    metrics: list[dict[str, dict[int, Any]]] = [
        {
            "lower_bounds": {1: encoded(n * 10, "long")},
            "upper_bounds": {1: encoded(n * 10 + 9, "long")},
            "null_value_counts": {1: 0},
        }
        for n in range(4)
    ]
    spec = [SpecField(2, "bucket[4]", "s_bucket", 1000, "int")]
    entries = [Entry(f"f{n}", 10, tuple={1000: n}, metrics=each) for n, each in enumerate(metrics)]
    write_table(tmp_path, [column(1, "id", "long"), column(2, "s", "string")], entries, {0: spec})
    done = run(alone, "explain", str(tmp_path), "-w", "id >= 20", "--verbose", "--explain-why")
    assert (done.returncode, done.stderr) == (0, "imported: []\n")
    assert "Total reduction: 4 -> 2 files" in done.stdout


def test_what_needs_the_extra_names_it(alone: Path) -> None:
    done = run(alone, "explain", "db.t", "--catalog", "prod")
    assert done.returncode == 2
    assert "fix:   pip install '.[iceberg]' in a checkout of lakeprune" in done.stderr  # there is no metadata of it here
