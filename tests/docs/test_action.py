"""The GitHub Action and the pre-commit hook: their own scripts, executed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import delta
from tools.repository import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def explained(tmp_path: Path, **inputs: str) -> tuple[int, str, str]:
    """Exit code, step summary and stderr of the action's last step."""
    step = ACTION["runs"]["steps"][-1]
    names = {name: str(value).removeprefix("${{ inputs.").removesuffix(" }}") for name, value in step["env"].items()}
    settings = {name: inputs.get(given, "") for name, given in names.items()}
    summary = tmp_path / "summary.md"
    environment = {**os.environ, "PATH": PATH, "GITHUB_STEP_SUMMARY": str(summary), **settings}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as GitHub runs it
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, summary.read_text(encoding="utf-8") if summary.exists() else "", done.stderr


@pytest.fixture
def users(tmp_path: Path) -> str:
    return str(delta.users(tmp_path / "users"))


def test_the_action_passes_and_writes_a_summary(tmp_path: Path, users: str) -> None:
    code, summary, _ = explained(tmp_path, table=users, where="country = 'DE' AND age > 40", arguments="--min-pruning=80\n")
    assert code == 0
    assert summary.startswith("### Reads 1 of 6 files")
    assert "| min\\_pruning | pass |" in summary


def test_the_action_fails_with_a_gate_and_still_writes_the_summary(tmp_path: Path, users: str) -> None:
    code, summary, said = explained(tmp_path, table=users, where="age > 40", arguments="--min-pruning=80\n--max-files=1")
    assert code == 1
    assert summary.count("**FAIL**") == 2
    assert "ASSERTION FAILED" in said


def test_inputs_of_the_action_are_never_shell(tmp_path: Path, users: str) -> None:
    code, summary, _ = explained(tmp_path, table=users, where='name = "$(touch hacked)`touch hacked`" -- "; touch hacked')
    assert code == 0
    assert summary
    assert not (tmp_path / "hacked").exists()
    code, summary, said = explained(tmp_path, table="; touch hacked", where="age > 1")
    assert (code, (tmp_path / "hacked").exists()) == (3, False)
    assert "error[LP301]" in said


def test_every_input_of_the_action_is_used() -> None:
    used = yaml.safe_dump(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in used] == []


def test_the_hook_runs_the_command(tmp_path: Path, users: str) -> None:
    for least, code in (("80", 0), ("90", 1)):
        entry = [*shlex.split(HOOK["entry"]), users, "--where=country = 'DE' AND age > 40", f"--min-pruning={least}"]
        environment = {**os.environ, "PATH": PATH}
        assert subprocess.run(entry, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode == code
    assert HOOK["pass_filenames"] is False
