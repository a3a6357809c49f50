"""The relation of a table's containers: one row per live file, and the columns that programs may ask it for.

A format writes it as SQL over `Engine.json_source` and `Engine.parquet_source`; programs read it. Both name its columns through
`Relation` and never otherwise. Every relation has these columns:

    size          bytes of the file
    rows          physical rows, NULL when unknown
    deleted       rows hidden by a deletion vector, 0 without one, NULL when a deletion vector does not record it
    has_stats     whether the file carries any statistics
    has_dv        whether it carries a deletion vector
    path          as recorded in the metadata          } only when `Needs.paths`
    partition     partition values as JSON text        }
    modified      when it was written, milliseconds since the epoch, NULL when unknown; only when `Needs.times`
    parent        the number of the group that it is in; only when `Needs.parents`
    stats_text    its statistics as JSON text, NULL when the log has them in another form   } only when `Needs.records`,
    vector        the descriptor of its deletion vector as JSON text, NULL without one      } and only in a Delta table

The relation of groups (`Snapshot.groups`) has besides, and the sizes of its files are not known there:

    number        of the group
    files         how many containers are in it, NULL when that is not recorded

Per column of `Needs.domains`, as one rung of the ladder shows it (docs/traps.md lists what each must survive):

    lo, hi              inclusive bounds of every live non-NULL, non-NaN value; NULL = unbounded; BIGINT, DOUBLE, DECIMAL, STRING,
                        BINARY or BOOLEAN by the type's family (dates and timestamps as BIGINT days and microseconds)
    is_truncated        text only: hi is a truncated prefix, so values may extend it
    no_null, all_null   proven without NULL, proven all NULL; never NULL themselves
    nan_free            floats only: proven without NaN; never NULL
    has_nan             floats only: NaN is recorded; never NULL
    is_counted          whether the null count is known (for partition columns: the value is known)
    first, last, nulls  bounds and null count as the metadata records them, before they are judged; only when `Needs.recorded`

Per column of `Needs.partition_texts`:

    text, is_missing    the partition value as recorded, NULL for NULL; whether the file does not record this partition column
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import Family

LIVE = "rows - deleted"


class Needs(Struct, frozen=True):
    """What a program asks to know of every container, and nothing more."""

    domains: tuple[Seen, ...] = ()
    partition_texts: tuple[Column, ...] = ()
    paths: bool = False
    times: bool = False
    recorded: bool = False
    parents: bool = False
    records: bool = False  # of a Delta log, for those who pass its files on
    within: frozenset[int] | None = None  # only the containers of these groups; None: of all


class Relation(Struct, frozen=True):
    """A FROM item, and what its columns are called in SQL."""

    source: str
    domains: Mapping[Seen, int]
    texts: Mapping[Column, int]

    def lo(self, column: Seen) -> str:
        return f"c{self.domains[column]}_lo"

    def hi(self, column: Seen) -> str:
        return f"c{self.domains[column]}_hi"

    def is_truncated(self, column: Seen) -> str:
        return f"c{self.domains[column]}_truncated"

    def no_null(self, column: Seen) -> str:
        return f"c{self.domains[column]}_no_null"

    def all_null(self, column: Seen) -> str:
        return f"c{self.domains[column]}_all_null"

    def nan_free(self, column: Seen) -> str:
        return f"c{self.domains[column]}_nan_free"

    def has_nan(self, column: Seen) -> str:
        return f"c{self.domains[column]}_has_nan"

    def is_counted(self, column: Seen) -> str:
        return f"c{self.domains[column]}_counted"

    def first(self, column: Seen) -> str:
        return f"c{self.domains[column]}_first"

    def last(self, column: Seen) -> str:
        return f"c{self.domains[column]}_last"

    def nulls(self, column: Seen) -> str:
        return f"c{self.domains[column]}_nulls"

    def text(self, column: Column) -> str:
        return f"p{self.texts[column]}"

    def is_missing(self, column: Column) -> str:
        return f"p{self.texts[column]}_missing"

    def has_bounds(self, column: Seen) -> str:
        """SQL: minimum and maximum are known, or there is no value that could have them."""
        return f"({self.lo(column)} IS NOT NULL AND {self.hi(column)} IS NOT NULL OR {self.all_null(column)})"

    def has_no_bound(self, column: Seen) -> str:
        return f"({self.lo(column)} IS NULL AND {self.hi(column)} IS NULL)"


def flags_of(names: Relation, column: Seen) -> list[str]:
    """The columns of a domain that are TRUE or FALSE."""
    flags = [names.no_null(column), names.all_null(column), names.is_counted(column)]
    if column.type.family is Family.TEXT:
        flags.append(names.is_truncated(column))
    if column.type.family is Family.REAL:
        flags += [names.nan_free(column), names.has_nan(column)]
    return flags


def relation_of(needs: Needs, source: str = "") -> Relation:
    """The names that these needs have; a format fills in the source."""
    domains = {column: number for number, column in enumerate(needs.domains)}
    texts = {column: number for number, column in enumerate(needs.partition_texts)}
    return Relation(source, domains, texts)
