"""The README pasted line by line into a fresh virtual environment."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from tools.markdown import code_blocks
from tools.repository import ROOT, repository_files

# What the new environment would download lies in the environment of the tests already: nothing is fetched.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1"}


def pasted() -> list[str]:
    blocks = code_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    return [line for block in blocks if block.language == "sh" for line in block.text.splitlines() if line]


def test_every_line_works_in_a_fresh_environment(tmp_path: Path) -> None:
    checkout = tmp_path / "lakeprune"
    for path in repository_files(ROOT):
        if path.parts[0] in ("src", "schemas") or path.name in ("pyproject.toml", "README.md", "LICENSE"):
            (checkout / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, checkout / path)
    lines = pasted()
    assert lines[:2] == ["python3 -m venv env", "env/bin/pip install ."]
    said = []
    for line in lines:
        done = subprocess.run(
            ["/bin/bash", "-c", line], cwd=checkout, env=_environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
        if line.startswith("python3 -m venv"):
            (home,) = (checkout / "env" / "lib").glob("python3*/site-packages")
            (home / "offline.pth").write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    assert (next((checkout / "env" / "lib").glob("python3*/site-packages")) / "lakeprune" / "schemas").is_dir()
    assert said[-2].startswith("Reads 1 of 30 files")
    assert "pass  min_pruning" in said[-1]


def _environment() -> dict[str, str]:
    import os
    import sys

    python = Path(sys.base_prefix) / "bin"
    return {**os.environ, **OFFLINE, "PATH": f"{python}{os.pathsep}{os.environ['PATH']}"}
