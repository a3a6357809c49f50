"""The lowest versions that pyproject.toml allows are those that a share of the suite runs with; the lock has the newest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.scope import only_whole
from tools.repository import ROOT

RANGE = re.compile(r"(?P<name>[\w-]+)>=(?P<low>[\d.]+),<(?P<high>[\d.]+)")
ONLY_DATA = {"tzdata"}  # has no interface: any version will do
DECLARED: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
RANGES = {match["name"]: (match["low"], match["high"]) for text in DECLARED if (match := RANGE.fullmatch(text))}
# sqlglot reads predicates, DuckDB answers, msgspec and rich write documents, obstore fetches. Schemas are left out: they are made
# with the msgspec of the lock.
SHARE = (
    "tests/predicate/read",
    "tests/predicate/bind",
    "tests/skipping/test_truth_tables.py",
    "tests/engines/test_duckdb_engine.py",
    "tests/cli",
    "tests/apps/scan/test_plan.py",
    "tests/storage/test_every_store.py",
)


def test_every_dependency_has_a_range() -> None:
    assert {re.split(r"[<>=]", text)[0] for text in DECLARED} == {*RANGES, *ONLY_DATA}


@pytest.mark.parametrize("lock", ["dev.txt", "pyspark-3.5.txt", "pyspark-4.0.txt"])
def test_the_locked_version_is_in_the_range(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    for name, (low, high) in RANGES.items():
        (locked,) = re.findall(rf"^{name}==([\d.]+)", text, re.MULTILINE)
        assert parts(low) <= parts(locked) < parts(high), f"{name} {locked}"


@pytest.mark.parametrize("line", ["3.5", "4.0"])
def test_the_environments_of_older_sparks_have_the_same_ranges(line: str) -> None:
    pinned = (ROOT / "requirements" / f"pyspark-{line}.in").read_text(encoding="utf-8").splitlines()
    assert set(DECLARED) <= set(pinned)


@only_whole
def test_the_oldest_versions_pass_a_share_of_the_suite() -> None:
    folder = ROOT / "build" / "oldest"
    wanted = [f"{name}=={low}" for name, (low, _) in RANGES.items()]
    done = folder / ".installed"
    if not done.exists() or done.read_text(encoding="utf-8") != str(wanted):
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--target", str(folder), *wanted]
        made = subprocess.run(install, capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"the oldest versions cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
        done.write_text(str(wanted), encoding="utf-8")
    found = run(folder, "-c", f"from importlib.metadata import version; print(*map(version, {list(RANGES)}))")
    assert [parts(each)[:2] for each in found.stdout.split()] == [parts(low)[:2] for low, _ in RANGES.values()]
    share = [name for name in SHARE if (ROOT / name).exists()]
    assert len(share) == len(SHARE)
    tested = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHARE)
    assert tested.returncode == 0, tested.stdout[-3000:]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with these packages before those of the environment of the tests."""
    path = os.pathsep.join([str(folder), str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def parts(version: str) -> list[int]:
    """
    >>> parts("30.8") < parts("30.30.0")
    True
    """
    numbers = [int(part) for part in version.split(".")]
    return numbers + [0] * (3 - len(numbers))
