"""Every command and every program of a page runs and prints what the page says, on the demo's own tables.

tests/docs/blocks.py says which blocks need more than this and are executed elsewhere.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from demo.tables import users, users_flat
from lakeprune.cli.main import main
from tests.builders.iceberg import flights
from tests.docs.blocks import executed_here, is_executed, pages, text_of
from tools.markdown import code_blocks
from tools.repository import ROOT

SIZE = re.compile(r"[\d.]+ (?:B|KB)\b")
ELAPSED = re.compile(r'(?<="elapsed_ms": )\d+')
NAME = re.compile(r"part-\d{5}-[0-9a-f-]{36}")
EVENTS = "SELECT 2023 + i // 100 AS year, i AS user_id FROM range(200) r(i)"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    users(folder / "users")
    users_flat(folder / "users-flat")
    flights(folder / "flights")
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({EVENTS}) TO '{folder}/events' (FORMAT parquet, PARTITION_BY (year))")
        connection.execute(f"COPY ({EVENTS}) TO '{folder}/events/part-0.parquet' (FORMAT parquet)")
    return folder


def sessions() -> Iterator[tuple[str, str, str]]:
    """Page, command and expected output of every `$ lakeprune ...` in a console block."""
    for block in executed_here("console"):
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if is_executed(block.page, command):
                yield block.page, command, output


@pytest.mark.parametrize(("page", "command", "output"), list(sessions()))
def test_a_console_session_prints_what_the_page_shows(
    page: str, command: str, output: str, tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tables)
    main(arguments(page, command))
    said = capsys.readouterr()
    assert comparable(said.out + said.err) == comparable(output)


@pytest.mark.parametrize(
    ("page", "command"), [(block.page, command) for block in executed_here("sh") for command in block.commands]
)
def test_a_command_ends_well(page: str, command: str, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    assert main(arguments(page, command)) == 0


@pytest.mark.parametrize(("page", "code"), [(block.page, block.text) for block in executed_here("python")])
def test_a_python_example_runs(page: str, code: str, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    exec(compile(code, page, "exec"), {"__name__": "__main__"})  # noqa: S102  # it is our own page


def arguments(page: str, command: str) -> list[str]:
    program, *rest = shlex.split(command, comments=True)
    assert program == "lakeprune", f"{page} shows a command this test does not know: {command}"
    return rest


def comparable(text: str) -> str:
    """The text without what a writer chooses, sizes and names of files, and without the time that it took."""
    return NAME.sub("part-NAME", SIZE.sub("SIZE", ELAPSED.sub("N", text)))


def make_targets() -> Iterator[tuple[str, str]]:
    """Page and target of every `make ...` in a shell block or in inline code."""
    for page in pages():
        text = text_of(page)
        lines = [line for block in code_blocks(text) if block.language == "sh" for line in block.text.splitlines()]
        for target in re.findall(r"^make ([a-z]+)", "\n".join(lines), re.MULTILINE) + re.findall(r"`make ([a-z]+)`", text):
            yield str(page), target


@pytest.mark.parametrize(("page", "target"), sorted(set(make_targets())))
def test_a_make_target_in_the_docs_exists(page: str, target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE), f"{page}: make {target}"


def test_the_readme_shows_a_session_and_the_two_commands() -> None:
    assert any(page == "README.md" for page, _, _ in sessions())
    assert {target for page, target in make_targets() if page == "README.md"} >= {"demo", "test"}
