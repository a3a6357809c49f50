"""The codes of diagnoses: stable, each with a page in docs/diagnoses/. A test keeps the two in step."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    ALWAYS_TRUE = "ALWAYS_TRUE"  # a clause that filters nothing
    CONTRADICTION = "CONTRADICTION"  # a clause that no row satisfies
    ENGINE_DIFFERS = "ENGINE_DIFFERS"  # Delta Spark itself reads more
    MISSING_STATS = "MISSING_STATS"  # no candidate has a statistic that a clause needs
    NO_PARTITION_FILTER = "NO_PARTITION_FILTER"  # a partition column that no clause looks at
    OPAQUE_EXPRESSION = "OPAQUE_EXPRESSION"  # a clause that metadata cannot decide
    PARTIAL_STATS = "PARTIAL_STATS"  # some candidates lack a statistic that a clause needs
    PREDICATE_TOO_LARGE = "PREDICATE_TOO_LARGE"  # no variant of it is tried
    STATS_BEYOND_INDEXED_COLUMNS = "STATS_BEYOND_INDEXED_COLUMNS"  # writers are told not to collect it
    TIMESTAMP_ZONE_UNKNOWN = "TIMESTAMP_ZONE_UNKNOWN"  # partition timestamps without offset
    TRUNCATED_STRING_BOUNDS = "TRUNCATED_STRING_BOUNDS"  # the maximum of a text is cut
    UNDEFINED_NAN = "UNDEFINED_NAN"  # NaN may lie outside the bounds
    UNSPLITTABLE_OR = "UNSPLITTABLE_OR"  # an OR over partition and data columns
    WEAK_DATA_SKIPPING = "WEAK_DATA_SKIPPING"  # the ranges of a column overlap
    WIDE_BOUNDS_DELETION_VECTORS = "WIDE_BOUNDS_DELETION_VECTORS"  # bounds that cover deleted rows
