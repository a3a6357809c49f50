"""A short command pays for nothing that it does not need: what it imports is most of what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats.iceberg.tables import Entry, column, write_table

# typing_extensions imports inspect; a name that cannot be imported is listed too.
_UNWANTED = (
    "inspect", "tokenize", "shutil", "sqlglot", "duckdb", "pyarrow", "pyiceberg", "lakeprune.apps.signature",
    "json", "urllib.parse", "ipaddress", "platform", "gettext", "locale", "textwrap", "msgspec.inspect",
)  # fmt: skip
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


_AFTERWARDS = """
import sys
from lakeprune.cli.lean_start import import_libraries
import_libraries()
hidden = ("typing_extensions", "platform", "gettext", "textwrap", "msgspec.inspect", "msgspec._json_schema")
assert not any(name in sys.modules for name in hidden), [name for name in hidden if name in sys.modules]
import argparse, uuid, msgspec
print(msgspec.json.schema(list[int])["type"], type(msgspec.inspect.type_info(int)).__name__, uuid.uuid4().version)
import gettext, msgspec.inspect, msgspec._json_schema, platform, typing_extensions
print(platform.machine() == platform.uname().machine, callable(gettext.find), typing_extensions.TypedDict is not None)
print(all(getattr(sys.modules[name], "__file__", None) for name in hidden))
"""


def test_what_was_hidden_from_libraries_can_be_imported_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", _AFTERWARDS], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["array IntType 4", "True True True", "True"]


_CONNECTED = """
import sys
from lakeprune.engines.duckdb.engine import DuckDBEngine
print(DuckDBEngine().query("SELECT 7"), "pathlib" in sys.modules and sys.modules["pathlib"] is None)
import pathlib
print(pathlib.Path("x").name)
"""


@pytest.mark.parametrize("before", ["", "import pathlib", "import threading; threading.Thread(target=input).start()"])
def test_connecting_to_the_engine_hides_pathlib_from_nobody(before: str) -> None:
    done = subprocess.run([sys.executable, "-c", before + _CONNECTED], check=True, capture_output=True, text=True, input="\n")
    assert done.stdout.splitlines() == ["[(7,)] False", "x"]
