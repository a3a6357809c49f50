"""Just enough Markdown for the docs check: headings, links, and the code blocks the README test runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced code block."""

    language: str
    text: str


def code_blocks(markdown: str) -> list[Block]:
    """The fenced blocks in order.

    >>> code_blocks("text\\n```sh\\nmake demo\\n```\\n")
    [Block(language='sh', text='make demo\\n')]
    """
    return [Block(match[2], match[3]) for match in _FENCE.finditer(markdown)]


def headings(markdown: str) -> list[str]:
    """The text of every heading.

    >>> headings("# One\\n```sh\\n# a comment\\n```\\n## `TWO`\\n")
    ['One', '`TWO`']
    """
    return re.findall(r"^#{1,6} +(.*?)[ \t]*$", _FENCE.sub("", markdown), re.MULTILINE)


def links(markdown: str) -> list[str]:
    """The targets of all links outside code.

    >>> links("[a](b.md#c) and `[x](y)`")
    ['b.md#c']
    """
    return _LINK.findall(_INLINE_CODE.sub("", _FENCE.sub("", markdown)))


def dead_links(root: Path, pages: list[Path]) -> Iterator[str]:
    """Links to files or headings that are not there; addresses on the web are not looked at."""
    for page in pages:
        for link in links((root / page).read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = root / page.parent / name if name else root / page
            if not target.exists():
                yield f"{page}: links to {link}, which does not exist"
            elif anchor and anchor not in {_slug(heading) for heading in headings(target.read_text(encoding="utf-8"))}:
                yield f"{page}: links to {link}, which has no such heading"


def pages_nobody_links_to(root: Path, pages: list[Path]) -> Iterator[str]:
    """Pages under docs/ that a reader who starts at the README cannot reach in any number of steps."""
    reached: set[Path] = set()
    to_visit = [root / "README.md"]
    while to_visit:
        page = to_visit.pop().resolve()
        if page in reached or not page.is_file():
            continue
        reached.add(page)
        if page.suffix == ".md":
            names = (link.partition("#")[0] for link in links(page.read_text(encoding="utf-8")))
            to_visit += [page.parent / name for name in names if name and ":" not in name]
    for page in pages:
        if page.parts[0] == "docs" and (root / page).resolve() not in reached:
            yield f"{page}: no page links to it"


def _slug(heading: str) -> str:
    """The anchor a heading gets on the usual hosts.

    >>> _slug("Exit codes: 0, 1 and `2`")
    'exit-codes-0-1-and-2'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
