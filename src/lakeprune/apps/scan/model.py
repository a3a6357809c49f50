"""A scan as data: which files of a table a reader opens, what it still has to filter in each, and what comes out.

In: nothing; plan.py makes it, received.py from JSON. Out: values, and the files as Arrow columns. Nothing here opens a data file.

The columns of `ScanPlan.files`, one row per file that is read:

    path       string           as the table records it
    uri        string           absolute: a path of this machine, or a URL
    size       int64            bytes
    modified   int64            milliseconds since the epoch, null when unknown
    rows       int64            live rows, null when unknown
    verdict    string           "full": every live row satisfies the predicate; "partial": some may
    residual   list<int32>      the clauses that a reader still has to apply, by their places in `clauses`; empty when full
    partition  struct           the values of partition columns in their own types, by logical name
    vector     string           Delta: its deletion vector's descriptor, JSON; Iceberg: the delete files that apply, a JSON list;
                                of a change data feed: which rows of a file of the table changed, JSON
    group      int32            null when no groups were asked for
    stats      struct           per projected column {min, max, nulls} as recorded, null where nothing is recorded
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, field

from lakeprune.planning.session import Session
from lakeprune.predicate.tree import Expr
from lakeprune.report.document import Document, Envelope, View

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeprune.apps.scan.document import PlanHead
    from lakeprune.apps.scan.files import Files
    from lakeprune.apps.scan.options import ScanOptions
    from lakeprune.apps.scan.statistics import ScanStatistics
    from lakeprune.planning.planner import Planner


class Pushdown(Enum):
    """Who guarantees a clause, as the contract of DataFusion's table providers means it."""

    EXACT = "Exact"  # the plan alone: partition columns decide it, or metadata proves it on every file that is read
    INEXACT = "Inexact"  # applied in part: the reader applies it again where it is in the residual
    UNSUPPORTED = "Unsupported"  # metadata cannot use it


class TableIdentity(Struct, frozen=True):
    """Which table at which version a plan is of."""

    format: str
    location: str
    version: int | None  # null for what has no versions
    table_id: str | None  # by which the table knows itself: Delta's metaData.id, Iceberg's table-uuid
    schema_digest: str  # of the names and types of its columns
    since: int | None = None  # of a change data feed: its first version; `version` is its last


class ScanColumn(Struct, frozen=True):
    name: str
    physical: str  # in data files, where columns are found by name
    type: str  # Spark's name of it; of a nested column its JSON
    nullable: bool
    is_partition: bool
    field_id: int | None


class ScanClause(Struct, frozen=True):
    """A conjunct. `expr` is the bound and normalised predicate, `written` the bound conjuncts that it was made of."""

    text: str
    pushdown: Pushdown
    expr: Expr
    written: Expr


class Totals(Struct, frozen=True):
    files_total: int
    files_scanned: int
    files_pruned: int
    bytes_total: int | None  # null where the sizes of pruned files were not read
    bytes_scanned: int
    rows_scanned: int | None  # live rows of the files that are read; null when some file does not record them


class HandOff(Struct, frozen=True):
    """How the rows of a plan were handed over."""

    engine: str
    path: str  # the way that was taken
    applied: dict[str, str] = {}  # clause -> who applies it


class Memo:
    """What a plan remembers once somebody asked for it."""

    def __init__(self) -> None:
        self.files: pa.Table | None = None
        self.statistics: ScanStatistics | None = None
        self.handoff: HandOff | None = None


