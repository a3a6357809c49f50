"""An Avro file of a table, read through its storage; what is wrong with it is a TableError that names the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from lakeprune.errors import TableError, TableRefused
from lakeprune.extras import install_line
from lakeprune.formats.iceberg.avro.container import Header, UnknownCodec, read_header
from lakeprune.formats.iceberg.avro.reader import Columns, columns_of
from lakeprune.formats.iceberg.avro.schema import AvroError, Primitive, UnknownSchema, parse_schema
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted, is_there, optional, type_at
from lakeprune.formats.iceberg.locate import Paths


class AvroFile(Struct, frozen=True):
    """The bytes of a file with its header; `what` and `place` are for messages."""

    data: bytes
    header: Header
    what: str
    place: str

    def columns(self, wanted: Sequence[Wanted]) -> Columns:
        try:
            return columns_of(self.data, self.header, wanted)
        except (UnknownCodec, UnknownSchema) as error:
            return self._columns_otherwise(wanted, error)
        except AvroError as error:
            raise self.damaged(str(error)) from error

    def _columns_otherwise(self, wanted: Sequence[Wanted], refusal: UnknownCodec | UnknownSchema) -> Columns:
        """The columns by fastavro, where that is installed and takes the file."""
        from lakeprune.formats.iceberg.avro.other import NotInstalled, columns_by_fastavro

        try:
            return columns_by_fastavro(self.data, self.header, wanted)
        except NotInstalled:
            raise self._not_recognised(refusal, f"{install_line('iceberg')} brings fastavro, which may read it") from refusal
        except (UnknownCodec, UnknownSchema) as error:
            raise self._not_recognised(error, None) from error
        except AvroError as error:
            raise self.damaged(str(error)) from error

    def _not_recognised(self, error: UnknownCodec | UnknownSchema, fix: str | None) -> TableRefused:
        what = f"a {self.what} has an Avro schema that is not recognised"
        if isinstance(error, UnknownCodec):
            what = f"a {self.what} is compressed with {error.codec}"
            fix = f"{install_line('iceberg')} brings {error.library}" if error.library else fix
        return TableRefused("LP366", what, where=self.place, why=str(error), fix=fix)

    def has(self, wanted: Wanted) -> bool:
        """Whether its writer has this field; of a file whose columns were read."""
        return _has(self.header.schema, wanted.path)

    def primitive(self, wanted: Wanted) -> str | None:
        """The primitive type that its writer declares for this field, None for any other; of a file whose columns were read."""
        return _primitive(self.header.schema, wanted.path)

    def damaged(self, why: str) -> TableError:
        return _damaged(self.what, self.place, why)


@lru_cache(1024)  # manifests of one spec have one schema
def _has(schema: bytes, path: tuple[Name, ...]) -> bool:
    try:
        return is_there(parse_schema(schema), path)
    except UnknownSchema:
        from lakeprune.formats.iceberg.avro.other import is_there_for_fastavro

        return is_there_for_fastavro(schema, path)


@lru_cache(1024)
def _primitive(schema: bytes, path: tuple[Name, ...]) -> str | None:
    try:
        found = type_at(parse_schema(schema), path)
    except UnknownSchema:
        from lakeprune.formats.iceberg.avro.other import primitive_for_fastavro

        return primitive_for_fastavro(schema, path)
    inner = None if found is None else optional(found)
    return inner.name if isinstance(inner, Primitive) else None


def read_avro(paths: Paths, recorded: str, what: str, length: int | None = None) -> AvroFile:
    """The file that the metadata names; `length` is what it should have at least, where that is recorded."""
    path = paths.find(recorded)
    place = paths.storage.place(path)
    size = paths.storage.size(path)
    if size is None:
        why = "the table's metadata names it; without it some files of the table are not known"
        raise TableError(
            "LP365", f"a {what} is missing", where=place, why=why, fix="restore it, or explain another snapshot with --at-version"
        )
    if length is not None and size < length:
        raise _damaged(what, place, f"it has {size:,} bytes, and {length:,} are recorded")
    data = paths.storage.read(path)
    try:
        return AvroFile(data, read_header(data), what, place)
    except AvroError as error:
        raise _damaged(what, place, str(error)) from error


def _damaged(what: str, place: str, why: str) -> TableError:
    return TableError(
        "LP365", f"a {what} cannot be read", where=place, why=why, fix="restore it, or explain another snapshot with --at-version"
    )
