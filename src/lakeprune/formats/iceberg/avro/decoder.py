"""A decoder of Avro records, as a Python function written for one schema and the columns wanted of it.

In: the writer's schema, what is wanted. Out: a function that reads the records of a block and appends to lists. Interpreting
a schema costs ten times as much per record. Damaged input ends in AvroError: every number is checked before it moves the place
backwards or is counted to, and a block must be used up by its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from struct import Struct as Layout
from typing import Any

from lakeprune.formats.iceberg.avro.container import EMPTY_RECORDS, read_varint, zigzag
from lakeprune.formats.iceberg.avro.schema import (
    NULL,
    Array,
    AvroError,
    AvroType,
    Enumeration,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    least_size,
)
from lakeprune.formats.iceberg.avro.wanted import NOTHING, Node, check_entries

Append = Callable[[Any], None]
# block, place in it, number of records, what to call with each column's values -> the place behind them
Decode = Callable[[bytes, int, int, Sequence[Append]], int]

_LOOPS = 8  # loops inside one another: Python takes twenty


def decoder_of(schema: AvroType, node: Node, columns: int) -> Decode:
    """The function for this schema; `columns` is how many columns the node speaks of."""
    code = _Code()
    appends = [f"a{number}" for number in range(columns)]
    code.line("def decode(b, p, records, appends):")
    with code.indented():
        code.line("end = len(b)")
        if appends:
            code.line(f"{', '.join(appends)}, = appends")
        code.limit("records", schema)
        with code.block("for _ in range(records):"):
            if appends:
                code.line(" = ".join(f"w{number}" for number in range(columns)) + " = None")
            code.read(schema, node)
            for number, append in enumerate(appends):
                code.line(f"{append}(w{number})")
            code.line("pass")
        code.line("return p")
    return code.function()


def read_value(data: bytes, decode: Decode) -> Any:
    """The one value that these bytes are, read by a decoder of one column."""
    found: list[Any] = []
    try:
        place = decode(data, 0, 1, [found.append])
    except (IndexError, UnicodeDecodeError) as error:
        raise damaged(error) from error
    if place != len(data):
        raise AvroError("a value does not end where it should")
    return found[0]


def damaged(error: Exception) -> AvroError:
    what = "its text is not UTF-8" if isinstance(error, UnicodeDecodeError) else "a record goes beyond the end of its block"
    return AvroError(f"a block is damaged: {what}")


class _Code:
    """Source text; `p` is the place in the bytes `b`, which end at `end`."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = self._loops = 0
        self._names = count()
        self._constants: dict[str, Any] = {
            "rest": read_varint,
            "bad": _bad,
            "float_at": Layout("<f").unpack_from,
            "double_at": Layout("<d").unpack_from,
        }

    def function(self) -> Decode:
        exec("\n".join(self._lines), self._constants)  # noqa: S102  # made here; the names in it are numbered, not the writer's
        decode: Decode = self._constants["decode"]
        return decode

    def line(self, text: str) -> None:
        self._lines.append("\t" * self._depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        with self.indented():
            yield

    def limit(self, records: str, type_: AvroType) -> None:
        """Check a number of values against the bytes that are left."""
        least = least_size(type_)
        self.line(f"if {records} > {f'(end - p) // {least}' if least else EMPTY_RECORDS}: bad('more values than bytes')")

    def read(self, type_: AvroType, node: Node) -> None:
        """Read what the node wants of a value into variables w0, w1, ...; go past the rest."""
        if node == NOTHING:
            self.skip(type_)
        elif node.columns:
            self.line(f"w{node.columns[0]} = {self.value(type_)}")
        elif isinstance(type_, Union):
            for branch in self._branches(type_):
                self.read(branch, NOTHING if branch == NULL else node)
        elif isinstance(type_, Record):
            for place, field in enumerate(type_.fields):
                self.read(field.type, node.fields.get(place, NOTHING))
        else:
            self._read_entries(type_, node)

    def _read_entries(self, type_: AvroType, node: Node) -> None:
        _, value = check_entries(type_)
        assert isinstance(type_, Array)
        with self._items(type_.items):
            for branch in self._branches(type_.items) if isinstance(type_.items, Union) else (type_.items,):
                if branch == NULL:
                    self.line("pass")
                    continue
                name = f"v{next(self._names)}"
                self._number(name)
                for number, (wanted, column) in enumerate(node.keys.items()):
                    with self.block(f"{'elif' if number else 'if'} {name} == {zigzag(wanted)}:"):
                        self.line(f"w{column} = {self.value(value.type)}")
                with self.block("else:"):
                    self.skip(value.type)

    def value(self, type_: AvroType) -> str:
        """Code that reads a value, and the expression that then has it."""
        name = f"v{next(self._names)}"
        match type_:
            case Primitive("null"):
                return "None"
            case Primitive("boolean"):
                self.line(f"{name} = b[p]; p += 1")
                self.line(f"if {name} > 1: bad('a boolean is neither 0 nor 1')")
                return f"{name} == 1"
            case Primitive("int" | "long"):
                self._number(name)
                return f"{name} >> 1 ^ -({name} & 1)"
            case Primitive("float" | "double" as kind):
                size = 4 if kind == "float" else 8
                self.line(f"if p + {size} > end: bad('a number is cut off')")
                self.line(f"{name} = {kind}_at(b, p)[0]; p += {size}")
            case Primitive("bytes" | "string" as kind):
                self._length(name)
                text = f"b[p:p + {name}]" if kind == "bytes" else f"str(b[p:p + {name}], 'utf-8')"
                self.line(f"{name}, p = {text}, p + {name}")
            case Fixed(size):
                self.line(f"{name} = b[p:p + {size}]; p += {size}")
            case Enumeration(symbols):
                self._constants[f"s{name}"] = symbols
                self._number(name)
                self.line(f"if {name} & 1 or {name} >> 1 >= {len(symbols)}: bad('no such symbol')")
                return f"s{name}[{name} >> 1]"
            case Array(items):
                self.line(f"{name} = []")
                with self._items(items):
                    self.line(f"{name}.append({self.value(items)})")
            case Map(values):
                self.line(f"{name} = {{}}")
                with self._items(Primitive("string")):
                    key = self.value(Primitive("string"))
                    self.line(f"{name}[{key}] = {self.value(values)}")
            case Union():
                for branch in self._branches(type_):
                    self.line(f"{name} = {self.value(branch)}")
            case Record(fields):
                self.line(f"{name} = {{}}")
                for place, field in enumerate(fields):
                    self._constants[f"n{name}_{place}"] = field.name
                    self.line(f"{name}[n{name}_{place}] = {self.value(field.type)}")
        return name

    def skip(self, type_: AvroType) -> None:
        match type_:
            case Primitive("null"):
                self.line("pass")
            case Primitive("boolean"):
                self.line("p += 1")
            case Primitive("int" | "long") | Enumeration():
                self.line("while b[p] > 127: p += 1")
                self.line("p += 1")
            case Primitive("float" | "double" as kind):
                self.line(f"p += {4 if kind == 'float' else 8}")
            case Primitive():
                name = f"v{next(self._names)}"
                self._length(name)
                self.line(f"p += {name}")
            case Fixed(size):
                self.line(f"p += {size}")
            case Array(items):
                with self._items(items):
                    self.skip(items)
            case Map(values):
                with self._items(Primitive("string")):
                    self.skip(Primitive("string"))
                    self.skip(values)
            case Union():
                for branch in self._branches(type_):
                    self.skip(branch)
            case Record(fields):
                for field in fields:
                    self.skip(field.type)
                self.line("pass")

    def _number(self, name: str) -> None:
        """A number before zigzag."""
        self.line(f"{name} = b[p]; p += 1")
        self.line(f"if {name} > 127: {name}, p = rest(b, p, {name})")

    def _length(self, name: str) -> None:
        self._number(name)
        self.line(f"if {name} & 1: bad('a length is negative')")
        self.line(f"{name} >>= 1")

    def _branches(self, type_: Union) -> Iterator[AvroType]:
        """Code for each branch goes where this yields it."""
        name = f"v{next(self._names)}"
        self._number(name)
        for number, branch in enumerate(type_.branches):
            with self.block(f"{'elif' if number else 'if'} {name} == {number << 1}:"):
                yield branch
        self.line("else: bad('no such branch of a union')")

    @contextmanager
    def _items(self, items: AvroType) -> Iterator[None]:
        """A loop over the items of an array, in one block or several, with their size before them or not."""
        self._loops += 1
        if self._loops > _LOOPS:
            raise AvroError(f"its Avro schema has more than {_LOOPS} arrays inside one another")
        left = f"v{next(self._names)}"
        self._number(left)
        with self.block(f"while {left}:"):
            with self.block(f"if {left} & 1:"):
                self.line("while b[p] > 127: p += 1")
                self.line("p += 1")
            self.line(f"{left} = ({left} >> 1) + ({left} & 1)")
            self.limit(left, items)
            with self.block(f"for _ in range({left}):"):
                yield
            self._number(left)
        self._loops -= 1


def _bad(what: str) -> None:
    raise AvroError(f"a block is damaged: {what}")
