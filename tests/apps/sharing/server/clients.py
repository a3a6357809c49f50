"""Environments with one version of a client each, below build/clients (`make clients` makes all of them).

A version whose environment is not there is installed from its hashed requirements; where no registry is reachable, tests skip.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha512
from pathlib import Path

import pytest

from tools.repository import ROOT

VERSIONS = ("1.0.5", "1.2.0", "1.4.2")
NPM_CLIENT, AXIOS = "0.0.2", "1.12.2"
_NPM_SHA512 = "hxuR2TjC6blKkOgciDPFVTuo/3lHfHUs4YGUvAmjNlPh5PvKyTosmV+usgq87umtYr8yV3hA5yQfxzNuvIsCLw=="


@cache
def client_python(version: str) -> Path:
    """The interpreter of an environment that has this version; a skip with the reason when it cannot be made."""
    folder = ROOT / "build" / "clients" / f"delta-sharing-{version}"
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.exists():
        requirements = ROOT / "requirements" / f"delta-sharing-{version}.txt"
        install = ["install", "-q", "--disable-pip-version-check", "--no-compile", "--require-hashes", "--timeout", "10"]
        steps = [
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", *install, "-r", str(requirements)],
        ]
        for step in steps:
            made = subprocess.run(step, capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"delta-sharing {version} cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return python


@cache
def npm_client() -> tuple[str, Path]:
    """Node, and the folder of the npm client with what its REST part needs; a skip with the reason when it cannot be made."""
    node, npm = shutil.which("node"), shutil.which("npm")
    folder = ROOT / "build" / "clients" / f"npm-delta-sharing-{NPM_CLIENT}"
    if node is None or (npm is None and not (folder / ".installed").exists()):
        pytest.skip("there is no node or no npm")
    if not (folder / ".installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--silent", "--fetch-retries=1", "--fetch-timeout=10000"]
        steps: list[list[object]] = [
            [npm, "pack", *quiet, f"--pack-destination={folder}", f"delta-sharing@{NPM_CLIENT}"],
            # Its reader wants TensorFlow; the REST part needs axios alone.
            [npm, "install", *quiet, "--prefix", folder, "--no-package-lock", "--ignore-scripts", "--no-audit", f"axios@{AXIOS}"],
        ]
        for step in steps:
            made = subprocess.run([str(word) for word in step], capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"the npm client cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
        packed = folder / f"delta-sharing-{NPM_CLIENT}.tgz"
        assert b64encode(sha512(packed.read_bytes()).digest()).decode() == _NPM_SHA512, (
            "another package than the one that was read"
        )
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        (folder / ".installed").touch()
    return node, folder / "package"


if __name__ == "__main__":
    missing = []
    makers: list[Callable[[], object]] = [*(partial(client_python, each) for each in VERSIONS), npm_client]
    for make in makers:
        try:
            make()
        except pytest.skip.Exception as skipped:
            missing.append(str(skipped))
    sys.exit("\n".join(missing) or None)
