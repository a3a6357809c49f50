"""What the package declares: extras for what exists, and no advice to install what cannot be installed."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest

from lakeprune.extras import install_line
from tools.repository import ROOT, repository_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: packages for name, packages in PROJECT["optional-dependencies"].items() if name != "all"}
MODULES = {"pyyaml": "yaml", "delta-spark": "pyspark"}  # Delta is Spark's own package; its Python part is for users
SOURCES = [ROOT / path for path in repository_files(ROOT) if path.parts[0] == "src" and path.suffix == ".py"]


def names(packages: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", package)[0].lower() for package in packages}


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_advice_for_an_extra_is_its_packages(extra: str) -> None:
    assert names(shlex.split(install_line(extra))[2:]) == names(EXTRAS[extra])


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_used(extra: str) -> None:
    code = "\n".join(source.read_text(encoding="utf-8") for source in SOURCES)
    for package in names(EXTRAS[extra]):
        module = MODULES.get(package, package)
        assert re.search(rf"\b(?:import|from) {module}\b|[\"']{module}[\"']", code), f"{extra}: nothing uses {package}"


def test_nothing_advises_to_install_lakeprune_from_an_index() -> None:
    """It is not on one, and whoever took the name there could be anybody."""
    pages = [
        ROOT / path
        for path in repository_files(ROOT)
        if path.suffix == ".md" and "adr" not in path.parts and path.name != "CHANGELOG.md"
    ]
    for path in (*SOURCES, *pages):
        assert not re.search(r"pip install ['\"]?lakeprune", path.read_text(encoding="utf-8")), path


def test_the_newest_line_of_spark_is_in_the_range_of_the_extra() -> None:
    assert EXTRAS["spark"] == ["pyspark>=3.5,<4.2", "delta-spark>=3.3,<4.5"]