class ScanPlan(Document, frozen=True, kw_only=True):
    kind: ClassVar[str] = "plan"

    table: TableIdentity
    session: Session
    predicate: str | None
    columns: tuple[ScanColumn, ...]  # the projection, in the order of the table
    filter_columns: tuple[ScanColumn, ...]  # that only the filter needs
    partition_columns: tuple[ScanColumn, ...]  # whose values every file has, projected or not
    clauses: tuple[ScanClause, ...]
    limit: int | None
    groups: int | None
    totals: Totals
    elapsed_ms: int
    source: Files  # where the files come from
    planner: Planner | None  # the opened snapshot; None for a plan that came as JSON, until `opened`
    memo: Memo = field(default_factory=Memo)

    @property
    def location(self) -> str:
        """Where the table is, as whoever planned it wrote it; for a plan that came as JSON, in full."""
        return self.table.location if self.planner is None else self.planner.facts.location

    @property
    def files(self) -> pa.Table:
        """The files that are read, one row each."""
        if self.memo.files is None:
            self.memo.files = self.source.arrow()
        return self.memo.files

    @property
    def statistics(self) -> ScanStatistics:
        """What is known of the result."""
        return self.remember(self.source)

    def remember(self, files: Files) -> ScanStatistics:
        """What is known of the result, taken from these files unless it is known already."""
        if self.memo.statistics is None:
            self.memo.statistics = files.statistics()
        return self.memo.statistics

    @property
    def uris(self) -> list[str]:
        """Where the files lie, for tools that know nothing of tables. Refused where reading them alone would give wrong rows."""
        from lakeprune.apps.scan.raw import check_raw

        check_raw(self)
        return self.raw_uris

    @property
    def raw_uris(self) -> list[str]:
        """The same, whatever a reader makes of them."""
        found: list[str] = self.files.column("uri").to_pylist()
        return found

    @property
    def handoff(self) -> HandOff | None:
        """How the last hand-off was done; None before the first."""
        return self.memo.handoff

    @classmethod
    def from_json(cls, text: str | bytes, table: Any = None, **access: Any) -> ScanPlan:
        """A plan that another process made. With `table`, a location or an opened table, it must be the one of the plan."""
        from lakeprune.apps.scan.received import received

        plan = received(text)
        return plan if table is None else plan.opened(table, **access)

    def opened(self, table: Any = None, **access: Any) -> ScanPlan:
        """The plan with its table open at its version; refused where that is another table, or not the same any more."""
        if self.planner is not None and table is None:
            return self
        from lakeprune.apps.scan.received import opened

        return opened(self, table, access)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled plan is its JSON: the process that gets it opens the table itself, when it reads rows. No secret travels."""
        return ScanPlan.from_json, (self.to_json(),)

    def head(self) -> PlanHead:
        """The JSON document without its files."""
        from lakeprune.apps.scan.document import plan_head

        return plan_head(self)

    def to_struct(self, view: View) -> Envelope:  # noqa: ARG002  # a plan is its files: they are always there
        from lakeprune.apps.scan.document import plan_document

        return plan_document(self)

    def to_arrow_dataset(self, options: ScanOptions | None = None) -> Any:
        """The rows as a pyarrow dataset."""
        return self._handed("arrow_dataset", options=options)

    def to_arrow(self, options: ScanOptions | None = None) -> pa.RecordBatchReader:
        """The rows as a stream of record batches."""
        return self._handed("arrow", options=options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's stream protocol: whoever takes Arrow data takes the rows of a plan."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def register_datafusion(self, ctx: Any, name: str, options: ScanOptions | None = None) -> Any:
        """The rows as a table of a DataFusion context."""
        return self._handed("datafusion", ctx, name, options=options)

    def to_duckdb(self, con: Any, options: ScanOptions | None = None) -> Any:
        """The rows as a relation of a DuckDB connection."""
        return self._handed("duckdb", con, options=options)

    def to_polars(self, options: ScanOptions | None = None) -> Any:
        """The rows as a Polars frame."""
        return self._handed("polars", options=options)

    def to_spark(self, spark: Any, options: ScanOptions | None = None) -> Any:
        """The rows as a DataFrame of a Spark session, through the table's own connector."""
        return self._handed("spark_scan", spark, options=options)

    def _handed(self, engine: str, *args: Any, options: ScanOptions | None) -> Any:
        from importlib import import_module

        from lakeprune.apps.scan.options import ScanOptions, checked

        hand_off = import_module(f"lakeprune.apps.scan.handoff.{engine}").hand_off
        return hand_off(self.opened(), *args, options=ScanOptions() if options is None else checked(options))
