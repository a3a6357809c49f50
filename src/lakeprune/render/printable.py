"""Text from tables and users, safe and short enough for a terminal line."""

from __future__ import annotations

LONGEST = 400  # characters of a predicate or clause in the text report; JSON carries all of it


def printable(text: str) -> str:
    """The text on one line, control characters as escapes.

    >>> printable("a\\nb\\x1b[31m")
    'a b\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    joined = " ".join(line.strip() for line in text.split("\n")) if "\n" in text else text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in joined)


def shortened(text: str) -> str:
    """The printable text, truncated when it is very long.

    >>> shortened("x" * 1000)[-24:]
    'xx... (1000 characters)'
    """
    if len(text) <= LONGEST:
        return printable(text)
    return f"{printable(text[:LONGEST])}... ({len(text)} characters)"
