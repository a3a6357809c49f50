"""A DataFrame's plan with the conditions that its own filters imply, scan by scan.

In: a DataFrame. Out: a `Sharpening`. Nothing is executed; the connector's own plans decide which additions stay: those with which
it reads fewer files. The user's session keeps its settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pyspark.sql import DataFrame

from lakeprune.apps.dataframes.conditions import question_of
from lakeprune.apps.dataframes.explain_frame import is_here, place_of
from lakeprune.apps.dataframes.scan import Scan
from lakeprune.apps.dataframes.spark_plans import QueryPlan, plan_of_frame, query_errors
from lakeprune.apps.sharpen.implied import Conditions, conditions_of
from lakeprune.apps.sharpen.model import Added, Refused, Sharpening
from lakeprune.apps.sharpen.spark_leaves import Leaf, Occurrence, leaves_of, occurrences
from lakeprune.apps.sharpen.spark_rebuild import Branches, Rebuilder
from lakeprune.engines.spark.nodes import class_name, descendants
from lakeprune.errors import TableError
from lakeprune.planning.opening import open_planner
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import profile_of
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.passes.rebuild import any_of
from lakeprune.predicate.schema import Schema
from lakeprune.report.amount import files_text

# What is decided by looking at the rows, or at their statistics, must not be decided while the plan is only read.
SETTINGS = {
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
}
_STREAM = "it is a stream, which reads files as they come"
_CLOCK = "the query asks the clock, and another moment could need other files"
_RANDOM = "the query has expressions that give other values each time, and which rows get them depends on the files read"
_UNREAD = "its metadata cannot be read here"
_NO_SKIPPING = "data skipping is off in the session: spark.databricks.delta.stats.skipping"


class _Scanned(Struct, frozen=True):
    """A leaf with everything that the optimised plan asks of it, and how many files the connector plans for that."""

    leaf: Leaf
    scans: tuple[Scan, ...]
    files: int


def sharpened(frame: DataFrame, *, joins: bool) -> Sharpening:
    if frame.isStreaming:
        return Sharpening(frame, (), (Refused(None, None, _STREAM),))
    query = plan_of_frame(frame, SETTINGS)
    with query_errors(None):
        return _sharpened(frame, query, joins=joins)


def _sharpened(frame: DataFrame, query: QueryPlan, *, joins: bool) -> Sharpening:
    if why := _unsteady(query):
        return Sharpening(frame, (), (Refused(None, None, why),))
    leaves, others = leaves_of(query, frame.sparkSession._jsparkSession)  # noqa: SLF001  # PySpark has no other way
    refused = [Refused(table, None, why) for table, why in others]
    met = occurrences(query, query.optimized)
    scanned, unclear = _scanned(query, leaves, met)
    refused += unclear
    wanted: dict[Leaf, Conditions] = {}
    schemas: dict[Leaf, Schema] = {}
    for one in scanned:
        planner = planner_of(query, one.scans[0])
        if planner is None:
            refused.append(Refused(one.leaf.table, None, _UNREAD))
            continue
        wanted[one.leaf], schemas[one.leaf] = _conditions(planner, one), planner.facts.schema
        refused += [Refused(one.leaf.table, clause, why) for clause, why in wanted[one.leaf].refused]
    if not joins:
        return _kept(frame, query, query.analyzed, scanned, wanted, refused)
    from lakeprune.apps.sharpen.spark_joins import with_keys

    keyed = with_keys(query, frame.sparkSession, wanted, met, schemas)
    return _kept(frame, query, keyed.plan, scanned, keyed.wanted, (*refused, *keyed.refused))


def _unsteady(query: QueryPlan) -> str | None:
    """Why conditions found now could be wrong when the query runs."""
    clock = query.jvm.org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE()
    for node in descendants(query.analyzed):
        if node.containsPattern(clock):
            return _CLOCK
        if class_name(node) == "Sample" or not node.deterministic():
            return _RANDOM
    return None


def _scanned(query: QueryPlan, leaves: Iterable[Leaf], met: Sequence[Occurrence]) -> tuple[list[_Scanned], list[Refused]]:
    found, refused = [], []
    leaves = list(leaves)
    owners = {each: leaf for leaf in leaves for each in leaf.ids}
    for leaf in leaves:
        scans = [one.scan(query) for one in met if _is_of(one, leaf, owners)]
        if not scans:
            continue  # the optimiser proved that no row of it is needed
        whole = [scan for scan in scans if scan is not None and scan.spark is not None and scan.spark.files is not None]
        if len(whole) < len(scans):
            refused.append(Refused(leaf.table, None, _NO_SKIPPING))
            continue
        found.append(_Scanned(leaf, tuple(whole), _files(whole)))
    return found, refused


def _is_of(one: Occurrence, leaf: Leaf, owners: Mapping[int, Leaf]) -> bool:
    """Whether a scan of the optimised plan is of this leaf.

    The optimiser copies what a WITH names, with new ids: a scan that nobody owns may be of any leaf of its table.
    """
    found = {owners[each] for each in one.ids if each in owners}
    return leaf in found if found else one.table == leaf.table


def _files(scans: Iterable[Scan]) -> int:
    return sum(scan.spark.files or 0 for scan in scans if scan.spark is not None)


def _conditions(planner: Planner, scanned: _Scanned) -> Conditions:
    with planner.engine.awake():
        questions = [question_of(scan, planner) for scan in scanned.scans]
        return conditions_of(_either(questions, planner).parts, planner.facts, planner.profile)


def _either(questions: Sequence[Question], planner: Planner) -> Question:
    """What holds for a table that stands at several places of the optimised plan: one of their questions."""
    if len(questions) == 1:
        return questions[0]
    bound = any_of([question.bound for question in questions])
    text = " OR ".join(f"({question.text or 'TRUE'})" for question in questions)
    return planner.ask_bound(Condition(text, bound), bound)


def planner_of(query: QueryPlan, scan: Scan) -> Planner | None:
    place = place_of(scan)
    if place is None:
        return None
    profile, _ = profile_of(timezone=query.zone)
    spark = None if is_here(place.location) else query.spark
    try:
        return open_planner(place.location, place.at, profile, access={}, spark=spark)
    except TableError:
        return None


def _kept(
    frame: DataFrame,
    query: QueryPlan,
    plan: Any,
    scanned: Sequence[_Scanned],
    wanted: Mapping[Leaf, Conditions],
    refused: Sequence[Refused],
) -> Sharpening:
    """The frame with those additions that make the connector read fewer files."""
    rebuilder = Rebuilder(frame.sparkSession)
    before = {one.leaf: one.files for one in scanned}
    best: dict[Leaf, tuple[Branches, int]] = {}
    one_by_one = {leaf: (found.added,) for leaf, found in wanted.items() if found.added}
    divided = {leaf: found.branches for leaf, found in wanted.items() if found.branches}
    for trial in (one_by_one, {**one_by_one, **divided} if divided else {}):
        for leaf, files in _planned(query, rebuilder, plan, trial, before).items():
            if files < (best[leaf][1] if leaf in best else before[leaf]):
                best[leaf] = (trial[leaf], files)
    useless = [leaf for leaf in (*one_by_one, *divided) if leaf not in best]
    notes = [
        Refused(leaf.table, None, f"the connector plans {files_text(before[leaf])} with every condition that could be added, too")
        for leaf in dict.fromkeys(useless)
    ]
    added = [Added(leaf.table, tuple(map(tuple, branches)), before[leaf], files) for leaf, (branches, files) in best.items()]
    if not best:
        return Sharpening(frame, (), (*refused, *notes))
    new, _ = rebuilder.rebuilt(plan, {leaf: branches for leaf, (branches, _) in best.items()})
    return Sharpening(rebuilder.frame(new), tuple(added), (*refused, *notes))


def _planned(
    query: QueryPlan, rebuilder: Rebuilder, plan: Any, trial: Mapping[Leaf, Branches], leaves: Iterable[Leaf]
) -> dict[Leaf, int]:
    """How many files the connector plans for each leaf with these conditions."""
    if not trial:
        return {}
    new, owners = rebuilder.rebuilt(plan, trial)
    met = occurrences(query, query.again(new))
    known = {each: leaf for leaf in leaves for each in leaf.ids} | owners
    return {leaf: _files(filter(None, (one.scan(query) for one in met if _is_of(one, leaf, known)))) for leaf in trial}
