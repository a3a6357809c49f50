"""A share of the files, chosen by their paths: the same files at every run and on every engine.

A file is in the sample when the first eight hexadecimal digits of the MD5 of its path, as the log records it, are below the
share of 2^32: `printf %s PATH | md5sum` shows them.
"""

from __future__ import annotations


def in_sample(path: str, share: float | None) -> str:
    """SQL: whether the file of this path is in the sample; without a share every file is.

    >>> in_sample("path", 0.5)
    "substr(md5(path), 1, 8) < '80000000'"
    >>> in_sample("path", 1), in_sample("path", None)
    ('TRUE', 'TRUE')
    """
    limit = 2**32 if share is None else round(share * 2**32)
    return f"substr(md5({path}), 1, 8) < '{limit:08x}'" if limit < 2**32 else "TRUE"
