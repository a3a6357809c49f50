"""The report on a query's hints in place of files: why a recipient's query transfers what it does.

In: a planner and a question. Out: the JSON document of `lakeprune explain`, in which the table has the name that the recipient
knows. Where the table lies is not part of it.
"""

from __future__ import annotations

import time

from msgspec.structs import replace

from lakeprune.apps.explain.explainer import Explainer
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import profile_of


def explained(planner: Planner, question: Question, name: str) -> str:
    """The report as JSON."""
    _, session = profile_of(nan_policy="strict")
    (report,) = Explainer(planner, session, {}, time.perf_counter()).answers([question])
    facts = replace(report.facts, location=name, notes=())
    return replace(report, table=name, facts=facts).to_json()
