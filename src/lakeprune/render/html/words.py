"""Text and numbers as HTML: everything from a table or a user passes through `words` or `code` on its way to the page.

Control characters become visible escapes, then markup is escaped, so no name, path or predicate can speak to the browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from lakeprune.render.printable import printable
from lakeprune.report.amount import Amount, size_text

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


def sizes_of(amount: Amount) -> str:
    """The bytes of an amount; what is not known is said.

    >>> sizes_of(Amount(2, 0, 0, 0, 2))
    'unknown bytes'
    """
    if amount.files_without_bytes and not amount.bytes:
        return "unknown bytes"
    return f"{'at least ' if amount.files_without_bytes else ''}{size(amount.bytes)}"


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "file"), plural(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = (), *, numbers: bool = False, scrolls: str | None = None) -> str:
    """HTML in rows, the first cell of each its heading; `numbers` aligns the others, `scrolls` names a region that scrolls.

    >>> table([("a", "1")])
    '<table><tbody><tr><th scope="row">a</th><td>1</td></tr></tbody></table>'
    """
    style = ' class="num"' if numbers else ""
    names = "".join(f'<th scope="col"{style if index else ""}>{name}</th>' for index, name in enumerate(heads))
    head = f"<thead><tr>{names}</tr></thead>" if heads else ""
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td{style}>{cell}</td>" for cell in cells)}</tr>' for first, *cells in rows
    )
    whole = f"<table>{head}<tbody>{body}</tbody></table>"
    return whole if scrolls is None else f'<div class="scroll" tabindex="0" role="region" aria-label="{scrolls}">{whole}</div>'


def plain_list(items: Iterable[str]) -> str:
    """HTML as a list without marks, nothing without an item."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="plain">{listed}</ul>' if listed else ""
