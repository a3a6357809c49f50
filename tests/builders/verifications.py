"""Verifications and audits made by hand, for what their documents and pages must do whatever Spark found."""

from __future__ import annotations

from typing import Any

from lakeprune.apps.verify.model import Audit, Sampled, Slack, SparkPlan, StatisticsFault, Truth, Verification, Violation
from lakeprune.programs.audit import Fault, FaultyFiles
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.verdict import Verdict
from tests.builders.reports import USERS, report_on, snapshot

WHERE = "country = 'DE' AND age > 40"


def verification(**changes: Any) -> Verification:
    """One that passed: six files, one kept, which has a match."""
    found: dict[str, Any] = {
        "report": report_on(snapshot(*USERS), WHERE),
        "truth": Truth(6, 24, 2, 1, 750, 0),
        "sampled": None,
        "slack": (Slack("age > 40", Keeps.RANGES_OVERLAP, 2, 900),),
        "violations": (),
        "violation_count": 0,
        "spark": SparkPlan("Delta Spark", 2, 1500),
        "elapsed_ms": 7,
    }
    return Verification(**{**found, **changes})


def unsound(path: str = "part-1.parquet", count: int = 1, **changes: Any) -> Verification:
    """One in which a dropped file has a match."""
    return verification(violations=(Violation(path, Verdict.DROP, 10, 3),), violation_count=count, **changes)


def audit(*faults: StatisticsFault, sampled: Sampled | None = None) -> Audit:
    """Of six files, with these faults."""
    counts = tuple(FaultyFiles(fault.column, fault.fault, 1) for fault in faults)
    return Audit("./rows", 3, 6, ("age", "name"), sampled, 6, len({f.path for f in faults}), counts, faults, 9)


def fault(path: str = "part-1.parquet", column: str | None = "age", writer: str = "unknown") -> StatisticsFault:
    return StatisticsFault(path, column, Fault.MAXIMUM, 35, 61, writer)
