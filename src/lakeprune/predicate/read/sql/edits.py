"""A text with some of its places written otherwise: what fixes are made of."""

from __future__ import annotations

Edit = tuple[int, int, str]  # from, to, what stands there instead
Hint = tuple[str, str]  # why, fix


def edited(text: str, edits: list[Edit]) -> str:
    """
    >>> edited("a && b", [(2, 4, "AND")])
    'a AND b'
    """
    for start, end, put in sorted(edits, reverse=True):
        text = text[:start] + put + text[end:]
    return text.strip()
