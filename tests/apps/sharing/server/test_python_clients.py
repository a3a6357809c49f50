"""The official Python client reads everything that our server shares, in both formats; `make conformance` tries every version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.apps.sharing.server.clients import VERSIONS, client_python
from tests.apps.sharing.server.served import Served
from tests.scope import IS_WHOLE

QUICK = ("1.0.5", "1.4.2")  # the oldest reads parquet format only and sends no capabilities, the newest both


@pytest.mark.parametrize("version", VERSIONS if IS_WHOLE else QUICK)
def test_the_official_client_reads_every_table(version: str, served: Served, tmp_path: Path) -> None:
    python = client_python(version)
    profile = tmp_path / "p.share"
    profile.write_text(served.profile(), encoding="utf-8")
    matrix = Path(__file__).with_name("client_matrix.txt")
    done = subprocess.run([python, matrix, profile], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == version
