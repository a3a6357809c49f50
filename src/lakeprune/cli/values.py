"""Values of flags, read strictly: shares, counts, sizes, predicates from files; and flags that collect what they are given.

A refusal says what would be accepted.
"""

from __future__ import annotations

import re
import sys
from argparse import Action, ArgumentError, ArgumentTypeError
from typing import Any

from lakeprune.errors import UsageError

_SHARE = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]i?b|b)?", re.ASCII | re.IGNORECASE)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def percentage(text: str) -> float:
    """
    >>> percentage("90"), percentage("33.3%")
    (90.0, 33.3)
    """
    number = text.strip().removesuffix("%").rstrip()
    if not _SHARE.fullmatch(number) or not 0 <= float(number) <= 100:
        raise ArgumentTypeError(f"{text!r} is not a percentage; give a number from 0 to 100")
    return float(number)


def fraction(text: str) -> float:
    """
    >>> fraction("0.25"), fraction("1")
    (0.25, 1.0)
    """
    number = text.strip()
    if not _SHARE.fullmatch(number) or not 0 < float(number) <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share; give a number above 0, up to 1")
    return float(number)


def file_name(text: str) -> str:
    """
    >>> file_name("out.json")
    'out.json'
    """
    if text in ("", "-"):
        raise ArgumentTypeError(f"{text!r} is not the name of a file; give one, or /dev/stdout")
    return text


def count(text: str) -> int:
    """
    >>> count("12")
    12
    """
    number = text.strip()
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise ArgumentTypeError(f"{text!r} is not a whole number; give 0 or more")
    return int(number)


def names(text: str) -> list[str]:
    """
    >>> names("id, name")
    ['id', 'name']
    """
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise ArgumentTypeError(f"{text!r} is not a list of names; put one comma between two names")
    return found


def port(text: str) -> int:
    """
    >>> port("8686")
    8686
    """
    number = count(text)
    if not 0 < number < 65536:
        raise ArgumentTypeError(f"{text!r} is not a port; give a number from 1 to 65535")
    return number


def size(text: str) -> int:
    """Bytes, in powers of 1000 (KB, MB, ...) or 1024 (KiB, MiB, ...), rounded down.

    >>> size("1.5KB"), size("2 MiB"), size("700")
    (1500, 2097152, 700)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or len(text) > 30:
        raise ArgumentTypeError(f"{text!r} is not a size; give one like 700, 500MB or 2GiB")
    unit = (match[2] or "b").lower()
    base = 1024 if "i" in unit else 1000
    whole, _, fraction = match[1].partition(".")
    scale: int = base ** _POWERS[unit[0]]
    return int(whole + fraction) * scale // int("1" + "0" * len(fraction))


def assignment(text: str) -> tuple[str, str]:
    """A name and its value, which may be a secret and is in no message.

    >>> assignment("spark.executor.memory=2g")
    ('spark.executor.memory', '2g')
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError("this is not a setting; write its name, `=` and its value")
    return name.strip(), value


def predicate(text: str) -> str:
    """The predicate itself; `@FILE` reads it from a file and `@-` from standard input, for lists longer than a command line.

    >>> predicate("age > 40")
    'age > 40'
    """
    if not text.startswith("@"):
        return text
    source = text[1:]
    try:
        return (_standard_input() if source == "-" else _content(source)).decode("utf-8-sig")
    except (OSError, ValueError) as problem:
        why = "it is not UTF-8 text" if isinstance(problem, UnicodeDecodeError) else getattr(problem, "strerror", None)
        raise UsageError(
            "LP204", "the predicate cannot be read", where=f"--where {text}", why=why, fix="give a readable text file after @"
        ) from problem


class Once(Action):
    """A flag that a second one must not replace silently: a gate would judge half of what was asked."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        if getattr(namespace, self.dest) is not None:
            join = "the conditions with AND" if self.dest == "where" else "both with a comma"
            raise ArgumentError(self, f"given twice; join {join}")
        setattr(namespace, self.dest, values)


class Paired(Action):
    """Assignments as one mapping."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), values[0]: values[1]})


class Clause(Action):
    """Flags by name, in the order given."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        name = str(option_string).removeprefix("--").replace("-", "_")
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), (name, values)])


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(0, "standard input is closed")
    binary = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read().encode() if binary is None else bytes(binary.read())


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
