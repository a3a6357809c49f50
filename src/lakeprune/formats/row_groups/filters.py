"""Bloom filters of files of which only the footers were fetched: their bytes are brought, and nothing else.

In: where filters begin, and where they end if the footer records it. Out: the files whose filters are all here. A file of which
one is not here is never asked: bytes that were not fetched are zeros, and a filter of zeros excludes every value.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.storage.storage import Storage

_HEADER = 64  # bytes that no header of a filter exceeds: one number, and three choices without content
_LARGEST = 128 << 20  # as the specification limits filters
_FIRST_NUMBER = 0x15  # of a header in Thrift's compact form: field 1 is a 32-bit number, the bytes of the filter


def bring_filters(storage: Storage, wanted: Sequence[tuple[str, int, int | None]]) -> set[str]:
    """The files, of those in which these filters lie, that can be asked now; `wanted` has file, start, end."""
    storage.bring_bytes([(file, start, _HEADER + (start if end is None else end)) for file, start, end in wanted])
    sizes = [_size(file, start) for file, start, _ in wanted]
    unmeasured = [
        (file, start, start + size + _HEADER)
        for (file, start, end), size in zip(wanted, sizes, strict=True)
        if end is None and size is not None
    ]
    storage.bring_bytes(unmeasured)
    absent = {
        file
        for (file, start, end), size in zip(wanted, sizes, strict=True)
        if size is None or (end is not None and start + size >= end)
    }
    return {file for file, _, _ in wanted} - absent


def _size(file: str, start: int) -> int | None:
    """The bytes of the filter whose header begins there, None when there is no header."""
    with open(file, "rb") as opened:
        opened.seek(start)
        header = opened.read(_HEADER)
    if header[:1] != bytes([_FIRST_NUMBER]):
        return None
    value = 0
    for place, byte in enumerate(header[1:6]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            size = (value >> 1) ^ -(value & 1)  # zigzag
            return size if 0 < size <= _LARGEST else None
    return None
