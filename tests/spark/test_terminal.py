"""Commands on Spark and a terminal: the report begins on a line of its own, and nothing is left behind where they ran."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from demo.tables import users
from tests.scope import IS_WHOLE
from tests.spark.conftest import _SMALL

pytestmark = pytest.mark.spark

COMMANDS = {
    "explain": ["explain", "users", "-w", "age > 40", "--engine", "spark"],
    "sql": ["explain", "--engine", "spark", "--sql", "SELECT * FROM delta.`{here}/users` WHERE age > 40"],
    "verify": ["verify", "users", "-w", "age > 40"],
    "update": ["update", "users", "--set", "age = 41", "-w", "age > 40"],
    "delete": ["delete", "delta.`users`", "-w", "age > 40"],
}
FIRST = {"explain": "Reads ", "sql": "Query:"}
QUICK = [f"--conf={key}={value}" for key, value in _SMALL.items() if "extension" not in key and "catalog" not in key]


def on_a_terminal(arguments: list[str], folder: Path) -> str:
    """Everything that the command writes to a terminal which is its standard output and its standard error."""
    ours, theirs = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "lakeprune", *arguments]
    with subprocess.Popen(command, stdout=theirs, stdin=theirs, stderr=theirs, env=settings, cwd=folder) as child:
        os.close(theirs)
        written = b""
        while part := _read(ours):
            written += part
    os.close(ours)
    assert child.returncode == 0, written.decode()
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody is left at the other end
        return b""


@pytest.mark.parametrize("name", COMMANDS if IS_WHOLE else ["update"])
def test_the_report_does_not_begin_on_the_line_that_shows_progress(name: str, tmp_path: Path) -> None:
    users(tmp_path / "users")
    arguments = [each.format(here=tmp_path) for each in COMMANDS[name]]
    written = on_a_terminal([*arguments, "--master", "local[1]", *QUICK], tmp_path)
    assert "Spark: starting" in written
    progress, _, report = written.rpartition("\r\x1b[K")
    assert "Spark:" in progress
    assert report.startswith(FIRST.get(name, "Delta table:")), "after the line was wiped"
    assert not re.search(r"[^\r\n]Delta table:", written.replace("\r\x1b[K", "\r"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["users"], "no spark-warehouse, no metastore"
