"""The command as a user starts it, against a store; inside this process where the start is not what a test is about."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from lakeprune.cli.main import main
from tests.builders.untimed import untimed


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def explain(*arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["explain", *arguments])
    return Ran(code, out.getvalue(), err.getvalue())


def explain_in_a_process(*arguments: str, **environment: str) -> Ran:
    command = [sys.executable, "-m", "lakeprune", "explain", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False)
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what must differ between a local run and one on a store."""
    kept = {name: value for name, value in untimed(document).items() if name not in ("table", "fetched")}
    kept["phases"] = [{**phase, "io": None} for phase in kept["phases"]]
    found: dict[str, Any] = json.loads(json.dumps(kept).replace(document["table"], "TABLE"))  # statements name it
    return found
