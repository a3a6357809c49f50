"""Names as Spark SQL writes them: in back-ticks, with a back-tick inside doubled."""

from __future__ import annotations

import re

_PART = re.compile(r"`((?:[^`]|``)*)`|([^`.]+)")


def quote_name(name: str) -> str:
    """One name, whatever is in it.

    >>> quote_name("a`b.c")
    '`a``b.c`'
    """
    return "`" + name.replace("`", "``") + "`"


def unquote_name(quoted: str) -> str:
    """The name between back-ticks."""
    return quoted[1:-1].replace("``", "`")


def name_parts(text: str) -> tuple[str, ...]:
    """The names of a path.

    >>> name_parts("a.`b``.c`")
    ('a', 'b`.c')
    """
    return tuple(unquote_name(part[0]) if part[0].startswith("`") else part[0] for part in _PART.finditer(text))
