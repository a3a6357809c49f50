"""Why a clause, or part of it, could not be used: stable codes, shown in every output.

A reason is never an error. Each code has an entry in docs/reasons.md, and a check holds page, codes and uses together.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class ReasonCode(Enum):
    UNSUPPORTED_EXPRESSION = "UNSUPPORTED_EXPRESSION"  # a function or operator lakeprune does not know
    NOT_EVALUATED = "NOT_EVALUATED"  # over partition columns only, where Spark evaluates it exactly and lakeprune cannot
    OPAQUE_ON_DATA = "OPAQUE_ON_DATA"  # known, but min/max say nothing about it (RLIKE, LIKE '%x%', lower)
    NON_DETERMINISTIC = "NON_DETERMINISTIC"  # rand(), uuid(): evaluated again at the scan
    NO_ORDERED_STATISTICS = "NO_ORDERED_STATISTICS"  # arrays, maps, variants, binary data columns
    COLLATION = "COLLATION"  # statistics are in binary order, the comparison is not
    TYPE_CHANGE_UNKNOWN = "TYPE_CHANGE_UNKNOWN"  # the column's history of type changes is not understood
    OVERFLOW_POSSIBLE = "OVERFLOW_POSSIBLE"  # arithmetic that can leave its type
    CROSS_TYPE = "CROSS_TYPE"  # a comparison between types whose cast is not order preserving
    INEXACT_REWRITE = "INEXACT_REWRITE"  # pruned by an implied range; rows inside it may still not match
    LIST_MERGED = "LIST_MERGED"  # a very long IN list, merged into intervals
    PREDICATE_TOO_LARGE = "PREDICATE_TOO_LARGE"  # clauses beyond the limits of terms, columns or partition expressions
    HINT_NOT_UNDERSTOOD = "HINT_NOT_UNDERSTOOD"  # a part of a client's hint that is unknown, or means different things to clients
    UNSPLITTABLE_OR = "UNSPLITTABLE_OR"  # one clause over partition and data columns


class Reason(Struct, frozen=True):
    code: ReasonCode
    message: str
