"""What is decided about one container. DROP iff no live row can match, FULL iff every live row does."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    DROP = "DROP"  # no row can match
    KEEP = "KEEP"  # some row may match
    FULL = "FULL"  # fully matched: every row does
