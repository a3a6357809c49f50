"""A share of the files, chosen by their paths: the same files at every run and on every engine.

In: judged files and a share. Out: patterns with how many of their files are in the sample, and the paths to look into once the
caller has said which patterns may be sampled. A file is in the sample when the first eight hexadecimal digits of the MD5 of its
path, as the log records it, are below the share of 2^32: `printf %s PATH | md5sum` tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.programs.compare import Judged, is_pattern
from lakeprune.programs.patterns import Signature, signature_of


class SampledPattern(Struct, frozen=True):
    """Files of one signature, and how many of them the sample has."""

    signature: Signature
    words: tuple[int, ...]
    files: int
    in_sample: int


class Sampling(Struct, frozen=True):
    judged: Judged
    share: float

    def patterns(self) -> list[SampledPattern]:
        """Every file, in groups that behave alike."""
        keys, width = self.judged.words, self.judged.width
        chosen = f"count(CASE WHEN {in_sample('path', self.share)} THEN 1 END)"
        found = []
        for row in self.judged.evaluation.engine.query(
            f"SELECT {keys}, count(*), {chosen} FROM {self.judged.source} GROUP BY {keys}"
        ):
            words = tuple(int(word) for word in row[:width])
            found.append(SampledPattern(signature_of(self.judged.plan, words), words, int(row[width]), int(row[width + 1])))
        return found

    def is_checked(self, sampled: Sequence[SampledPattern]) -> str:
        """SQL over judged files: a file of the sample, or of a pattern that is not among these."""
        if not sampled:
            return "TRUE"
        tests = " OR ".join(f"({is_pattern(pattern.words)})" for pattern in sampled)
        return f"(NOT ({tests}) OR {in_sample('path', self.share)})"

    def paths(self, is_checked: str) -> list[str]:
        """The files to look into, as the log records them."""
        sql = f"SELECT path FROM {self.judged.source} WHERE {is_checked}"
        return [path for (path,) in self.judged.evaluation.engine.query(sql)]


def in_sample(path: str, share: float) -> str:
    """SQL: whether the file of this path is in the sample.

    >>> in_sample("path", 0.5)
    "substr(md5(path), 1, 8) < '80000000'"
    >>> in_sample("path", 1)
    'TRUE'
    """
    limit = round(share * 2**32)
    return f"substr(md5({path}), 1, 8) < '{limit:08x}'" if limit < 2**32 else "TRUE"
