"""The columns of a table among the leaves of a Parquet file: by name, or by field id where the table has ids.

In: the schema of a footer. Out: the leaf that holds a column's values, and how it stores them. A column that is there twice, lies
below something repeated or has a type that the table's does not come from is not found: it proves nothing. That a column is not
there is certain only where every column has an id, its own or by a name mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Element
from lakeprune.formats.parquet.bounds import Stored, is_readable
from lakeprune.formats.parquet.schema import type_of
from lakeprune.predicate.tree import Column
from lakeprune.values.types import Kind

FieldIds = Callable[[Column], int | None]
Path = tuple[str, ...]
IdsByName = Callable[[Sequence[Path]], Sequence[int | None] | None]
_SIGNED = ("INT32", "INT64", "FLOAT", "DOUBLE")  # whose deprecated bounds have the order of their values, unless unsigned


class Leaf(Struct, frozen=True):
    """A leaf by its place; `ids` are the field ids from the root down, `is_single` says that each row has at most one value."""

    number: int
    element: Element
    path: tuple[str, ...]
    ids: tuple[int | None, ...]
    is_single: bool


def identified(elements: Sequence[Element], ids_by_name: IdsByName | None) -> tuple[Sequence[Element], bool]:
    """The elements with their ids, and whether a column that none of them is is not in the file.

    Names count only where no element has an id of its own: readers differ about files that have some.
    """
    paths = _single_paths(elements)
    if any(element.field_id is not None for element in elements[1:]):
        return elements, all(element.field_id is not None for element, path in zip(elements, paths, strict=True) if path)
    ids = None if ids_by_name is None else ids_by_name([path for path in paths if path])
    if ids is None:
        return elements, False
    numbers = iter(ids)
    return [replace(each, field_id=next(numbers)) if path else each for each, path in zip(elements, paths, strict=True)], True


def _single_paths(elements: Sequence[Element]) -> list[Path | None]:
    """The path of each element, () for the root, None below what is repeated, a list or a map."""
    found: list[Path | None] = []
    walk = iter(elements)

    def visit(above: Path | None, *, is_root: bool = False) -> None:
        element = next(walk)
        path = () if is_root else None if above is None else (*above, element.name)
        found.append(path)
        is_open = is_root or (type_of(element).kind is Kind.STRUCT and element.repetition != "REPEATED")
        for _ in range(element.children or 0):
            visit(path if is_open else None)

    visit(None, is_root=True)
    return found


def leaves_of(elements: Sequence[Element]) -> list[Leaf]:
    """The leaves of a schema, whose first element is the root."""
    walk = iter(elements)
    root = next(walk)
    found: list[Leaf] = []
    for _ in range(root.children or 0):
        _collect(walk, Leaf(-1, root, (), (), is_single=True), found)
    return found


def stored_leaf(leaves: Sequence[Leaf], column: Column, field_ids: FieldIds | None) -> tuple[int, Stored] | None:
    """The leaf of a column and how it is stored there; None when nothing is known of it in this file."""
    if field_ids is None:
        found = [leaf for leaf in leaves if leaf.path == column.physical]
    else:
        wanted = field_ids(column)
        found = [] if wanted is None else [leaf for leaf in leaves if leaf.ids[-1] == wanted]
    if len(found) != 1 or not found[0].is_single:
        return None
    element = found[0].element
    stored = type_of(element)
    if not is_readable(stored, column.type):
        return None
    is_unsigned = (element.type_name or "").startswith("U")
    return found[0].number, Stored(stored, element.physical_type in _SIGNED and not is_unsigned)


def leaves_below(leaves: Sequence[Leaf], column: Column, field_ids: FieldIds | None) -> list[int]:
    """The leaves that hold a column: several for a struct, an array or a map."""
    if field_ids is None:
        return [leaf.number for leaf in leaves if leaf.path[: len(column.physical)] == column.physical]
    wanted = field_ids(column)
    return [] if wanted is None else [leaf.number for leaf in leaves if wanted in leaf.ids]


def lacks(leaves: Sequence[Leaf], column: Column, field_ids: FieldIds | None) -> bool:
    """Whether no leaf has the id of this column, nor lies in something that has it."""
    wanted = None if field_ids is None else field_ids(column)
    return wanted is not None and not any(wanted in leaf.ids for leaf in leaves)


def _collect(walk: Iterator[Element], above: Leaf, found: list[Leaf]) -> None:
    element = next(walk)
    is_repeated = element.repetition == "REPEATED"
    path, ids = (*above.path, element.name), (*above.ids, element.field_id)
    if element.physical_type is not None:
        found.append(Leaf(len(found), element, path, ids, above.is_single and not is_repeated))
        return
    is_struct = type_of(element).kind is Kind.STRUCT
    here = Leaf(-1, element, path, ids, above.is_single and is_struct and not is_repeated)
    for _ in range(element.children or 0):
        _collect(walk, here, found)
