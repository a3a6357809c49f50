"""A sample of files and what it proves: which share was checked, and how likely it would have missed what is wrong."""

from __future__ import annotations

import math

from msgspec import Struct

from lakeprune.errors import UsageError


class Sampled(Struct, frozen=True):
    """Of `files` that were not all checked, `checked` were."""

    share: float
    files: int
    checked: int

    @property
    def is_complete(self) -> bool:
        return self.checked == self.files

    def miss_probability(self, wrong: int) -> float:
        """How likely a sample of this size meets none of so many wrong files: without replacement, whichever they are.

        >>> Sampled(0.5, files=4, checked=2).miss_probability(1)
        0.5
        >>> Sampled(0.5, files=4, checked=2).miss_probability(3)
        0.0
        """
        if wrong > self.unchecked:
            return 0.0
        parts = ((self.unchecked, 1), (self.unchecked - wrong, -1), (self.files, -1), (self.files - wrong, 1))
        return round(math.exp(sum(sign * math.lgamma(number + 1) for number, sign in parts)), 12)

    @property
    def one_percent(self) -> int:
        """How many files one percent of them is, at least one."""
        return max(1, math.ceil(self.files / 100))

    @property
    def unchecked(self) -> int:
        return self.files - self.checked

    @property
    def misses_one(self) -> float:
        return self.miss_probability(1)

    @property
    def misses_one_percent(self) -> float:
        return self.miss_probability(self.one_percent)

    @property
    def worth(self) -> str:
        """What a sample without a fault does and does not prove, in sentences."""
        if self.is_complete:
            return "Every one of them was checked."
        worth = f"Nothing is proven about the other {self.unchecked}."
        if not self.checked:
            return worth
        worth += f" Had one file been wrong, the sample would have missed it with probability {_chance(self.misses_one)}"
        if self.one_percent > 1:
            many = f"had 1% of them ({self.one_percent} files) been"
            worth += f"; {many}, it would have missed them all with {_chance(self.misses_one_percent)}"
        return worth + "."


def share_of(sample: object) -> float | None:
    """The share that was asked for, None for all files."""
    if sample is None:
        return None
    if isinstance(sample, bool) or not isinstance(sample, int | float) or not 0 < sample <= 1:
        fix = "give a number above 0, up to 1"
        raise UsageError("LP247", f"{sample!r} is not a share of the files", where="--sample", fix=fix)
    return float(sample)


def _chance(probability: float) -> str:
    """
    >>> _chance(0.25), _chance(0.0000001)
    ('25.0%', 'less than 0.1%')
    """
    return "less than 0.1%" if probability < 0.001 else f"{probability:.1%}"
