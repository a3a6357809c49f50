"""The `Range` header, one range of bytes at most.

In: the header and the size of the file. Out: the first byte and the one after the last, None for the whole file. Several ranges
and ranges outside of the file are 416; what is not a range of bytes is ignored, as HTTP says.
"""

from __future__ import annotations

import re

_RANGE = re.compile(r"\s*bytes\s*=(.*)", re.IGNORECASE | re.DOTALL)
_ONE = re.compile(r"\s*([0-9]*)\s*-\s*([0-9]*)\s*", re.ASCII)
LONGEST = 256


class NoSuchRange(Exception):
    """416."""


def range_of(header: str | None, size: int) -> tuple[int, int] | None:
    """
    >>> range_of("bytes=0-3", 10), range_of("bytes=-4", 10), range_of("bytes=8-99", 10), range_of(None, 10)
    ((0, 4), (6, 10), (8, 10), None)
    """
    if header is None or len(header) > LONGEST or (given := _RANGE.fullmatch(header)) is None:
        return None
    if "," in given[1]:
        raise NoSuchRange
    one = _ONE.fullmatch(given[1])
    if one is None or one[1] == one[2] == "":
        return None
    if one[1] == "":
        start, end = max(0, size - int(one[2])), size
    else:
        start, end = int(one[1]), size if one[2] == "" else min(size, int(one[2]) + 1)
    if start >= end:
        raise NoSuchRange
    return start, end
