"""A shared table read with hints, and filtered always.

In: `profile.share#share.schema.table`, a predicate, columns, a limit. Out: Arrow batches, or a DataFrame when a Spark session is
given. The server only leaves files out; predicate and limit are applied to the rows here, whatever it did with the hints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.sharing.hints.written import Hints, hints_of
from lakeprune.apps.sharing.reading.columns import check_readable, chosen_columns
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.delta.schema import delta_schema
from lakeprune.planning.session import profile_of
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Profile
from lakeprune.predicate.walk import columns_of
from lakeprune.storage.sharing.answer import Answer, OfferedFile, ask, describe
from lakeprune.storage.sharing.client import SharingClient
from lakeprune.storage.sharing.profile import SharedName, read_profile, shared_name

if TYPE_CHECKING:
    from lakeprune.predicate.tree import Clause


class Offer(Struct, frozen=True):
    """What the server offered for the hints of a read."""

    version: int
    files: int
    bytes: int
    hints: Hints | None
    outcome: str | None  # what a lakeprune server says became of the hints


class ArrowRows:
    """The rows, batch by batch, each file fetched when it is reached; `offer` says what the server offered."""

    def __init__(self, schema: Any, batches: Iterator[Any], offer: Offer) -> None:
        self.schema = schema
        self.offer = offer
        self._batches = batches

    def reader(self) -> Any:
        """A pyarrow.RecordBatchReader; the rows can be read once."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self._batches)

    def read_all(self) -> Any:
        """Every row, as a pyarrow.Table."""
        return self.reader().read_all()

    def __iter__(self) -> Iterator[Any]:
        return self._batches

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)


class Prepared(Struct, frozen=True):
    """Everything that is known before the first file is fetched."""

    answer: Answer
    offer: Offer
    schema: Any  # of what is read; bytes of it go to the readers of files
    described: list[dict[str, Any]]
    returned: list[str]
    zone: str | None  # that was given, for partition values without an offset

    def task(self, file: OfferedFile) -> dict[str, Any]:
        return {
            "url": file.url,
            "id": file.add["path"],
            "size": file.size,
            "partition": file.add.get("partitionValues") or {},
            "vector": file.add.get("deletionVector"),
            "columns": self.described,
            "zone": self.zone,
        }


class Request(Struct, frozen=True):
    """What a caller asked for; `session` are the options of `profile_of`."""

    table: str
    where: str | None = None
    columns: Sequence[str] | None = None
    limit: int | None = None
    session: dict[str, Any] = {}  # msgspec copies it
    on_offer: Callable[[Offer], None] | None = None


def read_rows(request: Request) -> ArrowRows:
    """The rows without Spark; LP112 for a predicate that cannot be applied exactly here."""
    import pyarrow as pa

    from lakeprune.apps.sharing.reading.filters import check_exact

    asked = Asking.of(request)
    clauses: tuple[Clause, ...] = ()
    if request.where is not None:
        clauses = _clauses(request.where, asked.schema, asked.profile)
        check_exact(clauses)
    needed = list(dict.fromkeys(column.path[0] for clause in clauses for column in columns_of(clause.predicate)))
    prepared = asked.prepare(request.columns, needed)
    returned = pa.schema([prepared.schema.field(column) for column in prepared.returned])
    return ArrowRows(returned, _batches(prepared, clauses, returned, request.limit), prepared.offer)


class Asking(Struct, frozen=True):
    """A request whose table is reached, and whose columns are known."""

    request: Request
    client: SharingClient
    name: SharedName
    profile: Profile
    first: Answer | None  # an answer without files; only with a predicate

    @classmethod
    def of(cls, request: Request) -> Asking:
        limit = request.limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise UsageError("LP298", f"{limit!r} is not a limit", fix="give a whole number, 0 or more")
        if isinstance(request.columns, str):
            raise UsageError("LP298", f"the columns are {request.columns!r}", fix="give a list of names")
        profile, _ = profile_of(**request.session)
        name = shared_name(request.table)
        client = SharingClient(read_profile(name.profile))
        return cls(request, client, name, profile, None if request.where is None else describe(client, name))

    @property
    def schema(self) -> Schema:
        assert self.first is not None, "there is a predicate"
        mode = (self.first.metadata.get("configuration") or {}).get("delta.columnMapping.mode", "none")
        return delta_schema(self.first.metadata["schemaString"], (), mapped=mode != "none").schema

    def prepare(self, columns: Sequence[str] | None, needed: Sequence[str]) -> Prepared:
        """Ask with the hints of the predicate. A limit is sent only without one: it would count rows of the hint."""
        where = self.request.where
        hints = None if where is None else hints_of(where, self.schema, self.profile)
        limit = self.request.limit if where is None else None
        answer = ask(self.client, self.name, json_hints=None if hints is None else hints.json, limit=limit)
        check_readable(answer)
        if self.first is not None and answer.metadata.get("schemaString") != self.first.metadata.get("schemaString"):
            raise TableError("LP393", "the table's columns changed while it was read", fix="read it again")
        try:
            schema, described, returned = chosen_columns(answer, columns, needed)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            why = f"{type(error).__name__}: it does not have the form of a schema"
            raise TableError("LP393", "the schema of the table is not readable", where=self.request.table, why=why) from error
        offer = Offer(answer.version, len(answer.files), answer.bytes, hints, answer.hint_outcome)
        if self.request.on_offer is not None:
            self.request.on_offer(offer)
        return Prepared(answer, offer, schema, described, returned, self.request.session.get("timezone"))


def _batches(prepared: Prepared, clauses: Sequence[Clause], returned: Any, limit: int | None) -> Iterator[Any]:
    from lakeprune.apps.sharing.reading.file_reader import FileUnreadable, read_task
    from lakeprune.apps.sharing.reading.filters import matching

    left = limit
    schema = prepared.schema.serialize().to_pybytes()
    for file in prepared.answer.files:
        if left == 0:
            return
        try:
            for batch in read_task(prepared.task(file), schema):
                found = matching(batch, clauses)
                found = found if left is None else found.slice(0, left)
                left = None if left is None else left - found.num_rows
                if found.num_rows:
                    yield found.select(returned.names)
                if left == 0:
                    return
        except FileUnreadable as error:
            fix = "read again: signed URLs expire, and files may have been removed"
            raise TableError("LP397", str(error), fix=fix) from error


def _clauses(where: str, schema: Schema, profile: Profile) -> tuple[Clause, ...]:
    from lakeprune.predicate.bind.bind import bind
    from lakeprune.predicate.passes.split import split
    from lakeprune.predicate.read.sql.parse import read_condition

    fields = tuple(_as_data(field) for field in schema.fields)
    return split(bind(read_condition(where, profile).tree, Schema(fields), profile, where), profile)


def _as_data(field: Field) -> Field:
    return replace(field, role=Role.DATA)
