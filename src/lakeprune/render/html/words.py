"""Text and numbers as HTML: everything from a table or a user passes through `words` or `code` on its way to the page.

Control characters become visible escapes, then markup is escaped, so no name, path or predicate can speak to the browser.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from lakeprune.render.printable import printable
from lakeprune.report.amount import size_text

LONGEST = 300


def words(text: str, most: int = LONGEST) -> str:
    """The text as HTML, truncated when it is very long.

    >>> words("<b>&\\x1b")
    '&lt;b&gt;&amp;\\\\x1b'
    >>> words("x" * 500, 3)
    'xxx… (500 characters)'
    """
    if len(text) <= most:
        return escape(printable(text))
    return f"{escape(printable(text[:most]))}… ({len(text):,} characters)"


def code(text: str, most: int = LONGEST) -> str:
    return f"<code>{words(text, most)}</code>"


def number(count: int) -> str:
    """A count with its exact value for programs.

    >>> number(1234567)
    '<data value="1234567">1,234,567</data>'
    """
    return f'<data value="{count}">{count:,}</data>'


def size(count: int) -> str:
    return f'<data value="{count}">{size_text(count)}</data>'


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "file"), plural(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain_list(items: Iterable[str]) -> str:
    """HTML as a list without marks, nothing without an item."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="plain">{listed}</ul>' if listed else ""
