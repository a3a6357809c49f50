"""Hypothesis for every test alike: a slow machine is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("lakeprune", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lakeprune")
