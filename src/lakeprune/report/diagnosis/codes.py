"""The stable codes of all diagnoses; docs/diagnoses has a page for each."""

from __future__ import annotations

from enum import Enum


class Code(Enum):
    PREDICATE_TOO_LARGE = "PREDICATE_TOO_LARGE"  # no rule is tried, since each rewrite of it would be as large as itself
    NOTHING_LEFT = "NOTHING_LEFT"  # no file is left of a table that has some
    CONTRADICTION = "CONTRADICTION"  # a clause that no row satisfies
    ALWAYS_TRUE = "ALWAYS_TRUE"  # a clause that filters nothing
    EXCLUDES_LITTLE = "EXCLUDES_LITTLE"  # a clause that names what is not wanted
    OPAQUE_EXPRESSION = "OPAQUE_EXPRESSION"  # a clause that metadata cannot decide
    UNSPLITTABLE_OR = "UNSPLITTABLE_OR"  # an OR over partition and data columns
    MISSING_STATS = "MISSING_STATS"  # no candidate has a statistic that a clause needs
    STATS_BEYOND_INDEXED_COLUMNS = "STATS_BEYOND_INDEXED_COLUMNS"  # the table's settings exclude it
    PARTIAL_STATS = "PARTIAL_STATS"  # some candidates lack a statistic that a clause needs
    METRICS_MISSING = "METRICS_MISSING"  # the table's metrics settings, or older files, lack or truncate what a clause needs
    TRANSFORM_HIDES_RANGE = "TRANSFORM_HIDES_RANGE"  # a range on a column whose partitions are buckets
    MANIFESTS_OVERLAP = "MANIFESTS_OVERLAP"  # manifests are read although few of their files are asked for
    WEAK_DATA_SKIPPING = "WEAK_DATA_SKIPPING"  # the ranges of a column overlap
    SMALL_FILES = "SMALL_FILES"  # fewer, larger files would do
    TRUNCATED_STRING_BOUNDS = "TRUNCATED_STRING_BOUNDS"  # the maximum of a text is truncated
    UNDEFINED_NAN = "UNDEFINED_NAN"  # NaN may lie outside the bounds
    TIMESTAMP_ZONE_UNKNOWN = "TIMESTAMP_ZONE_UNKNOWN"  # partition timestamps without offset
    WIDE_BOUNDS_DELETION_VECTORS = "WIDE_BOUNDS_DELETION_VECTORS"  # bounds that cover deleted rows
    ENGINE_DIFFERS = "ENGINE_DIFFERS"  # the format's own engine reads more
    NO_PARTITION_FILTER = "NO_PARTITION_FILTER"  # a partition column that no clause looks at
