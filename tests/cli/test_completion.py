"""Completion scripts: bash is asked as Tab asks it; zsh and fish have every flag, and their syntax is checked where they are."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from lakeprune.cli.flags import flags_of
from lakeprune.cli.main import COMMANDS, main

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--completion", shell]) == 0
    return capsys.readouterr().out


def completed(line: str, text: str) -> list[str]:
    """What bash offers behind a line."""
    words = line.split(" ")
    listed = " ".join(f"'{word}'" for word in words)
    program = f"{text}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _lakeprune; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    bash = shutil.which("bash") or "bash"
    done = subprocess.run([bash, "--norc", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_flags_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    text = script("bash", capsys)
    assert completed("lakeprune ex", text) == ["explain"]
    assert completed("lakeprune explain t --min-p", text) == ["--min-pruning"]
    assert completed("lakeprune explain t --format ", text) == ["text", "json", "html", "markdown"]
    assert completed("lakeprune explain t --format js", text) == ["json"]
    assert "--no-explain-why" in completed("lakeprune explain t --no", text)
    assert "--execute" in completed("lakeprune delete t --", text)
    assert "--execute" not in completed("lakeprune explain t --", text)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_flag_of_every_command_is_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for command in COMMANDS:
        assert command in text
        for flag in flags_of(command):
            name = flag.names.split()[-1]
            assert not name.startswith("--") or (f"-l {name[2:]}" if shell == "fish" else name) in text, name


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script(shell, capsys), text=True, check=True)


def test_another_shell_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", "tcsh"]) == 2
    assert main(["--completion"]) == 2
    assert "bash, zsh, fish" in capsys.readouterr().err
