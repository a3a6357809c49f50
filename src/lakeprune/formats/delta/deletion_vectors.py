"""The deletion vector of a Delta file: from the descriptor in the log to the deleted positions.

In: the descriptor as JSON, and how bytes of a file are read. Out: a bitmap of positions. The descriptor says where it lies:

    u   in a file below the table, named by a UUID in Base85, perhaps in a folder
    p   in a file with an absolute path
    i   in the descriptor itself, in Base85
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Literal
from urllib.parse import unquote
from uuid import UUID

import msgspec
from msgspec import Struct

from lakeprune.errors import TableError
from lakeprune.formats.deleted_rows import FRAME, MOST_BYTES, DamagedVector, Positions, positions_of, unframed

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_RFC_1924 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_RFC_1924 = str.maketrans(_Z85, _RFC_1924)
_UUID_LENGTH = 20  # of 16 bytes in Base85
_FIRST = 1  # where the first vector of a file lies: behind the byte of its version

ReadBytes = Callable[[str, int, int], bytes]  # of a file (relative to the table, or absolute): from, to


class Descriptor(Struct, frozen=True, rename="camel"):
    storage_type: Literal["u", "p", "i"]
    path_or_inline_dv: str
    size_in_bytes: int
    cardinality: int
    offset: int | None = None


def deleted_positions(text: str, data_file: str, read: ReadBytes) -> Positions:
    """The positions of the rows that a descriptor deletes from a data file. Raises TableError for a vector that is damaged."""
    try:
        descriptor = msgspec.json.decode(text, type=Descriptor)
        return _positions(descriptor, read)
    except msgspec.DecodeError as error:
        raise _damaged(data_file, f"its descriptor in the log cannot be read: {error}") from error
    except DamagedVector as problem:
        raise _damaged(data_file, str(problem)) from problem


def _positions(descriptor: Descriptor, read: ReadBytes) -> Positions:
    size = descriptor.size_in_bytes
    if not 0 <= size <= MOST_BYTES:
        raise DamagedVector(f"{size:,} bytes are not a size of a vector; at most {MOST_BYTES:,} are read")
    if descriptor.storage_type == "i":
        bitmap = _decoded(descriptor.path_or_inline_dv)[:size]
        if len(bitmap) < size:
            raise DamagedVector("it is shorter than the log says")
    else:
        start = _FIRST if descriptor.offset is None else descriptor.offset
        if start < 0:
            raise DamagedVector(f"{start} is not a place in a file")
        bitmap = unframed(read(place_of(descriptor), start, start + size + FRAME), size)
    return positions_of(bitmap, descriptor.cardinality)


def place_of(descriptor: Descriptor) -> str:
    """The file of a vector, relative to the table or absolute.

    >>> place_of(Descriptor("u", "ab^-aqEH.-t@S}K{vb[*k^", 36, 6, 4))
    'ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin'
    """
    place = descriptor.path_or_inline_dv
    if descriptor.storage_type == "p":
        return unquote(place)
    folder, name = place[:-_UUID_LENGTH], place[-_UUID_LENGTH:]
    file = f"deletion_vector_{UUID(bytes=_decoded(name)[:16].rjust(16))}.bin"
    return f"{folder}/{file}" if folder else file


def _decoded(text: str) -> bytes:
    """The bytes of Base85 text in the alphabet of ZeroMQ."""
    if len(text) % 5 or not set(text) <= set(_Z85):
        raise DamagedVector("its text is not Base85")
    try:
        return base64.b85decode(text.translate(_TO_RFC_1924))
    except ValueError as error:
        raise DamagedVector("its text is not Base85") from error


def _damaged(data_file: str, why: str) -> TableError:
    what = "the deletion vector of a data file cannot be read"
    fix = "restore the file of the vector, or rewrite the data file: which of its rows are deleted is not known"
    return TableError("LP375", what, where=data_file, why=why, fix=fix)
