"""What Iceberg's metadata knows: of a manifest, the ranges of its partition values; of a file, the values of its identity
partition fields, what other partition fields prove about the columns they are computed from, and metrics of its columns.

Files and manifests have one ladder and each their own evidence: what the list says of a manifest is not known of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lakeprune.formats.iceberg.specs import SpecField
from lakeprune.formats.iceberg.transforms import buckets_of, is_bucket
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Evidence, Ladder, Level, Rung, by_role

SUMMARY = Rung("manifest", "manifests", "partition summaries", "Manifest pruning", Level.MANIFEST, is_exact=False)
PARTITION = Rung("partition", "partitions", "partition values", "Partition pruning", Level.FILE, is_exact=True)
TRANSFORM = Rung("transform", "transforms", "partition transforms", "Partition pruning (transforms)", Level.FILE, is_exact=False)
METRICS = Rung("statistics", "metrics", "column metrics", "Data skipping (column metrics)", Level.FILE, is_exact=False)
_LADDER = (SUMMARY, PARTITION, TRANSFORM, METRICS)


def evidence_of(specs: Sequence[Sequence[SpecField]]) -> Evidence:
    """The evidence of a table with files of these specs; transforms are a rung where some column has one."""
    specs = list(dict.fromkeys(map(tuple, specs)))
    sources = frozenset(str(field.source_id) for fields in specs for field in fields if field.tells)
    if not sources:
        return by_role(PARTITION, METRICS)
    exact, some, plain = frozenset({PARTITION}), frozenset({TRANSFORM, METRICS}), frozenset({METRICS})
    buckets = frozenset({TRANSFORM})

    def rungs_of(column: Column) -> frozenset[Rung]:
        if column.role is Role.PARTITION:
            return exact
        if is_bucket(column):
            return buckets
        return some if column.physical[-1] in sources else plain

    return Evidence(_LADDER, rungs_of, partial(buckets_of, specs=specs))


def summary_evidence(ladder: Ladder, specs: Sequence[Sequence[SpecField]]) -> Evidence:
    """The evidence about manifests of these specs: any field that proves something about a column does so by its range."""
    sources = frozenset(str(field.source_id) for fields in specs for field in fields if field.tells)
    summarised, nothing = frozenset({SUMMARY}), frozenset[Rung]()

    def rungs_of(column: Column) -> frozenset[Rung]:
        return summarised if column.physical[-1] in sources else nothing

    return Evidence(ladder, rungs_of, partial(buckets_of, specs=specs))
