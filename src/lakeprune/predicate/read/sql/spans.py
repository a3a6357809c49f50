"""Pointing at a place in the predicate text: what the `where` of an error shows.

In: the text and a span. Out: the line it lies on with carets beneath. Never the whole of a very long text.
"""

from __future__ import annotations

from lakeprune.errors import PredicateError

MAX_SHOWN = 100  # characters of the line that holds the span
MAX_REPEATED = 2_000  # characters of a predicate that a fix writes out


def underline(text: str, start: int, end: int) -> str:
    """The line around `text[start:end]` and a second line with carets under the span.

    >>> print(underline("age > 'x'", 6, 9))
    age > 'x'
          ^^^
    """
    start = max(0, min(start, len(text)))
    end = max(start, min(end, len(text)))
    line_start = max(text.rfind("\n", 0, start) + 1, start - MAX_SHOWN // 2)
    line_end = text.find("\n", start)
    line_end = min(len(text) if line_end < 0 else line_end, line_start + MAX_SHOWN)
    shown = "".join(c if c.isprintable() else "?" for c in text[line_start:line_end])
    before = "..." if line_start > 0 and text[line_start - 1] != "\n" else ""
    after = "..." if line_end < len(text) and text[line_end] != "\n" else ""
    width = max(1, min(end, line_end) - start)
    return f"{before}{shown}{after}\n{' ' * (len(before) + start - line_start)}{'^' * width}"


def syntax_error(text: str, start: int, end: int, why: str, *, fix: str | None = None) -> PredicateError:
    """LP101 with the span underlined."""
    return PredicateError("LP101", "the predicate does not parse", where=underline(text, start, end), why=why, fix=fix)
