"""The text report on a terminal, a real one as far as the command can tell: a funnel of bars, and plain wherever it should be."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.builders import delta

WHERE = "country = 'DE' AND age > 40"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("terminal") / "users"))


def on_a_terminal(arguments: list[str], width: int = 100, environment: dict[str, str] | None = None) -> str:
    """What the command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    settings = {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **(environment or {})}
    command = [sys.executable, "-m", "lakeprune", "explain", *arguments]
    with subprocess.Popen(command, stdout=theirs, stdin=theirs, stderr=subprocess.PIPE, env=settings) as child:
        os.close(theirs)
        written = b""
        while part := _read(ours):
            written += part
        assert child.stderr is not None
        assert child.stderr.read() == b""
    os.close(ours)
    assert child.returncode == 0
    return written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody is left at the other end
        return b""


def piped(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "lakeprune", "explain", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_terminal_gets_bars_and_the_same_lines(users: str) -> None:
    shown = on_a_terminal([users, "-w", WHERE])
    assert ESCAPE.search(shown)
    lines = ESCAPE.sub("", shown).splitlines()
    bars = [line for line in lines if "█" in line]
    assert [re.sub(r"[█▉▊▋▌▍▎▏ ]+", " ", line).strip() for line in bars] == [
        "in the table 6 files 100% 4.7 KB",
        "after partitions 2 files 33% 1.6 KB",
        "after statistics 1 file 17% 778 B",
    ]
    assert [round(line.count("█") / bars[0].count("█"), 1) for line in bars] == [1.0, 0.3, 0.1]
    at = lines.index(bars[0])
    assert lines[:at] + lines[at + len(bars) + 1 :] == piped([users, "-w", WHERE, "--explain-why"]).splitlines()


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_where_colours_are_not_wanted_the_report_is_plain(users: str, environment: dict[str, str]) -> None:
    assert on_a_terminal([users, "-w", WHERE], environment=environment) == piped([users, "-w", WHERE, "--explain-why"])


def test_people_are_told_why_and_may_decline(users: str) -> None:
    where = [users, "-w", "age + 1 > 40"]
    assert "Why:" in ESCAPE.sub("", on_a_terminal(where))
    assert "Why:" not in ESCAPE.sub("", on_a_terminal([*where, "--no-explain-why"]))
    assert "Why:" not in piped(where)
    assert "ENGINE" in piped([*where, "--format", "markdown"])
    assert '"explain"' not in piped([*where, "--format", "json"])


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_the_funnel_fits_the_terminal(users: str, width: int) -> None:
    shown = ESCAPE.sub("", on_a_terminal([users, "-w", WHERE], width))
    block = shown.split("\n\n")[1].splitlines()
    assert max(map(len, block)) <= width


def test_json_a_file_and_a_table_without_predicate_are_plain_on_a_terminal_too(users: str, tmp_path: Path) -> None:
    assert on_a_terminal([users, "-w", WHERE, "--format", "json"]).startswith("{")
    assert on_a_terminal([users]) == piped([users])
    assert on_a_terminal([users, "-w", WHERE, "--output", str(tmp_path / "report.txt")]) == ""
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == piped([users, "-w", WHERE])


def test_piped_the_command_imports_neither_rich_nor_the_page(users: str) -> None:
    program = (
        "import sys; from lakeprune.cli.main import main; main(['explain', *sys.argv[1:]]);"
        "parts = {part for name in sys.modules for part in name.split('.')};"
        "print(sorted(parts & {'rich', 'html', 'picture', 'sketch', 'diagnosis'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, users, "-w", WHERE], check=True, capture_output=True, text=True)
    assert done.stderr == "[]\n"
