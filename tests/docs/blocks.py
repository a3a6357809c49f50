"""The code blocks of every page, and who executes them: this folder, another test, or nobody, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.markdown import code_blocks
from tools.repository import ROOT, repository_files

EXECUTABLE = ("console", "python", "pycon", "sh")
SHOWN = ("json", "jsonc", "nginx", "sql", "text", "yaml")

# Page and language: the test that executes these blocks, and names the page. Every other block is executed by test_pages.py.
ELSEWHERE = {
    ("README.md", "sh"): "tests/docs/test_readme_pasted.py",
    ("docs/benchmarks.md", "console"): "tests/docs/test_benchmarks.py",
    ("docs/commands/delete.md", "console"): "tests/spark/test_pages.py",
    ("docs/commands/delete.md", "python"): "tests/spark/test_pages.py",
    ("docs/commands/delete.md", "sh"): "tests/spark/test_pages.py",
    ("docs/commands/merge.md", "console"): "tests/spark/test_pages.py",
    ("docs/commands/merge.md", "python"): "tests/spark/test_pages.py",
    ("docs/commands/merge.md", "sh"): "tests/spark/test_pages.py",
    ("docs/commands/serve.md", "sh"): "tests/apps/sharing/server/test_process.py",
    ("docs/commands/share.md", "sh"): "tests/apps/sharing/server/test_process.py",
    ("docs/commands/update.md", "console"): "tests/spark/test_pages.py",
    ("docs/commands/update.md", "python"): "tests/spark/test_pages.py",
    ("docs/commands/update.md", "sh"): "tests/spark/test_pages.py",
    ("docs/commands/verify.md", "console"): "tests/spark/test_pages.py",
    ("docs/commands/verify.md", "python"): "tests/spark/test_pages.py",
    ("docs/commands/verify.md", "sh"): "tests/spark/test_pages.py",
    ("docs/concepts/dataframes.md", "python"): "tests/spark/test_pages.py",
    ("docs/concepts/dataframes.md", "sh"): "tests/spark/test_pages.py",
    ("docs/concepts/engines.md", "sh"): "tests/spark/test_cluster.py",
    ("docs/concepts/handoffs/spark.md", "pycon"): "tests/spark/test_plan_to_spark.py",
    ("docs/concepts/iceberg.md", "sh"): "tests/spark/test_pages.py",
    ("docs/concepts/object-stores.md", "sh"): "tests/docs/test_gates_in_ci.py",
    ("docs/concepts/sharing.md", "python"): "tests/apps/sharing/server/test_process.py",
    ("docs/concepts/sharing.md", "sh"): "tests/apps/sharing/server/test_process.py",
    ("docs/concepts/sharing-hints.md", "python"): "tests/docs/test_sharing_pages.py",
    ("docs/concepts/sharpen.md", "pycon"): "tests/spark/test_sharpen.py",
    ("docs/running-on-a-cluster.md", "python"): "tests/spark/test_cluster.py",
    ("docs/running-on-a-cluster.md", "sh"): "tests/spark/test_cluster.py",
}
# Page and how a command begins that nothing executes, and why. Its flags are parsed all the same.
NOT_EXECUTED = {
    ("docs/concepts/object-stores.md", "lakeprune explain abfss:"): "needs an account at Azure; tests/storage asks Azurite",
    ("docs/concepts/object-stores.md", "lakeprune explain gs:"): "needs an account at Google; tests/storage asks fake-gcs-server",
}
_FENCE = re.compile(r"^ *(`{3,})(.*)$")


@dataclass(frozen=True)
class Found:
    """A block that something executes, and where it is."""

    page: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines that a reader pastes: of a session those after `$`, joined where they are continued."""
        text = self.text.replace("\\\n", " ")
        if self.language == "console":
            return re.findall(r"^\$ (.*)$", text, re.MULTILINE)
        return [line for line in text.splitlines() if line.strip()]


@cache
def pages() -> list[Path]:
    return [path for path in repository_files(ROOT) if path.suffix == ".md"]


def text_of(page: Path | str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str | None = None, language: str | None = None) -> Iterator[Found]:
    """The blocks of all pages that something executes, or those of one page."""
    for path in pages():
        for block in code_blocks(text_of(path)):
            if block.language in EXECUTABLE and page in (None, str(path)) and language in (None, block.language):
                yield Found(str(path), block.language, block.text)


def executed_here(language: str) -> list[Found]:
    return [block for block in blocks(language=language) if (block.page, language) not in ELSEWHERE]


def is_executed(page: str, command: str) -> bool:
    return not any(page == where and command.startswith(start) for where, start in NOT_EXECUTED)


def unclear(markdown: str) -> Iterator[str]:
    """Code that nobody can tell how to execute: indented, or in a fence whose first line is not one known word.

    The site shows a fence with a second word as text.
    """
    fence, is_after_blank = "", True
    for line in markdown.splitlines():
        found = _FENCE.match(line)
        if fence:
            fence = "" if found and found[1] == fence and not found[2].strip() else fence
        elif found:
            fence = found[1]
            if found[2] not in (*EXECUTABLE, *SHOWN):
                yield line
        elif line.startswith("    ") and is_after_blank:
            yield line
        is_after_blank = not line.strip()
