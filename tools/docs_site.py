"""A hook of mkdocs: options of functions are listed, and links that leave docs/ (to sources, schemas) are names on the site.

In: the Markdown of a page. Out: the same without links that the site cannot follow. check_docs.py checks those.
"""

from __future__ import annotations

import posixpath
import re
from importlib import import_module
from typing import Any

_OPTIONS = re.compile(r"<!-- options of ([\w.]+) -->")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)")


def without_outside_links(text: str, page: str) -> str:
    """
    >>> without_outside_links("[a](../src/a.py), [b](b.md#x), [c](https://c.org)", "page.md")
    'a, [b](b.md#x), [c](https://c.org)'
    """

    def kept(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target.partition("#")[0]))
        return match[1] if place.startswith("..") else match[0]

    return _LINK.sub(kept, text)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What mkdocs calls for every page."""
    return without_outside_links(_OPTIONS.sub(lambda match: options_of(match[1]), markdown), page.file.src_uri)


def options_of(name: str) -> str:
    """The options of a public function, one per line, as its docstring lists them; the parser of the site sees `**options` only.

    >>> options_of("lakeprune.audit").splitlines()[0]
    '- `timezone`: session time zone of the predicate (default: UTC, or that of the Spark session)'
    """
    module, _, function = name.rpartition(".")
    documented = (getattr(import_module(module), function).__doc__ or "").partition("Options:\n")[2]
    pairs = (line.strip().partition(": ") for line in documented.splitlines() if line.strip())
    return "\n".join(f"- `{option}`: {meaning}" for option, _, meaning in pairs)
