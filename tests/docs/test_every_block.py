"""Every command and every program of every page is executed by a test, or stands in a short list with the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lakeprune.cli.flags import flags_of
from lakeprune.cli.main import COMMANDS
from tests.docs.blocks import ELSEWHERE, NOT_EXECUTED, blocks, is_executed, pages, text_of, unclear
from tools.repository import ROOT

INLINE = re.compile(r"`(lakeprune [^`\n]+)`")


@pytest.mark.parametrize("page", pages(), ids=str)
def test_code_is_fenced_and_says_in_one_word_what_it_is(page: Any) -> None:
    assert list(unclear(text_of(page))) == []


def test_code_that_nobody_could_execute_is_noticed() -> None:
    assert list(unclear("a\n\n    lakeprune explain x\n")) == ["    lakeprune explain x"]
    assert list(unclear("```\nx\n```\n```json hint\n{}\n```\n```sh\n    x\n```\n")) == ["```", "```json hint"]
    assert list(unclear("````console\n$ x\n```sql\n1\n```\n````\n")) == []


@pytest.mark.parametrize(("page", "language", "test"), [(*key, test) for key, test in ELSEWHERE.items()])
def test_what_another_test_executes_is_there_and_is_named_by_it(page: str, language: str, test: str) -> None:
    assert list(blocks(page, language)), f"{page} has no {language} block"
    source = (ROOT / test).read_text(encoding="utf-8")
    assert page in source or all(f'"{part}"' in source for part in page.split("/")), f"{test} does not name {page}"


@pytest.mark.parametrize(("page", "start"), NOT_EXECUTED)
def test_what_nothing_executes_is_one_command_of_its_page(page: str, start: str) -> None:
    assert len([command for block in blocks(page) for command in block.commands if command.startswith(start)]) == 1


def commands_in_sentences() -> list[tuple[str, str]]:
    found = [(str(page), command) for page in pages() for command in INLINE.findall(text_of(page))]
    return found + [
        (block.page, command) for block in blocks() for command in block.commands if not is_executed(block.page, command)
    ]


def unknown_parts(command: str) -> list[str]:
    """The command, or the flags, that do not exist."""
    _, name, *arguments = command.split()
    if name.startswith("-"):
        return [name] if name not in ("--help", "--version", "--completion") else []
    if name == "COMMAND":  # any of them
        return []
    if name not in COMMANDS:
        return [name]
    known = {"--help", *(spelling for flag in flags_of(name) for spelling in flag.names.split())}
    return [part for part in arguments if re.fullmatch(r"--?[a-z][a-z-]*", part) and part not in known]


@pytest.mark.parametrize(("page", "command"), commands_in_sentences())
def test_a_command_in_a_sentence_exists_with_its_flags(page: str, command: str) -> None:
    assert unknown_parts(command) == [], page


def test_a_flag_that_does_not_exist_is_noticed() -> None:
    assert unknown_parts("lakeprune explain ./users --wherever x -w y") == ["--wherever"]
    assert unknown_parts("lakeprune explian ./users") == ["explian"]
