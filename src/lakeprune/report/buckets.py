"""Where a clause finds its evidence, in the words of the JSON contract."""

from __future__ import annotations

from enum import Enum

from lakeprune.predicate.tree import Clause, Exact, Opaque
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.skipping.ladder import Evidence


class Bucket(Enum):
    PARTITION_SAFE = "partition_safe"
    PARTITION_EXACT = "partition_exact"
    STATS_SAFE = "stats_safe"
    UNSPLITTABLE = "unsplittable"
    NOT_EVALUATED = "not_evaluated"  # over partition columns, where an engine evaluates it and lakeprune cannot


EXACT_BUCKETS = frozenset({Bucket.PARTITION_SAFE, Bucket.PARTITION_EXACT})


def bucket_of(clause: Clause, evidence: Evidence) -> Bucket:
    """A clause without columns is decided without evidence; the contract counts it as partition-safe."""
    exact = {evidence.is_exact(column) for column in columns_of(clause.predicate)}
    if len(exact) == 2:
        return Bucket.UNSPLITTABLE
    if False in exact:
        return Bucket.STATS_SAFE
    if any(isinstance(node, Opaque) for node in nodes(clause.predicate)):
        return Bucket.NOT_EVALUATED if exact else Bucket.STATS_SAFE  # without columns nothing decides it
    is_evaluated = any(isinstance(node, Exact) for node in nodes(clause.predicate))
    return Bucket.PARTITION_EXACT if is_evaluated else Bucket.PARTITION_SAFE
