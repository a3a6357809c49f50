"""Every command in the README and the docs runs and prints what the page says, on the demo's own tables."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.tables import users, users_flat
from tests.builders.iceberg import flights
from tools.markdown import code_blocks
from tools.repository import ROOT, repository_files

PAGES = sorted(path for path in repository_files(ROOT) if path.suffix == ".md")
SIZE = re.compile(r"[\d.]+ (?:B|KB)\b")
NAME = re.compile(r"part-\d{5}-[0-9a-f-]{36}")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    users(folder / "users")
    users_flat(folder / "users-flat")
    flights(folder / "flights")
    return folder


def sessions() -> Iterator[tuple[str, str, str]]:
    """Page, command and expected output of every `$ lakeprune ...` in a console block."""
    for page in PAGES:
        for block in code_blocks((ROOT / page).read_text(encoding="utf-8")):
            if block.language == "console":
                for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                    command, _, output = part.partition("\n")
                    yield str(page), command, output


def make_targets() -> Iterator[tuple[str, str]]:
    """Page and target of every `make ...` in a shell block or in inline code."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        lines = [line for block in code_blocks(text) if block.language == "sh" for line in block.text.splitlines()]
        for target in re.findall(r"^make ([a-z]+)", "\n".join(lines), re.MULTILINE) + re.findall(r"`make ([a-z]+)`", text):
            yield str(page), target


def python_examples() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in code_blocks((ROOT / page).read_text(encoding="utf-8")):
            if block.language == "python":
                yield str(page), block.text


@pytest.mark.parametrize(("page", "command", "output"), list(sessions()))
def test_a_console_session_prints_what_the_page_shows(page: str, command: str, output: str, tables: Path) -> None:
    program, *arguments = shlex.split(command)
    assert program == "lakeprune", f"{page} shows a command this test does not know: {command}"
    done = subprocess.run(
        [sys.executable, "-m", "lakeprune", *arguments], cwd=tables, capture_output=True, text=True, check=False
    )
    assert comparable(done.stdout + done.stderr) == comparable(output)


def comparable(text: str) -> str:
    """The text without what a writer chooses: sizes and names of files."""
    return NAME.sub("part-NAME", SIZE.sub("SIZE", text))


@pytest.mark.parametrize(("page", "target"), sorted(set(make_targets())))
def test_a_make_target_in_the_docs_exists(page: str, target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE), f"{page}: make {target}"


@pytest.mark.parametrize(("page", "code"), list(python_examples()))
def test_a_python_example_runs(page: str, code: str, tables: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=tables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{page}\n{done.stderr}"


def test_the_readme_shows_a_session_and_the_two_commands() -> None:
    assert any(page == "README.md" for page, _, _ in sessions())
    assert {target for page, target in make_targets() if page == "README.md"} >= {"demo", "test"}
