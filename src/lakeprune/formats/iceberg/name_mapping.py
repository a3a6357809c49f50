"""The name mapping of a table: which field ids the columns of data files have that were written without ids.

In: the property `schema.name-mapping.default`. Out: ids by the names of a file. Names are compared as they are written. A name
that stands there twice, or that leads elsewhere when a dot is taken for a step into a struct (readers differ), makes the file one
that nothing is known of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import DecodeError, Struct
from msgspec.json import decode

PROPERTY = "schema.name-mapping.default"
Path = tuple[str, ...]
_DEEPEST = 100
_TWICE = -1


class _Mapped(Struct, rename="kebab"):
    names: tuple[str, ...] = ()
    field_id: int | None = None
    fields: tuple[_Mapped, ...] = ()


class NameMapping(Struct, frozen=True):
    by_path: Mapping[Path, int | None]
    by_dots: Mapping[str, int | None]

    def ids_of(self, paths: Sequence[Path]) -> list[int | None] | None:
        """The field id of each of these columns and structs, None where the mapping has none; None when that is in doubt."""
        found = [self.by_path.get(path) for path in paths]
        dotted = [self.by_dots.get(".".join(path)) for path in paths]
        return None if found != dotted or _TWICE in found else found


def name_mapping(properties: Mapping[str, str]) -> NameMapping | None:
    """The mapping of a table with these properties, None when it has none, or one that is not understood.

    >>> mapping = name_mapping({PROPERTY: '[{"field-id": 1, "names": ["id", "key"]}, {"names": ["gone"]}]'})
    >>> mapping.ids_of([("id",), ("key",), ("gone",), ("other",)])
    [1, 1, None, None]
    """
    text = properties.get(PROPERTY)
    if text is None:
        return None
    by_path: dict[Path, int | None] = {}
    by_dots: dict[str, int | None] = {}
    try:
        for path, number in _paths(decode(text, type=tuple[_Mapped, ...]), ()):
            by_path[path] = _TWICE if path in by_path else number
            dotted = ".".join(path)
            by_dots[dotted] = _TWICE if dotted in by_dots else number
    except (DecodeError, RecursionError, ValueError):
        return None
    return NameMapping(by_path, by_dots)


def _paths(fields: Sequence[_Mapped], above: Path) -> Iterator[tuple[Path, int | None]]:
    if len(above) > _DEEPEST:
        raise ValueError(f"names nested deeper than {_DEEPEST}")
    for field in fields:
        for name in field.names:
            yield (*above, name), field.field_id
            yield from _paths(field.fields, (*above, name))
