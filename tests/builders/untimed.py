"""Documents without what differs from run to run, so that they can be compared."""

from __future__ import annotations

from typing import Any

_TIMES = ("elapsed_ms", "planning_ms")


def untimed(document: Any) -> Any:
    """The document without how long anything took, at any depth."""
    if isinstance(document, dict):
        return {name: untimed(value) for name, value in document.items() if name not in _TIMES}
    return [untimed(each) for each in document] if isinstance(document, list) else document
