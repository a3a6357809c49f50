"""Values of flags, read strictly: shares, counts, sizes, predicates from files."""

from __future__ import annotations

import re
import sys

from lakeprune.errors import UsageError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]i?b|b)?", re.IGNORECASE)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def percentage(text: str) -> float:
    """
    >>> percentage("90"), percentage("33.3%")
    (90.0, 33.3)
    """
    value = float(text.strip().removesuffix("%"))
    if not 0 <= value <= 100:  # NaN too
        raise ValueError(text)
    return value


def count(text: str) -> int:
    """
    >>> count("12")
    12
    """
    if not text.strip().isdecimal() or len(text) > 18:
        raise ValueError(text)
    return int(text)


def size(text: str) -> int:
    """Bytes, in powers of 1000 (KB, MB, ...) or 1024 (KiB, MiB, ...), rounded down.

    >>> size("1.5KB"), size("2 MiB"), size("700")
    (1500, 2097152, 700)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or len(text) > 30:
        raise ValueError(text)
    unit = (match[2] or "b").lower()
    base = 1024 if "i" in unit else 1000
    whole, _, fraction = match[1].partition(".")
    scale: int = base ** _POWERS[unit[0]]
    return int(whole + fraction) * scale // int("1" + "0" * len(fraction))


def predicate(text: str) -> str:
    """The predicate itself; `@FILE` reads it from a file and `@-` from standard input, for lists longer than a command line.

    >>> predicate("age > 40")
    'age > 40'
    """
    if not text.startswith("@"):
        return text
    source = text[1:]
    try:
        if source == "-":
            return sys.stdin.read()
        with open(source, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as problem:
        why = "it is not UTF-8 text" if isinstance(problem, UnicodeDecodeError) else getattr(problem, "strerror", None)
        raise UsageError(
            "LP204", "the predicate cannot be read", where=f"--where {text}", why=why, fix="give a readable text file after @"
        ) from problem
