"""Which file of a table a recorded path is, and the refusal of every other place.

In: a path as the log records it. Out: the path below the table's root, decoded once. Absolute paths, schemes, `..`, NUL,
backslashes and the log itself are refused: a shared table is one folder, and nothing outside of it is ever signed or sent.
"""

from __future__ import annotations

import os
from urllib.parse import unquote

from lakeprune.storage.storage import is_elsewhere


class UnsafePath(Exception):
    """Why a file is not shared."""


def inside(recorded: str, root: str) -> str:
    """The decoded path relative to the root.

    >>> inside("d=2021-04-28/a%20b.parquet", "/t")
    'd=2021-04-28/a b.parquet'
    """
    try:
        path = unquote(recorded, errors="strict") if "%" in recorded else recorded
    except UnicodeDecodeError as error:
        raise UnsafePath("the path of a file is not text") from error
    local = path.replace("file://", "", 1) if path.startswith("file:///") else path
    if local.startswith(f"{root}/"):
        local = local[len(root) + 1 :]
    if is_elsewhere(local) or ":" in local.split("/", 1)[0]:
        raise UnsafePath("a file lies outside of the table")
    parts = local.split("/")
    if "\0" in local or "\\" in local or any(part in ("", ".", "..") for part in parts):
        raise UnsafePath("the path of a file has segments that are not accepted")
    if parts[0] == "_delta_log":
        raise UnsafePath("the log of a table is not shared")
    return local


def open_inside(root: str, path: str) -> int:
    """A descriptor of a file below a directory of this machine. Links that lead out are refused; raises OSError like open."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, path))
    if os.path.commonpath([real_root, real]) != real_root or real == real_root:
        raise UnsafePath("a link leads out of the table")
    log = os.path.join(real_root, "_delta_log")
    if real == log or real.startswith(log + os.sep):
        raise UnsafePath("the log of a table is not shared")
    return os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
