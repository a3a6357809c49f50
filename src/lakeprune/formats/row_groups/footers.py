"""The footers of a table's data files, read batch by batch: of each only what some predicate needs is kept.

In: keys and sizes of files, the columns wanted. Out: tables of the engine, numbered by file: row groups, and the chunks of all
wanted columns. A footer is read once, whoever asks, as long as the engine is awake. Data pages are never read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.json import decode

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.engines.engine import Element, Engine, EngineError, ReadFooters
from lakeprune.errors import TableError
from lakeprune.formats.parquet.bounds import Form, is_denied, listed, usable_items
from lakeprune.formats.parquet.legacy_calendar import is_movable
from lakeprune.formats.relation import Relation
from lakeprune.formats.row_groups.domains import domains_sql, kinds_of, pivot_sql, unpacked
from lakeprune.formats.row_groups.filters import bring_filters
from lakeprune.formats.row_groups.leaves import identified, lacks, leaves_below, leaves_of, stored_leaf
from lakeprune.formats.snapshot import Absent, ParquetFiles, in_short
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Seen
from lakeprune.storage.storage import is_elsewhere

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"  # where a plain footer has the mark above
_SIZE = "c.end_byte - c.start_byte"
Progress = Callable[[int, int], None]

# A leaf of a schema that is wanted: its place, what for (the number of a column with bounds, or -1 and down from there for one
# that is read), the form of its bounds, and whether its bytes count as needed.
_Leaf = tuple[int, int, int | None, int]
_LEAF = ("schema_number", "leaf", "wanted", "form", "counts")


class Wanted(Struct, frozen=True):
    """The columns whose bounds are wanted, and those whose bytes count as needed."""

    bounds: tuple[Column, ...]
    read: tuple[Column, ...]


class Footers:
    """The footers that were read so far. A file is known by its number: the place of its key among those seen."""

    def __init__(self, files: ParquetFiles, wanted: Wanted, progress: Progress | None = None) -> None:
        self.wanted = wanted
        self.unreadable: dict[str, str] = {}  # key of a file that is kept because its footer is not read -> why
        self._files = files
        self._progress = progress
        self._bounds = {column: number for number, column in enumerate(wanted.bounds)}
        self._kinds = kinds_of(wanted.bounds)
        self._forms: dict[Form, int] = {}
        self._numbers: dict[str, int] = {}
        self._schemas: dict[str, list[_Leaf]] = {}  # by elements
        self._names: dict[str, dict[Column, str]] = {}  # elements -> the names of columns that Bloom filters can be asked about
        self._places: list[tuple[str, dict[Column, str]]] = []  # by number: where the file lies, and those names
        self._groups: list[str] = []
        self._chunks: list[str] = []
        self._absent: list[str] = []
        self._lacking: dict[str, list[int]] = {}  # elements -> columns that such a file certainly lacks

    def read(self, engine: Engine, files: Iterable[tuple[str, int]]) -> dict[str, int]:
        """The numbers of these files, given by key and size; a file that cannot be read has none."""
        wanted = dict(files)
        known = self._numbers.keys() | self.unreadable.keys()
        new = [(self._path(key), key, size) for key, size in wanted.items() if key not in known]
        for start in range(0, len(new), engine.footers_at_once):
            if self._progress is not None:
                self._progress(start, len(new))
            self._batch(engine, new[start : start + engine.footers_at_once])
        if self._progress is not None and new:
            self._progress(len(new), len(new))
        return {key: self._numbers[key] for key in wanted if key in self._numbers}

    def anew(self) -> Footers:
        """The same with nothing read."""
        return Footers(self._files, self.wanted, self._progress)

    def has_any(self) -> bool:
        return bool(self._groups)

    def groups(self) -> str:
        """A FROM item: file, row_group, rows, size, start_byte, end_byte, is_whole.

        A file without row groups has one row without any: it was read.
        """
        return _union(self._groups)

    def domains(self, columns: Sequence[Column], read: Sequence[Column]) -> str | None:
        """A FROM item over row groups, as `pivot_sql` makes it: the domains of columns, and the bytes of those that are read.

        None when nothing is asked for. Bytes of nested columns count once.
        """
        paths = {column.physical for column in read}
        outermost = [c for c in read if not any(c.physical[:depth] in paths for depth in range(1, len(c.physical)))]
        needed = {-1 - self.wanted.read.index(column) for column in outermost}
        needed |= {self._bounds[column] for column in outermost if column in self._bounds}
        kinds = {self._bounds[column]: self._kinds.index(carrier(column.type)) for column in columns}
        asked = {*kinds, *needed}
        # All that are kept are taken without a look at each of them.
        is_all = len(asked) == len(self.wanted.bounds) + len(self.wanted.read)
        chunks = _union(self._chunks)
        picked = chunks if is_all else f"(SELECT * FROM {chunks} WHERE wanted IN ({listed(asked)}))"
        return pivot_sql(picked, kinds, needed) if asked else None

    def unpacked(self, names: Relation, seen: Seen) -> dict[str, str]:
        """The columns of a domain in a relation, as SQL over `domains`."""
        return unpacked(names, seen, self._bounds[seen.column])

    def absent(self, column: Column) -> tuple[Absent, str] | None:
        """What a column is in files that lack it, and a FROM item over their numbers; None when none does, or it is not known."""
        number = self._bounds[column]
        found = None if self._files.absent is None else self._files.absent(column)
        if found is None or not any(number in several for several in self._lacking.values()):
            return None
        return found, f"(SELECT file FROM {_union(self._absent)} WHERE wanted = {number})"

    def excluded(self, engine: Engine, column: Column, values: Sequence[str], numbers: Sequence[int]) -> set[tuple[int, int]]:
        """The row groups of these files, by number, whose Bloom filters exclude each of the values, which are SQL."""
        by_name: dict[str, dict[str, list[int]]] = {}
        for number in self._with_filters(engine, column, numbers):
            place, names = self._places[number]
            if column in names:
                by_name.setdefault(names[column], {}).setdefault(place, []).append(number)
        found = set()
        for name, places in by_name.items():
            for start in range(0, len(places), engine.footers_at_once):
                paths = list(places)[start : start + engine.footers_at_once]
                probes = [engine.bloom_probe(paths, name, value) for value in values]
                several = " UNION ALL ".join(f"SELECT * FROM {probe}" for probe in probes)
                least = "min(CASE WHEN is_excluded THEN 1 ELSE 0 END) = 1"
                rows = engine.query(f"SELECT file, row_group FROM ({several}) GROUP BY file, row_group HAVING {least}")
                found |= {(number, row_group) for place, row_group in rows for number in places[place]}
        return found

    def _with_filters(self, engine: Engine, column: Column, numbers: Sequence[int]) -> Sequence[int]:
        """Those of these files whose filters of the column are on this machine, where an engine can ask them."""
        if self._files.storage.has_whole_files or not numbers:
            return numbers
        asked = engine.lookup(["asked"], ["BIGINT"], [(number,) for number in numbers])
        chunks = f"{_union(self._chunks)} AS c JOIN {asked} AS a ON a.asked = c.file"
        is_filter = f"wanted = {self._bounds[column]} AND bloom_start IS NOT NULL"
        rows = engine.query(f"SELECT file, bloom_start, bloom_end FROM {chunks} WHERE {is_filter}")
        here = bring_filters(self._files.storage, [(self._places[number][0], start, end) for number, start, end in rows])
        return [number for number in numbers if self._places[number][0] in here]

    def _path(self, key: str) -> str:
        return key if is_elsewhere(key) else self._files.folder + key

    def _batch(self, engine: Engine, files: Sequence[tuple[str, str, int]]) -> None:
        places = self._files.storage.footer_paths([(path, size) for path, _, size in files])
        by_place: dict[str, list[str]] = {}
        for (_, key, _), place in zip(files, places, strict=True):
            if place is None:
                self.unreadable[key] = "it lies outside of the table's location"
            else:
                by_place.setdefault(place, []).append(key)
        read = self._read(engine, by_place)
        if read is None:
            return
        # Which file has which schema matters here only where Bloom filters are asked.
        known = engine.query(f"SELECT file, elements, is_julian FROM {read.files}") if engine.reads_bloom else ()
        self._resolve(
            dict.fromkeys(elements for _, elements, _ in known)
            if engine.reads_bloom
            else [elements for (elements,) in engine.query(f"SELECT DISTINCT elements FROM {read.files}")]
        )
        names = {place: self._askable(elements, is_julian=is_julian) for place, elements, is_julian in known}
        numbers = []
        for place, keys in by_place.items():
            for key in keys:
                self._numbers[key] = len(self._numbers)
                self._places.append((place, names.get(place, {})))
                numbers.append((place, self._numbers[key]))
        self._keep(engine, read, engine.lookup(["file", "number"], ["STRING", "BIGINT"], numbers))
        engine.forget(read)

    def _keep(self, engine: Engine, read: ReadFooters, numbers: str) -> None:
        """What is wanted of these footers; `numbers` has the number of each file."""
        texts = [(elements, number) for number, elements in enumerate(self._schemas)]
        schemas = engine.lookup(["elements", "schema_number"], ["STRING", "BIGINT"], texts)
        files = engine.kept(_files_sql(engine.dialect, read, numbers, schemas))
        groups = engine.kept(_groups_sql(read, files))
        leaves = _lookup(engine, _LEAF, [(number, *leaf) for number, own in enumerate(self._schemas.values()) for leaf in own])
        signed = ", ".join(str(place) for form, place in self._forms.items() if form.stored.has_signed_order)
        chunks = _chunks_sql(read, files, groups, leaves, f"(form IN ({signed}))" if signed else "FALSE")
        self._groups.append(groups)
        self._chunks.append(engine.kept(domains_sql(engine.dialect, list(self._forms), self._kinds, f"({chunks})")))
        if any(self._lacking.values()):
            pairs = [(number, column) for number, elements in enumerate(self._schemas) for column in self._lacking[elements]]
            lacking = _lookup(engine, ("schema_number", "wanted"), pairs)
            joined = f"{files} AS f JOIN {lacking} AS l ON f.schema_number = l.schema_number"
            self._absent.append(engine.kept(f"SELECT f.number AS file, l.wanted AS wanted FROM {joined}"))

    def _askable(self, elements: str, *, is_julian: bool) -> dict[Column, str]:
        """The columns of a file that Bloom filters can be asked about: they hash days as they are stored (T95)."""
        names = self._names[elements]
        return {column: name for column, name in names.items() if not is_movable(column.type)} if is_julian else names

    def _read(self, engine: Engine, by_place: dict[str, list[str]]) -> ReadFooters | None:
        while by_place:
            try:
                return engine.read_footers(list(by_place))
            except EngineError as error:
                other = [place for place in by_place if not _is_parquet(place)]
                if not other:
                    raise self._failure(error, by_place) from error
                for place in other:
                    self.unreadable |= dict.fromkeys(by_place.pop(place), "it is not a Parquet file with a plain footer")
        return None

    def _failure(self, error: EngineError, by_place: dict[str, list[str]]) -> TableError:
        message = self._files.storage.with_places(str(error))
        where = next((place for place in sorted(by_place, key=len, reverse=True) if place in str(error)), None)
        key = None if where is None else by_place[where][0]
        fix = "explain the table without --row-groups"
        return TableError("LP306", "the footer of a data file cannot be read", where=key, why=in_short(message), fix=fix)

    def _resolve(self, schemas: Iterable[str]) -> None:
        ids = self._files.field_ids
        for elements in schemas:
            if elements in self._schemas:
                continue
            tree, is_complete = identified(decode(elements, type=list[Element]), self._files.ids_by_name)
            leaves = leaves_of(tree)
            places = enumerate(self.wanted.bounds) if is_complete else ()
            self._lacking[elements] = [number for number, column in places if lacks(leaves, column, ids)]
            tops = Counter(name.lower() for name in {leaf.path[0] for leaf in leaves})
            names = self._names.setdefault(elements, {})
            own: dict[Column, tuple[int, int]] = {}
            for column in self.wanted.bounds:
                if (leaf := stored_leaf(leaves, column, ids)) is not None:
                    own[column] = leaf[0], self._forms.setdefault(Form(column.type, leaf[1]), len(self._forms))
                    name, *inner = leaves[leaf[0]].path
                    if not inner and tops[name.lower()] == 1 and leaf[1].type == column.type:
                        names[column] = name
            below = {column: leaves_below(leaves, column, ids) for column in self.wanted.read}
            # A column with bounds and one leaf is both in one row.
            both = {column for column, (number, _) in own.items() if below.get(column) == [number]}
            found: list[_Leaf] = []
            for column, (number, form) in own.items():
                found.append((number, self._bounds[column], form, int(column in both)))
            for place, column in enumerate(self.wanted.read):
                found += [(number, -1 - place, None, 1) for number in below[column] if column not in both]
            self._schemas[elements] = found


def _files_sql(dialect: Dialect, read: ReadFooters, numbers: str, schemas: str) -> str:
    """The files with their numbers. What is long is compared here, once per file: their chunks are many."""
    return (
        "SELECT n.number AS number, f.file AS file, f.rows AS rows, s.schema_number AS schema_number, f.is_julian AS is_julian, "
        f"{is_denied(dialect, 'f.created_by')} AS is_denied FROM {read.files} AS f JOIN {numbers} AS n ON f.file = n.file "
        f"JOIN {schemas} AS s ON f.elements = s.elements"
    )


def _groups_sql(read: ReadFooters, files: str) -> str:
    """Row groups with their sizes; `is_whole` says that those of a file add up to it."""
    chunks = (
        f"SELECT c.file AS file, c.row_group AS row_group, max(c.rows) AS rows, sum({_SIZE}) AS size, "
        f"min(c.start_byte) AS start_byte, max(c.end_byte) AS end_byte FROM {read.chunks} AS c GROUP BY c.file, c.row_group"
    )
    whole = f"SELECT *, sum(rows) OVER (PARTITION BY file) AS total FROM ({chunks})"
    numbers = ("rows", "size", "start_byte", "end_byte")
    items = ", ".join(f"CAST(coalesce(g.{name}, 0) AS BIGINT) AS {name}" for name in numbers)
    return (
        f"SELECT f.number AS file, g.row_group AS row_group, {items}, coalesce(g.total, 0) = f.rows AS is_whole "
        f"FROM {files} AS f LEFT JOIN ({whole}) AS g ON g.file = f.file"
    )


def _chunks_sql(read: ReadFooters, files: str, groups: str, leaves: str, has_signed_order: str) -> str:
    """The chunks of wanted columns. Row groups that do not add up to their file are not all of it: they prove nothing."""
    whole = f"(SELECT DISTINCT file FROM {groups} WHERE is_whole)"
    known = f"(SELECT f.*, w.file IS NOT NULL AS is_whole FROM {files} AS f LEFT JOIN {whole} AS w ON w.file = f.number)"
    is_usable = "(f.is_whole AND c.rows > 0)"
    items = ["f.number AS file", "c.row_group AS row_group", "l.wanted AS wanted", "l.form AS form"]
    items += [f"l.counts * ({_SIZE}) AS needed_bytes", "CASE WHEN has_bloom THEN l.counts ELSE 0 END AS blooms"]
    items += [f"CASE WHEN {is_usable} THEN c.rows END AS rows", "c.num_values AS num_values", "is_max_exact", "nulls", "nans"]
    items += ["bloom_start", "bloom_end", "f.is_julian AS is_julian"]
    items += usable_items(has_signed_order, f"(NOT f.is_denied AND {is_usable})")
    return (
        f"SELECT {', '.join(items)} FROM {read.chunks} AS c JOIN {known} AS f ON c.file = f.file "
        f"JOIN {leaves} AS l ON f.schema_number = l.schema_number AND c.leaf = l.leaf"
    )


def _lookup(engine: Engine, columns: Sequence[str], rows: Sequence[tuple[int | None, ...]]) -> str:
    return engine.lookup(columns, ["BIGINT"] * len(columns), rows)


def _union(tables: Sequence[str]) -> str:
    return f"({' UNION ALL '.join(f'SELECT * FROM {table}' for table in tables)})"


def _is_parquet(place: str) -> bool:
    """Whether a file of this machine is meant to be Parquet with a plain footer; TRUE when it cannot be looked at.

    A truncated one begins so and ends with anything but the mark of an encrypted footer.
    """
    try:
        with open(place, "rb") as file:
            begin = file.read(len(_MAGIC))
            file.seek(-len(_MAGIC), 2)
            end = file.read()
            return _MAGIC in (begin, end) and end != _ENCRYPTED
    except OSError:
        return True
