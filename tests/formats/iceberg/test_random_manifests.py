"""Random Iceberg tables in several manifests: what pass 1 drops against the rows, alone and together, quick and exhaustive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.formats.iceberg import summaries
from lakeprune.formats.registry import open_table
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.tree import Profile
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.programs.select import KEPT, Selection, select
from lakeprune.report.attribution import Attribution, attribute
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.skipping.verdict import Verdict
from tests.formats.iceberg.random_tables import random_iceberg_table, write
from tests.formats.iceberg.test_soundness import TABLES
from tests.formats.iceberg.widening import wider
from tests.generator.nodes import Said, say
from tests.generator.predicates import random_predicate
from tests.soundness.every_file import PER_TABLE
from tests.soundness.tables import Table
from tests.soundness.tight import profile_of
from tests.soundness.truth import Truth

_TABLES = max(4, TABLES // 2)


class Asked:
    """One table, and random predicates as plans of it."""

    def __init__(self, root: Path, profile: Profile, *, is_exhaustive: bool = False) -> None:
        engine = DuckDBEngine()
        self.profile = profile
        self.evaluation = Evaluation(engine, open_table(str(root), engine), profile, is_exhaustive=is_exhaustive)

    def plan(self, spark: str) -> Plan:
        facts = self.evaluation.snapshot.facts
        bound = bind(parse_predicate(spark, self.profile), facts.schema, self.profile, spark)
        return plan_clauses(split(bound, self.profile), facts.evidence)

    def kept(self, plan: Plan) -> set[str]:
        """As a reader gets them: only the manifests that are kept are read."""
        return {file.path for file in select(self.evaluation, plan, Selection(KEPT))}

    def dropped_manifests(self, plan: Plan) -> int:
        grouping = self.evaluation.judged([plan])
        assert grouping is not None
        return len(grouping.plans[0].dropped)


def said(table: Table, rng: Random) -> list[Said]:
    return [say(random_predicate(table.columns, table.zone, rng)) for _ in range(PER_TABLE)]


def lost_rows(root: Path, seeds: Sequence[int]) -> tuple[list[str], int]:
    """Files with a matching row that are not kept, and how many manifests were dropped."""
    problems, dropped = [], 0
    for seed in seeds:
        rng = Random(seed)
        table = random_iceberg_table(rng)
        write(table, root / str(seed), rng)
        asked, truth = Asked(root / str(seed), profile_of(table)), Truth(table, root / str(seed))
        nodes = said(table, rng)
        for node, seen in zip(nodes, truth.seen([node.duckdb for node in nodes]), strict=True):
            plan = asked.plan(node.spark)
            kept = asked.kept(plan)
            dropped += asked.dropped_manifests(plan)
            for file, outcome in zip(table.files, seen or [], strict=seen is not None):
                if outcome.true and file.name not in kept:
                    problems.append(f"seed {seed}: {node.spark}: {file.name}")
        truth.close()
    return problems, dropped


def test_no_manifest_with_a_matching_row_is_dropped(tmp_path: Path) -> None:
    problems, dropped = lost_rows(tmp_path, range(4000, 4000 + _TABLES))
    assert not problems, "\n".join(problems[:5])
    assert dropped > 5 * _TABLES, "a soundness test that drops nothing proves nothing"


def test_a_summary_that_says_too_much_loses_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: upper bounds are taken for the lower ones."""
    honest = summaries.ManifestSnapshot._range

    def narrowed(self: Any, *asked: Any) -> summaries.Range:
        found = honest(self, *asked)
        return replace(found, lo=found.hi, no_null=True)

    monkeypatch.setattr(summaries.ManifestSnapshot, "_range", narrowed)
    problems, _ = lost_rows(tmp_path, range(4000, 4000 + _TABLES))
    assert problems


def test_plans_have_the_same_numbers_alone_together_and_exhaustive(tmp_path: Path) -> None:
    unread = 0
    for seed in range(5000, 5000 + _TABLES):
        rng = Random(seed)
        table = random_iceberg_table(rng)
        chance = Random(seed)
        write(table, tmp_path / str(seed), rng, recorded=partial(_uncounted, chance))
        quick = Asked(tmp_path / str(seed), profile_of(table))
        whole = Asked(tmp_path / str(seed), profile_of(table), is_exhaustive=True)
        plans = [quick.plan(node.spark) for node in said(table, rng)]
        together = quick.evaluation.patterns(plans)
        for plan, patterns, exhaustive in zip(plans, together, whole.evaluation.patterns(plans), strict=True):
            (alone,) = quick.evaluation.patterns([plan])
            assert _numbers(plan, alone) == _numbers(plan, patterns), seed
            ours, theirs = attribute(plan, patterns), attribute(plan, exhaustive)
            assert ours.kept == theirs.kept, seed
            assert _files(ours) == _files(theirs), seed
            for found in (ours, theirs):
                _adds_up(found)
            assert theirs.counted_at is Level.FILE
            assert theirs.total.files_without_bytes == 0
            assert len(quick.kept(plan)) == ours.kept.files == len(whole.kept(plan))
            listed = [file.signature.verdict for file in select(quick.evaluation, plan, Selection())]
            assert sum(verdict is not Verdict.DROP for verdict in listed) == ours.kept.files
            unread += ours.total.files_without_bytes
    assert unread, "nothing was left unread"


