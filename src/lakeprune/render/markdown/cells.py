"""Text as Markdown: whatever comes from a table or a user cannot become markup, end a cell or leave its code span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lakeprune.render.printable import printable

_MARKUP = re.compile(r"([\\`*_\[\]|~#@])")


def words(text: str) -> str:
    """Plain text.

    >>> print(words("a|b <b> *c*"))
    a\\|b &lt;b&gt; \\*c\\*
    """
    safe = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(r"\\\1", safe)


def code(text: str) -> str:
    """A code span, with as many backticks around it as it needs; a bar is escaped, for cells of tables.

    >>> print(code("a = 1"), code("`x`|y"))
    `a = 1` `` `x`\\|y ``
    """
    safe = printable(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", safe)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{safe}{space}{fence}"


def block(text: str, language: str = "sql") -> list[str]:
    """A fenced block that its content cannot end."""
    lines = [printable(line) for line in text.splitlines()]
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells that are Markdown already; every column but the first is aligned to the right."""
    marks = ["---", *("---:" for _ in heads[1:])]
    return [f"| {' | '.join(cells)} |" for cells in (heads, marks, *rows)]
