"""Column names looked up in the table's tree of columns.

In: a name as written. Out: the column, its leaves, or an error that underlines the name and suggests another. Matching is
case-insensitive, as Delta's names are unique that way; `a.b` in back-ticks is one segment.
"""

from __future__ import annotations

import re

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.refusals import days_like
from lakeprune.predicate.read.sql.spans import MAX_REPEATED, underline
from lakeprune.predicate.schema import Field, Role, Schema, leaf_paths
from lakeprune.predicate.tree import Column, Expr, Literal, Name
from lakeprune.predicate.walk import type_of
from lakeprune.predicate.write.show import name_text, show
from lakeprune.values.types import NESTED_KINDS, TIME_KINDS, DataType, Kind

METADATA = "_metadata"  # the struct that Spark adds to every row of a file: its path, its size


class Resolver:
    """Finds columns for the names of one predicate text."""

    def __init__(self, schema: Schema, text: str) -> None:
        self._fields = schema.fields
        self._text = text
        self._found: dict[tuple[str, ...], Column | None] = {}
        self._by_name: dict[tuple[str, ...], dict[str, list[Field]]] = {}  # by the path of the struct, in lower case

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
            matches = self._named(path, fields).get(part.lower(), [])
            if not matches and not path and part.lower() == METADATA:
                return None
            if not matches:
                raise self._unknown(name, part, path, fields)
            if len(matches) > 1:
                raise self._ambiguous(name, matches)
            path, fields = (*path, matches[0]), matches[0].children
        return path

    def _named(self, path: tuple[Field, ...], fields: tuple[Field, ...]) -> dict[str, list[Field]]:
        """The fields of a struct by their names; tables can have many thousands of them."""
        key = tuple(field.name for field in path)
        if key not in self._by_name:
            by_name = self._by_name[key] = {}
            for field in fields:
                by_name.setdefault(field.name.lower(), []).append(field)
        return self._by_name[key]

    def where(self, name: Name | None) -> str | None:
        """The predicate with the name underlined, None when its place is not known."""
        if name is None or name.start < 0:
            return None
        return underline(self._text, name.start, name.end)

    def not_of_type(self, literal: Literal, other: Expr) -> PredicateError:
        """LP106: a string literal that cannot be the type of what it is compared with."""
        type_ = type_of(other)
        value = str(literal.value)
        shown = value if len(value) <= 50 else value[:50] + "..."
        of = f"column {'.'.join(other.path)} is of that type" if isinstance(other, Column) else None
        what = f"'{shown}' is not a value of type {type_}"
        fix = (
            self._column_in_quotes(value)
            or self._day_in_digits(value, type_)
            or self._time_ago(value, type_)
            or _no_such_day(value)
            or (_EXAMPLES.get(type_.kind) if type_ is not None else None)
        )
        return PredicateError("LP106", what, where=self._where_text(value), why=of, fix=fix)

    def _column_in_quotes(self, value: str) -> str | None:
        """Double quotes make text in Spark; elsewhere they make a name."""
        if (
            len(self._text) > MAX_REPEATED
            or f'"{value}"' not in self._text
            or not any(field.name.lower() == value.lower() for field in self._fields)
        ):
            return None
        fixed = self._text.replace(f'"{value}"', f"`{value}`")
        return f"double quotes make text, back-ticks a name; write: {fixed}"

    def _day_in_digits(self, value: str, type_: DataType | None) -> str | None:
        """`'20250103'` and `'3/1/2025'`, dates to other databases."""
        if type_ is None or type_.kind not in TIME_KINDS or len(self._text) > MAX_REPEATED:
            return None
        digits = re.fullmatch(r"([12]\d{3})(\d{2})(\d{2})|(\d{1,4})([./-])(\d{1,2})\5(\d{1,4})", value, re.ASCII)
        fields = [] if digits is None else [int(group) for group in digits.groups() if group and group not in "./-"]
        days = days_like(*fields) if fields else []
        if not days or repr(value) not in self._text:
            return None
        asked = f"did you mean {' or '.join(days)}?"
        return asked if len(days) > 1 else f"{asked} write: {self._text.replace(repr(value), days[0])}"

    def _time_ago(self, value: str, type_: DataType | None) -> str | None:
        """`'7 days ago'`."""
        found = re.fullmatch(r"(\d+) (day|week|month|year)s?(?: ago)?", value.strip().lower(), re.ASCII)
        clock = None if type_ is None else _CLOCKS.get(type_.kind)
        if found is None or clock is None or repr(value) not in self._text or len(self._text) > MAX_REPEATED:
            return None
        span = f"{clock} - INTERVAL {found[1]} {found[2].upper()}S"
        return f"write: {self._text.replace(repr(value), span)}"

    def without_elements(self, name: Name, index: Expr) -> PredicateError | None:
        """LP106: `customer[0]` of a struct, `region[0]` of text; None for what may have elements."""
        path = self._path(name)
        if path is None or path[-1].type.kind in (Kind.ARRAY, Kind.MAP, Kind.VARIANT, Kind.OTHER):
            return None
        field, put, said = path[-1], self._text[name.start : name.end], "leave out the brackets"
        place = index.value if isinstance(index, Literal) and isinstance(index.value, int) and index.value >= 0 else 0
        if field.children:
            put += f".{name_text((field.children[place if place < len(field.children) else 0].name,))}"
            said = "a field goes by its name"
        elif field.type.kind is Kind.STRING:
            put, said = f"substring({put}, {place + 1}, 1)", "a character is a part of the text"
        what = f"`{'.'.join(name.parts)}` is of type {field.type}: it has no element {show(index)}"
        fix = None if name.start < 0 or len(self._text) > MAX_REPEATED else self._written(name, put, said, self._behind(name))
        return PredicateError("LP106", what, where=self.where(name), why="Spark refuses it", fix=fix)

    def _behind(self, name: Name) -> int:
        """Where the brackets end that follow a name."""
        from lakeprune.predicate.read.sql.tokens import tokenize

        tokens = tokenize(self._text)
        opens = next(n for n, token in enumerate(tokens.items) if token.start >= name.end)
        return tokens.items[tokens.partner.get(opens, opens)].end

    def replaced(self, name: Name | None, other: Expr | None, fix: str) -> str:
        """A fix that writes one comparison, as one that writes the whole predicate; `other` is a number like a date."""
        said, mark, clause = fix.rpartition("write: ")
        if name is None or name.start < 0 or not mark or len(self._text) > MAX_REPEATED:
            return fix
        from lakeprune.predicate.read.sql.logic import term_around
        from lakeprune.predicate.read.sql.tokens import tokenize

        start, end = term_around(tokenize(self._text), name.start)
        term, meant = self._text[start:end], re.search(r"did you mean ('[^']*')\?", said)
        if meant is not None and other is not None:
            # Only the number becomes text: its operator and the rest of a list stay as they are.
            number = r"\s*".join(rf"0*{part}" if part.isdigit() else re.escape(part) for part in show(other).split())
            clause = re.sub(rf"(?<![\w.'\"`]){number}(?![\w.])", meant[1], term, count=1)
        if " IN (" in clause and re.search(r"\bNOT\s+IN\b", term, re.IGNORECASE):
            clause = clause.replace(" IN (", " NOT IN (", 1)
        return f"{said}write: {self._text[:start]}{clause}{self._text[end:]}"

    def meant(self, name: Name, other: Expr) -> str | None:
        """The predicate with what an unknown word beside another value was meant to be: a number, NaN, text."""
        word, source = name.parts[0], self._text[name.start : name.end]
        found = self._path(other) if isinstance(other, Name) and self._has(other) else None
        kind = None if found is None else found[-1].type.kind
        if name.start < 0 or len(self._text) > MAX_REPEATED:
            return None
        if re.fullmatch(r"[0-9][0-9_]*(\.[0-9_]+)?", source):
            return self._written(name, source.replace("_", ""), "numbers have no underscores")
        if len(name.parts) > 1:
            return None
        if re.fullmatch(r"0[xX][0-9a-fA-F]+", word):
            return self._written(name, str(int(word, 16)), "numbers are decimal")
        if word.lower() in ("nan", "infinity", "inf"):
            return self._written(name, f"CAST('{word}' AS DOUBLE)", f"{word} is a value of doubles")
        if word.lower() in ("none", "nil") and isinstance(other, Name):
            return f"write: {show(other)} IS NULL"
        if kind in (Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ) and not _near(word, self._fields):
            return self._written(name, f"'{word}'", "text stands in quotes")
        return None

    def _has(self, name: Name) -> bool:
        return any(field.name.lower() == name.parts[0].lower() for field in self._fields) and len(name.parts) == 1

    def _written(self, name: Name, put: str, why: str, end: int | None = None) -> str:
        return f"{why}, write: {self._text[: name.start]}{put}{self._text[name.end if end is None else end :]}"

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
        fix = (
            _whole_name(name, self._fields)
            or self._without_table(name, path)
            or self._clock(name, part, path)
            or _suggestion(part, fields)
        )
        return PredicateError("LP102", what, where=self.where(name), fix=fix)

    def _without_table(self, name: Name, path: tuple[Field, ...]) -> str | None:
        """`sales.id`, where the table has no name of its own."""
        known = not path and len(name.parts) > 1 and any(field.name.lower() == name.parts[1].lower() for field in self._fields)
        if not known or name.start < 0 or len(self._text) > MAX_REPEATED:
            return None
        source = self._text[name.start : name.end]
        column = re.sub(r"^(?:`(?:[^`]|``)*`|\w+)\s*\.\s*", "", source)
        return self._written(name, column, "the table has no name here") if column != source else None

    def _clock(self, name: Name, part: str, path: tuple[Field, ...]) -> str | None:
        """`sysdate`, the clock of another database."""
        meant = _OTHER_CLOCKS.get(part.lower())
        if path or meant is None or name.start < 0 or len(name.parts) > 1 or len(self._text) > MAX_REPEATED:
            return None
        return self._written(name, meant, "Spark's clock has another name")

    def _ambiguous(self, name: Name, matches: list[Field]) -> PredicateError:
        found = ", ".join(f"`{field.name}`" for field in matches)
        return PredicateError(
            "LP103", f"column `{'.'.join(name.parts)}` is ambiguous", where=self.where(name), why=f"it could be {found}"
        )


