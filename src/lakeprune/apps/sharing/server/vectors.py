"""Deletion vectors in an answer: where the file of one lies, and its descriptor with a URL in place of a path.

In: a descriptor as the log records it. Out: the path below the table, and the descriptor that a client gets. Inline vectors are
sent as they are; a relative descriptor would be looked for on the client's own disk.
"""

from __future__ import annotations

import uuid
from base64 import b85decode
from collections.abc import Callable
from typing import Any

from lakeprune.apps.sharing.server.paths import UnsafePath

# The protocol's Base85 is Z85; Python's has the same digits in another order.
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_B85 = str.maketrans(_Z85, _B85)
_ENCODED = 20  # characters of a UUID


def vector_path(descriptor: dict[str, Any]) -> str | None:
    """The file that holds the vector, as paths are recorded; None for a vector that is inline.

    >>> vector_path({"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^"})
    'ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin'
    """
    kind, place = descriptor.get("storageType"), descriptor.get("pathOrInlineDv")
    if not isinstance(place, str):
        raise UnsafePath("a deletion vector has no place")
    if kind == "i":
        return None
    if kind == "p":
        return place
    if kind != "u" or len(place) < _ENCODED:
        raise UnsafePath("a deletion vector is recorded in an unknown way")
    try:
        name = uuid.UUID(bytes=b85decode(place[-_ENCODED:].translate(_TO_B85)))
    except ValueError as error:
        raise UnsafePath("a deletion vector has no valid id") from error
    folder = place[:-_ENCODED]
    return f"{folder}/deletion_vector_{name}.bin" if folder else f"deletion_vector_{name}.bin"


def with_url(descriptor: dict[str, Any], url: Callable[[str], str]) -> dict[str, Any]:
    """The descriptor that a client can follow."""
    path = vector_path(descriptor)
    if path is None:
        return descriptor
    return {**descriptor, "storageType": "p", "pathOrInlineDv": url(path)}
