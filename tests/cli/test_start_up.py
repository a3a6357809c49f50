"""A short command pays for nothing that it does not need: what it imports is most of what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.formats.iceberg.tables import Entry, column, write_table

# typing_extensions imports inspect; a name that cannot be imported is listed too.
_UNWANTED = ("inspect", "tokenize", "shutil", "sqlglot", "duckdb", "pyarrow", "pyiceberg", "lakeprune.apps.signature")
_COMMAND = "from lakeprune.cli.main import entry_point; entry_point()"


def imported(*arguments: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", "-c", _COMMAND, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "src"})
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_explaining_an_iceberg_table_imports_no_more_than_it_needs(tmp_path: Path) -> None:
    write_table(tmp_path, [column(1, "x", "long")], [Entry("f", 1)])
    found = imported("explain", str(tmp_path), "-w", "x = 5")
    assert {"msgspec", "_duckdb", "lakeprune.formats.iceberg.entries"} <= found
    assert found.isdisjoint(_UNWANTED), found & set(_UNWANTED)


def test_the_version_needs_next_to_nothing() -> None:
    assert imported("--version").isdisjoint((*_UNWANTED, "msgspec", "_duckdb", "argparse"))


def test_what_was_hidden_from_msgspec_can_be_imported_afterwards() -> None:
    code = "from lakeprune.cli.main import _import_msgspec_alone as alone; alone(); import typing_extensions; print('fine')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "fine\n"