_CLOCKS = {Kind.DATE: "current_date()", Kind.TIMESTAMP: "current_timestamp()", Kind.TIMESTAMP_NTZ: "localtimestamp()"}
_OTHER_CLOCKS = {**dict.fromkeys(("sysdate", "systimestamp"), "current_timestamp()"), "today": "current_date()"}
_EXAMPLES: dict[Kind | None, str] = {
    Kind.DATE: "write it as '2024-01-31'",
    Kind.TIMESTAMP: "write it as '2024-01-31 12:30:00' or with an offset, '2024-01-31T12:30:00+02:00'",
    Kind.TIMESTAMP_NTZ: "write it as '2024-01-31 12:30:00'",
    Kind.BOOLEAN: "write TRUE or FALSE",
    **dict.fromkeys((Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG), "compare it with a whole number"),
    **dict.fromkeys((Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL), "compare it with a number"),
}


def _no_such_day(value: str) -> str | None:
    """
    >>> _no_such_day("2024-02-30")
    'that month ends on 2024-02-29'
    """
    from calendar import monthrange

    match = re.match(r"(\d{4})-(\d{2})-(\d{2})(?!\d)", value, re.ASCII)
    if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) == 0:
        return None
    last = monthrange(int(match[1]), int(match[2]))[1]
    return f"that month ends on {match[1]}-{match[2]}-{last}" if int(match[3]) > last else None


def _near(part: str, fields: tuple[Field, ...]) -> str | None:
    import difflib

    names = {field.name.lower(): field.name for field in fields}
    near = difflib.get_close_matches(part.lower(), names, n=1)
    return names[near[0]] if near else None


def _suggestion(part: str, fields: tuple[Field, ...]) -> str | None:
    near = _near(part, fields)
    if near:
        return f"did you mean {name_text((near,))}?"
    # Partition columns come first: a list that is cut still has them.
    names = [field.name for field in sorted(fields, key=lambda field: field.role is not Role.PARTITION)]
    return f"there are: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}" if names else None


def _whole_name(name: Name, fields: tuple[Field, ...]) -> str | None:
    joined = ".".join(name.parts)
    return f"did you mean `{joined}`, in back-ticks?" if any(field.name == joined for field in fields) else None
