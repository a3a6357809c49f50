"""How much is asked of Spark: a share in `make test`, everything in `make conformance`, which takes a quarter of an hour."""

from __future__ import annotations

import os

import pytest

IS_WHOLE = os.environ.get("LAKEPRUNE_CONFORMANCE") == "whole"
only_whole = pytest.mark.skipif(not IS_WHOLE, reason="takes a minute: `make conformance` runs it")
