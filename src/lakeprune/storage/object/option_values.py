"""Values of storage options, read strictly; what is refused is named, its value never repeated."""

from __future__ import annotations

import re

from lakeprune.errors import UsageError

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(ms|s|sec|secs|seconds?|m|min|minutes?|h|hours?)?", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?(?:/[A-Za-z0-9._~/-]*)?", re.ASCII)


def header_text(value: str, what: str) -> str:
    """The value without white space around it. What no header can carry is refused: the client would fail hard on it.

    >>> header_text(" eu-west-1\\n", "the region")
    'eu-west-1'
    """
    stripped = value.strip()
    if not (stripped.isascii() and stripped.isprintable()):
        fix = "give it on one line, in plain letters, digits and signs"
        raise UsageError("LP231", f"{what} contains a character that no request can carry", fix=fix)
    return stripped


def check_address(url: str | None, name: str) -> None:
    """The client takes any text for an address and fails hard on the first request, so a wrong one is refused here."""
    if url is None:
        return
    match = _ADDRESS.fullmatch(url)
    if match is None or int(match["port"] or 1) > 65_535:
        fix = "give http(s)://HOST[:PORT], without credentials"
        raise UsageError("LP231", f"storage option `{name}` is not a usable address", fix=fix)


def seconds(text: str | None, name: str, default: float) -> float:
    """A duration as delta-rs takes it; a bare number is seconds.

    >>> seconds("500ms", "timeout", 20), seconds("2m", "timeout", 20), seconds("7", "timeout", 20), seconds(None, "timeout", 20)
    (0.5, 120.0, 7.0, 20)
    """
    if text is None:
        return default
    match = _DURATION.fullmatch(text)
    value = 0.0 if match is None else float(match[1]) * _UNITS["ms" if match[2] == "ms" else (match[2] or "s")[0]]
    if not 0 < value <= 86_400:
        raise UsageError("LP231", f"storage option `{name}` is not a duration up to a day", fix="write 30s, 500ms or 2m")
    return value


def whole_number(text: str | None, name: str, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise UsageError("LP231", f"storage option `{name}` is not a number below 1000", fix="write 3")
    return int(text)