def _uncounted(rng: Random, listed: dict[str, Any]) -> dict[str, Any]:
    return {**listed, "added_files_count": None} if rng.random() < 0.1 else listed


def _numbers(plan: Plan, patterns: Sequence[Pattern]) -> tuple[Any, ...]:
    found = attribute(plan, patterns)
    return found.total, found.kept, found.credits, found.manifests, found.clauses


def _files(found: Attribution) -> dict[str, int]:
    return {name: amount.files for name, amount in found.credits.items()}


def _adds_up(found: Attribution) -> None:
    assert sum(_files(found).values()) + found.kept.files == found.total.files
    assert found.manifests is not None
    assert sum(found.manifests.credits.values()) + found.manifests.kept == found.manifests.total


def test_a_summary_that_says_less_never_drops_a_file_more(tmp_path: Path) -> None:
    """Metamorphic: without a summary, a bound, a flag or a count, or with wider bounds, at least as much is kept."""
    less = 0
    for seed in range(6000, 6000 + _TABLES):
        rng = Random(seed)
        table = random_iceberg_table(rng)
        state = rng.getstate()
        found = []
        write(table, tmp_path / "types" / str(seed), rng)
        types = _field_types(tmp_path / "types" / str(seed))
        for name, recorded in (("whole", dict), ("less", partial(_less, Random(seed), types))):
            rng.setstate(state)
            write(table, tmp_path / name / str(seed), rng, recorded=recorded)
            found.append(Asked(tmp_path / name / str(seed), profile_of(table)))
        knowing, forgetful = found
        for node in said(table, rng):
            one, other = knowing.plan(node.spark), forgetful.plan(node.spark)
            assert knowing.kept(one) <= forgetful.kept(other), f"seed {seed}: {node.spark}"
            dropped = knowing.dropped_manifests(one), forgetful.dropped_manifests(other)
            assert dropped[0] >= dropped[1], f"seed {seed}: {node.spark}"
            less += dropped[0] - dropped[1]
    assert less, "nothing that was forgotten mattered"


def _field_types(root: Path) -> dict[int, list[str]]:
    """The types of partition values, by spec and in the order of its fields."""
    metadata = json.loads((root / "metadata" / "v1.metadata.json").read_text())
    types: dict[int, str] = {}

    def collect(fields: Sequence[dict[str, Any]]) -> None:
        for field in fields:
            if isinstance(field["type"], dict):
                collect(field["type"]["fields"])
            else:
                types[field["id"]] = field["type"]

    collect(metadata["schemas"][0]["fields"])
    return {
        spec["spec-id"]: [
            types[field["source-id"]] if field["transform"].startswith(("identity", "truncate")) else "int"
            for field in spec["fields"]
        ]
        for spec in metadata["partition-specs"]
    }


def _less(forget: Random, types: dict[int, list[str]], listed: dict[str, Any]) -> dict[str, Any]:
    if listed["partitions"] is None or forget.random() < 0.2:
        return {**listed, "partitions": None}
    counts = {"added_files_count": None, "added_rows_count": None} if forget.random() < 0.2 else {}
    each = zip(listed["partitions"], types[listed["partition_spec_id"]], strict=True)
    return {**listed, **counts, "partitions": [_weaker(summary, type_, forget) for summary, type_ in each]}


def _weaker(summary: dict[str, Any], type_: str, forget: Random) -> dict[str, Any]:
    if forget.random() < 0.5:
        wide = {
            name: wider(summary[name], type_, forget, is_upper=name == "upper_bound")
            for name in ("lower_bound", "upper_bound")
            if summary[name] is not None and forget.random() < 0.7
        }
        return {**summary, **wide}
    changes: list[dict[str, Any]] = [
        {},
        {"lower_bound": None},
        {"upper_bound": None},
        {"lower_bound": None, "upper_bound": None},
        {"contains_null": True},
        {"contains_nan": None},
        {"contains_nan": True},
    ]
    return {**summary, **forget.choice(changes)}
