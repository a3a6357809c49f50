"""The words that the glossary replaces do not come back: in sources, messages and docs."""

from __future__ import annotations

import re

from tools.repository import ROOT, repository_files

# Those of the column "not" that have no other meaning here.
REPLACED = re.compile(
    r"\b(told|spelt|spelling|strangers?|match(es|ed)? whole|match(es)? with every row|go(es)? up and down)\b", re.IGNORECASE
)
QUOTING = ("docs/glossary.md", "docs/adr/", "docs/index.md")  # the glossary itself, and what was decided in its day


def replaced(text: str) -> list[str]:
    return [match[0] for match in REPLACED.finditer(text)]


def test_no_word_that_the_glossary_replaces_is_used() -> None:
    read = [
        path
        for path in repository_files(ROOT)
        if path.suffix in (".py", ".md") and path.parts[0] in ("src", "docs") and not str(path).startswith(QUOTING)
    ]
    assert len(read) > 500
    found = {str(path): replaced((ROOT / path).read_text(encoding="utf-8")) for path in read}
    assert {path: words for path, words in found.items() if words} == {}


def test_a_word_that_is_replaced_is_noticed() -> None:
    assert replaced("What Delta told us of strangers; 'untold' and 'bespelling' are words of their own.") == ["told", "strangers"]
