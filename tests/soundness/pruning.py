"""Verdicts from lakeprune itself: the log read, the predicates planned together, one pass, every file judged.

Sizes of generated files are powers of two, so the bytes of a verdict pattern tell exactly which files are in it: the grouped
query that `explain_many` uses is tested, not a listing beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.formats.registry import open_table
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.tree import NanPolicy, Profile
from lakeprune.programs.patterns import Evaluation, Signature
from lakeprune.programs.select import Selection, select
from lakeprune.skipping.plan import Plan, plan_clauses
from tests.soundness.verdict import Verdict


class Pruner:
    def __init__(self, root: Path, profile: Profile) -> None:
        engine = DuckDBEngine()
        snapshot = open_table(str(root), engine)
        self._evaluation = Evaluation(engine, snapshot, profile)
        self._profile = profile
        self._evidence = snapshot.facts.evidence
        self._files = sum(1 for _ in select(self._evaluation, plan_clauses([], self._evidence), Selection()))

    def plan(self, spark: str) -> Plan:
        bound = bind(parse_predicate(spark, self._profile), self._evaluation.snapshot.facts.schema, self._profile, spark)
        return plan_clauses(split(bound, self._profile), self._evidence)

    def assuming(self, plan: Plan) -> Plan:
        """The same clauses, planned as `explain` does by default: no NaN is assumed to be hidden."""
        return plan_clauses(plan.clauses, self._evidence, NanPolicy.ASSUME)

    def verdicts(self, plans: Sequence[Plan]) -> list[list[Verdict]]:
        """Per plan the verdict of every file, by the number in its size."""
        found = []
        for patterns in self._evaluation.patterns(plans):
            by_file: dict[int, Verdict] = {}
            for pattern in patterns:
                numbers = [n for n in range(pattern.bytes.bit_length()) if pattern.bytes >> n & 1]
                assert len(numbers) == pattern.files
                by_file |= dict.fromkeys(numbers, _verdict(pattern.signature))
            assert sorted(by_file) == list(range(self._files)), "a file is missing from every pattern"
            found.append([by_file[n] for n in range(self._files)])
        return found

    def listed(self, plan: Plan) -> dict[str, Verdict]:
        """The verdicts as a listing gives them, by path."""
        listed = select(self._evaluation, plan, Selection())
        return {file.path: _verdict(file.signature) for file in listed}


def _verdict(signature: Signature) -> Verdict:
    return Verdict.ASSUMED if signature.is_assumed else Verdict[signature.verdict.name]
