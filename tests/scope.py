"""How much is asked: a share in `make test`, everything in `make conformance`, which takes more than an hour.

A test with a share says so by `IS_WHOLE` where its cases are chosen, or by `@only_whole` where a neighbour that is quicker has
the same witness.
"""

from __future__ import annotations

import os

import pytest

IS_WHOLE = os.environ.get("LAKEPRUNE_CONFORMANCE") == "whole"
only_whole = pytest.mark.skipif(not IS_WHOLE, reason="takes a minute: `make conformance` runs it")


def share_of(cases: int) -> int:
    """How many random cases of so many that `make conformance` tries."""
    return cases if IS_WHOLE else cases // 5
