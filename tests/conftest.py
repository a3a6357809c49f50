"""Hypothesis for every test alike: a slow machine is no failure, and in CI a red run is the change's own doing.

Under CI the examples are the same every time; anywhere else they are new ones, and what they find becomes a test.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "lakeprune", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lakeprune")
