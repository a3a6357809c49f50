"""The demo runs through, on a smaller log, and ends with the path of a report that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo import run


def test_the_demo_ends_with_the_path_of_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "FOLDER", tmp_path / "demo")
    monkeypatch.setattr(run, "EVENT_FILES", 2_000)
    monkeypatch.setenv(
        "JAVA_HOME", str(tmp_path / "no-java-here")
    )  # the part on Spark has its own test, tests/spark/test_demo.py
    assert run.main() == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "install Java 17" in said.out, "without Java the demo says how to get it, and does the rest"
    last = said.out.splitlines()[-1]
    page = Path(last.rpartition(": ")[2])
    assert page == tmp_path / "demo" / "report.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
