"""Column names looked up in the table's tree of columns.

In: a name as written. Out: the column, its leaves, or an error that underlines the name and suggests another. Matching is
case-insensitive, as Delta's names are unique that way; `a.b` in back-ticks is one segment.
"""

from __future__ import annotations

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.spans import underline
from lakeprune.predicate.schema import Field, Schema, leaf_paths
from lakeprune.predicate.tree import Call, Column, Expr, Literal, Name
from lakeprune.values.types import NESTED_KINDS, Kind


class Resolver:
    """Finds columns for the names of one predicate text."""

    def __init__(self, schema: Schema, text: str) -> None:
        self._fields = schema.fields
        self._text = text
        self._found: dict[tuple[str, ...], Column | None] = {}

    def column(self, name: Name) -> Column | None:
        """The column a name means; None when it lies inside an array, map or variant."""
        if name.parts not in self._found:
            path = self._path(name)
            self._found[name.parts] = None if path is None else Column.at(path)
        return self._found[name.parts]

    def leaves(self, name: Name) -> tuple[Column, ...]:
        """The primitive columns below a struct, outside arrays and maps."""
        path = self._path(name)
        below = () if path is None else leaf_paths(path[-1].children, path)
        return tuple(Column.at(leaf) for leaf in below if leaf[-1].type.kind not in NESTED_KINDS)

    def _path(self, name: Name) -> tuple[Field, ...] | None:
        path: tuple[Field, ...] = ()
        fields = self._fields
        for part in name.parts:
            if path and path[-1].type.kind in (Kind.ARRAY, Kind.MAP, Kind.VARIANT):
                return None
            matches = [field for field in fields if field.name.lower() == part.lower()]
            if not matches:
                raise self._unknown(name, part, path, fields)
            if len(matches) > 1:
                raise self._ambiguous(name, matches)
            path, fields = (*path, matches[0]), matches[0].children
        return path

    def where(self, name: Name | None) -> str | None:
        """The predicate with the name underlined, None when its place is not known."""
        if name is None or name.start < 0:
            return None
        return underline(self._text, name.start, name.end)

    def not_of_type(self, literal: Literal, other: Expr) -> PredicateError:
        """LP106: a string literal that cannot be the type of what it is compared with."""
        type_ = other.type if isinstance(other, Column | Call) else None
        value = str(literal.value)
        shown = value if len(value) <= 50 else value[:50] + "..."
        of = f"column {'.'.join(other.path)} is of that type" if isinstance(other, Column) else None
        what = f"'{shown}' is not a value of type {type_}"
        return PredicateError("LP106", what, where=self._where_text(value), why=of, fix=_EXAMPLES.get(_kind(other)))

    def _where_text(self, value: str) -> str | None:
        """The predicate with the first string literal of that value underlined."""
        from lakeprune.predicate.read.sql.literals import unquote
        from lakeprune.predicate.read.sql.tokens import tokenize

        for token in tokenize(self._text).items:
            written = self._text[token.start : token.end]
            if token.kind == "string" and unquote(written) == value:
                return underline(self._text, token.start, token.end)
            if token.kind == "list" and (at := written.find(f"'{value}'")) >= 0:
                return underline(self._text, token.start + at, token.start + at + len(value) + 2)
        return None

    def _unknown(self, name: Name, part: str, path: tuple[Field, ...], fields: tuple[Field, ...]) -> PredicateError:
        inside = f" in {'.'.join(field.name for field in path)}" if path else ""
        what = f"column `{'.'.join(name.parts)}` does not exist: there is no `{part}`{inside}" if path else (
            f"column `{part}` does not exist"
        )  # fmt: skip
        fix = _whole_name(name, self._fields) or _suggestion(part, fields)
        return PredicateError("LP102", what, where=self.where(name), fix=fix)

    def _ambiguous(self, name: Name, matches: list[Field]) -> PredicateError:
        found = ", ".join(f"`{field.name}`" for field in matches)
        return PredicateError(
            "LP103", f"column `{'.'.join(name.parts)}` is ambiguous", where=self.where(name), why=f"it could be {found}"
        )


_EXAMPLES: dict[Kind | None, str] = {
    Kind.DATE: "write it as '2024-01-31'",
    Kind.TIMESTAMP: "write it as '2024-01-31 12:30:00' or with an offset, '2024-01-31T12:30:00+02:00'",
    Kind.TIMESTAMP_NTZ: "write it as '2024-01-31 12:30:00'",
    Kind.BOOLEAN: "write TRUE or FALSE",
    **dict.fromkeys((Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG), "compare it with a whole number"),
    **dict.fromkeys((Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL), "compare it with a number"),
}


def _kind(expr: Expr) -> Kind | None:
    return expr.type.kind if isinstance(expr, Column | Call) and expr.type else None


def _suggestion(part: str, fields: tuple[Field, ...]) -> str | None:
    import difflib

    names = {field.name.lower(): field.name for field in fields}
    near = difflib.get_close_matches(part.lower(), names, n=1)
    if near:
        return f"did you mean {names[near[0]]}?"
    listed = ", ".join(field.name for field in fields[:10])
    return f"there are: {listed}{', ...' if len(fields) > 10 else ''}" if fields else None


def _whole_name(name: Name, fields: tuple[Field, ...]) -> str | None:
    joined = ".".join(name.parts)
    return f"did you mean `{joined}`, in back-ticks?" if any(field.name == joined for field in fields) else None
