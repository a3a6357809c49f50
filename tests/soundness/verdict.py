"""What is said about one file, and whether the truth allows it."""

from __future__ import annotations

from enum import Enum

from tests.soundness.truth import Seen


class Verdict(Enum):
    DROP = "DROP"
    KEEP = "KEEP"
    FULL = "FULL"
    ASSUMED = "DROP, assumed"  # only because no NaN is assumed to be hidden


def complaint(verdict: Verdict, seen: Seen) -> str | None:
    """Why the verdict is unsound for a file whose rows produce this, None when it is sound."""
    if verdict is Verdict.DROP and seen.true:
        return "dropped, but a live row matches"
    if verdict is Verdict.FULL and (seen.false or seen.null):
        return "called fully matched, but a live row is " + ("FALSE" if seen.false else "NULL")
    return None
