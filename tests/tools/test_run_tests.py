"""The runner of the tests: a leak report at the end of a process fails the run, and its output is passed through."""

from __future__ import annotations

import sys

import pytest

from tools.repository import ROOT
from tools.run_tests import LEAK, parts, watched

# An engine that is never freed, as one in a module that outlives the interpreter's clean-up.
ENGINE = """
import ctypes
from lakeprune.engines.duckdb.engine import DuckDBEngine
engine = DuckDBEngine()
ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
"""


def test_every_file_on_spark_runs_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = sorted(file for name, files in parts().items() if "spark" in name for file in files)
    assert run == sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/spark").rglob("test_*.py"))


@pytest.mark.parametrize("code", [0, 3])
def test_output_and_exit_code_are_passed_through(capfd: pytest.CaptureFixture[str], code: int) -> None:
    script = f"import sys; print('out'); print('err', file=sys.stderr); sys.exit({code})"
    assert watched([sys.executable, "-c", script]) == (code, False)
    assert capfd.readouterr() == ("out\n", "err\n")


def test_a_connection_that_is_open_at_the_end_is_noticed(capfd: pytest.CaptureFixture[str]) -> None:
    assert watched([sys.executable, "-c", ENGINE + "engine.query('SELECT 1')"]) == (0, True)
    assert LEAK in capfd.readouterr().err


def test_an_engine_that_was_awake_only_while_it_was_used_leaks_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    used = ENGINE + "with engine.awake():\n    engine.query('SELECT 1')"
    assert watched([sys.executable, "-c", used]) == (0, False)
    assert capfd.readouterr() == ("", "")
