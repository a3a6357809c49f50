"""Hypothesis for every test alike: a slow machine is not a failure, and in CI the examples are the same every time.

Anywhere else they are new ones, and what they find becomes a test. The shared engine is awake for the whole run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.builders.engine import ENGINE
from tests.scope import IS_WHOLE

settings.register_profile(
    "lakeprune",
    max_examples=100 if IS_WHOLE else 40,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lakeprune")


@pytest.fixture(scope="session", autouse=True)
def _shared_engine() -> Iterator[None]:
    with ENGINE.awake():
        yield
