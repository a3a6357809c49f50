"""Avro files that our reader does not recognise, through fastavro: the only file that imports it.

In: the bytes of a file and its header, what is wanted of each record. Out: columns as reader.py gives them: values as they are in
the file, not what their logical types make of them. It is slower, and asked only where our own reader refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode

from lakeprune.formats.iceberg.avro.container import EMPTY_RECORDS, LARGEST_BLOCK, Header, UnknownCodec, blocks_of
from lakeprune.formats.iceberg.avro.schema import PRIMITIVES, AvroError, UnknownSchema
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted

DEEPEST = 200
Pick = Callable[[Any], Any]


class NotInstalled(Exception):
    """fastavro is not there to be asked."""


def columns_by_fastavro(data: bytes, header: Header, wanted: Sequence[Wanted]) -> list[list[Any]]:
    """The wanted columns. Raises AvroError for what fastavro does not read either, NotInstalled without it."""
    try:
        import fastavro
    except ImportError as error:
        raise NotInstalled from error
    schema = _Schema(header.schema)
    columns: list[list[Any]] = [[] for _ in wanted]
    try:
        parsed = fastavro.parse_schema(schema.plain)
        picks = [schema.pick(each) for each in wanted]
        read = _patient_reader() if schema.contains_itself else fastavro.schemaless_reader
        for count, block in _blocks(data, header):
            _check_count(count, block)
            stream = BytesIO(block)
            for _ in range(count):
                record = read(stream, parsed, None)
                for column, pick in zip(columns, picks, strict=True):
                    column.append(pick(record))
            if stream.tell() != len(block):
                raise AvroError("a block is damaged: its records do not fill it")
    except (ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, MemoryError, RecursionError) as error:
        raise AvroError(f"fastavro cannot read it: {type(error).__name__}: {error}") from error
    except fastavro.schema.SchemaParseException as error:
        raise UnknownSchema(f"fastavro does not take its schema: {error}") from error
    return columns


def is_there_for_fastavro(schema: bytes, path: Sequence[Name]) -> bool:
    """Whether the writer has this field."""
    return _Schema(schema).names(path) is not None


def primitive_for_fastavro(schema: bytes, path: Sequence[Name]) -> str | None:
    """The primitive type that the writer declares for this field, None for any other."""
    declared = _Schema(schema).declared(path)
    if isinstance(declared, list):
        others = [each for each in declared if each != "null"]
        declared = others[0] if len(others) == 1 else None
    while isinstance(declared, Mapping):
        declared = declared.get("type")
    return declared if isinstance(declared, str) and declared in PRIMITIVES else None


def _patient_reader() -> Callable[[BytesIO, Any, None], Any]:
    """fastavro's reader in Python, for types that contain themselves: its compiled one ends the process on deep values."""
    from fastavro import _read_py

    found: Callable[[BytesIO, Any, None], Any] = _read_py.schemaless_reader
    return found


def _blocks(data: bytes, header: Header) -> Iterator[tuple[int, bytes]]:
    try:
        yield from blocks_of(data, header)
    except UnknownCodec as unknown:
        import fastavro

        try:
            blocks: Iterator[Any] = fastavro.block_reader(BytesIO(data))
            for block in blocks:
                content = block.bytes_.read()
                if len(content) > LARGEST_BLOCK:
                    raise AvroError(f"a block has more than {LARGEST_BLOCK:,} bytes when it is decompressed") from None
                yield block.num_records, content
        except ValueError:  # a codec that it does not know, or for which it needs one more library
            raise unknown from None


def _check_count(count: int, block: bytes) -> None:
    if count > len(block) + EMPTY_RECORDS:
        raise AvroError("a block is damaged: it claims more records than it has bytes")


class _Schema:
    """The writer's schema as JSON without logical types, and its named types."""

    def __init__(self, text: bytes) -> None:
        self._named: dict[str, Any] = {}
        self._open: list[str] = []  # the types that are being defined
        self.contains_itself = False
        try:
            self.plain = self._stripped(decode(text), 0)
        except (DecodeError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnknownSchema(f"its Avro schema cannot be understood: {error!r}") from error

    def _stripped(self, declared: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise UnknownSchema(f"its Avro schema is nested deeper than {DEEPEST} types")
        if isinstance(declared, list):
            return [self._stripped(each, depth + 1) for each in declared]
        if isinstance(declared, str):
            self.contains_itself |= declared in self._open
            return declared
        made = {key: value for key, value in declared.items() if key != "logicalType"}
        names = [made["name"], f"{made.get('namespace', '')}.{made['name']}"] if "name" in made else []
        self._named.update(dict.fromkeys(names, made))
        self._open += names
        for key in ("type", "items", "values"):
            if key in made and not isinstance(made[key], str):
                made[key] = self._stripped(made[key], depth + 1)
            elif key in made:
                self.contains_itself |= made[key] in self._open
        if "fields" in made:
            made["fields"] = [{**field, "type": self._stripped(field["type"], depth + 1)} for field in made["fields"]]
        del self._open[len(self._open) - len(names) :]
        return made

    def pick(self, wanted: Wanted) -> Pick:
        """What takes the wanted value out of a record."""
        names = self.names(wanted.path)
        return (lambda _: None) if names is None else lambda record: _picked(record, names, wanted.key)

    def names(self, path: Sequence[Name]) -> list[str] | None:
        """The names that lead to a field, None where the writer does not have it."""
        fields = self._fields(path)
        return None if fields is None else [field["name"] for field in fields]

    def declared(self, path: Sequence[Name]) -> Any:
        """The type of a field, None where the writer does not have it."""
        fields = self._fields(path)
        return fields[-1]["type"] if fields else None

    def _fields(self, path: Sequence[Name]) -> list[Mapping[str, Any]] | None:
        fields: list[Mapping[str, Any]] = []
        place: Any = self.plain
        for name in path:
            field = _field(self._optional(place), name)
            if field is None:
                return None
            fields.append(field)
            place = field["type"]
        return fields

    def _optional(self, declared: Any) -> Any:
        """The record behind a name and a union with null."""
        if isinstance(declared, list):
            others = [each for each in declared if each != "null"]
            declared = others[0] if len(others) == 1 else declared
        if isinstance(declared, str):
            declared = self._named.get(declared)
        if isinstance(declared, Mapping) and isinstance(declared.get("type"), list | dict):
            return self._optional(declared["type"])
        return declared


def _field(record: Any, name: Name) -> Mapping[str, Any] | None:
    if not isinstance(record, Mapping) or "fields" not in record:
        raise UnknownSchema(f"the field {name.name} is expected in a record, and lies in another type")
    fields = record["fields"]
    by_id = name.id is not None and any(type(field.get("field-id")) is int for field in fields)
    return next((each for each in fields if (each.get("field-id") == name.id if by_id else each["name"] == name.name)), None)


def _picked(record: Any, names: Sequence[str], key: int | None) -> Any:
    for name in names:
        if record is None:
            return None
        record = record[name]
    if key is None or record is None:
        return record
    if isinstance(record, Mapping):  # a map of Avro, whose keys are text
        return record.get(str(key))
    return next((each["value"] for each in record if each is not None and each["key"] == key), None)
