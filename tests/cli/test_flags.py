"""Flags with odd values, and a command nobody listens to: refused in words, with an exit code that tells the truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lakeprune.cli.main import main
from tests.builders import delta

COMMAND = [sys.executable, "-m", "lakeprune"]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("flags") / "users"))


@pytest.mark.parametrize(
    ("flag", "values", "wanted"),
    [
        ("--min-pruning", ["101", "-1", "nan", "inf", "1e999", "", "５０", "5_0", "0x10"], "give a number from 0 to 100"),
        ("--min-bytes-pruning", ["100.1", "fifty"], "give a number from 0 to 100"),
        (
            "--max-files",
            ["-1", "1.5", "１", "1_0", "", "9" * 19],
            "fix:   give 0 or more",
        ),
        ("--limit", ["x", "+1"], "fix:   give 0 or more"),
        ("--at-version", ["latest", "-1"], "fix:   give 0 or more"),
        ("--max-bytes", ["5XB", "１KB", "", ".5MB", "-1"], "give one like 700, 500MB or 2GiB"),
        ("--timezone", ["", "Mars/Phobos"], "not a time zone"),
    ],
)
def test_a_value_that_is_none_is_refused_with_what_would_be_one(
    users: str, flag: str, values: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in values:
        assert main(["explain", users, "-w", "age > 1", f"{flag}={value}"]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert wanted in shown.err


def test_two_predicates_are_refused_not_reduced_to_the_last(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", users, "-w", "age > 99", "--where=age > 1", "--max-files", "6"]) == 2
    assert "join the conditions with AND" in capsys.readouterr().err


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_without_stderr_the_exit_code_still_tells(users: str, redirection: str) -> None:
    def exit_code(*arguments: str) -> tuple[int, str]:
        line = ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, "explain", users, *arguments]
        done = subprocess.run(line, check=False, capture_output=True, text=True)
        return done.returncode, done.stdout

    assert exit_code("-w", "agee > 1") == (2, "")
    assert exit_code("--at-version", "77") == (3, "")
    if ">&- 2" not in redirection:
        assert exit_code("-w", "age > 1", "--max-files", "0")[0] == 1


def test_a_predicate_from_a_closed_standard_input_is_an_error_in_words(users: str) -> None:
    line = ["sh", "-c", '"$@" <&-', "sh", *COMMAND, "explain", users, "-w", "@-"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is closed" in done.stderr


def test_a_byte_order_mark_before_a_predicate_is_not_part_of_it(
    users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "predicate.sql"
    source.write_bytes(b"\xef\xbb\xbfage > 40\r\n")
    assert main(["explain", users, "-w", f"@{source}"]) == 0
    assert "Total reduction: 6 -> 3 files" in capsys.readouterr().out


def test_a_predicate_from_standard_input_is_utf_8_whatever_the_locale(users: str) -> None:
    done = subprocess.run(
        [*COMMAND, "explain", users, "-w", "@-", "--format", "json"],
        input="country = 'Österreich'".encode(),
        check=False,
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PATH": "/usr/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert b"\\u00d6sterreich" in done.stdout


def test_auto_says_when_spark_would_serve_better(
    users: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lakeprune.cli.spark_session.SERVED_BETTER_FROM", 6)
    assert main(["explain", users, "-w", "age > 40"]) == 0
    assert "note: this log has 6 files" in capsys.readouterr().err
    assert main(["explain", users, "-w", "age > 40", "--engine", "duckdb"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("lakeprune.cli.spark_session.SERVED_BETTER_FROM", 7)
    assert main(["explain", users, "-w", "age > 40"]) == 0
    assert capsys.readouterr().err == ""
