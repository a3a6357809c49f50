"""The footers of a table's data files, read batch by batch: of each only what some predicate needs is kept.

In: keys and sizes of files, the columns wanted. Out: tables of the engine, numbered by file: row groups, and the chunks of each
wanted column. A footer is read once, whoever asks, as long as the engine is awake. Data pages are never read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.json import decode

from lakeprune.engines.engine import Element, Engine, EngineError, ReadFooters
from lakeprune.errors import TableError
from lakeprune.formats.parquet.bounds import Stored, judged_items
from lakeprune.formats.parquet.legacy_calendar import is_movable
from lakeprune.formats.row_groups.filters import bring_filters
from lakeprune.formats.row_groups.leaves import identified, lacks, leaves_below, leaves_of, stored_leaf
from lakeprune.formats.snapshot import Absent, ParquetFiles, in_short
from lakeprune.predicate.tree import Column
from lakeprune.storage.storage import is_elsewhere

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"  # where a plain footer has the mark above
Progress = Callable[[int, int], None]


class Wanted(Struct, frozen=True):
    """The columns whose bounds are wanted, and those whose bytes count as needed."""

    bounds: tuple[Column, ...]
    read: tuple[Column, ...]


class Footers:
    """The footers that were read so far. A file is known by its number: the place of its key among those seen."""

    def __init__(self, files: ParquetFiles, wanted: Wanted, progress: Progress | None = None) -> None:
        self.wanted = wanted
        self.stored: dict[Column, list[Stored]] = {column: [] for column in wanted.bounds}
        self.unreadable: dict[str, str] = {}  # key of a file that is kept because its footer is not read -> why
        self._files = files
        self._progress = progress
        self._numbers: dict[str, int] = {}
        self._schemas: dict[str, list[tuple[int, int, int]]] = {}  # elements -> (leaf, column, way it is stored)
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
        """A FROM item: file, row_group, rows, size, start_byte, end_byte, is_whole, and what `read_names` names.

        A file without row groups has one row without any: it was read.
        """
        return _union(self._groups)

    def read_names(self, columns: Sequence[Column]) -> list[tuple[str, str]]:
        """What the bytes of these columns are called in `groups`, and the number of their Bloom filters; nested ones once."""
        paths = {column.physical for column in columns}
        outermost = [c for c in columns if not any(c.physical[:depth] in paths for depth in range(1, len(c.physical)))]
        return [(f"needed{number}", f"blooms{number}") for number in map(self.wanted.read.index, outermost)]

    def chunks(self, column: Column) -> str:
        """A FROM item over the chunks of one column, as `groups_sql` takes them."""
        number = self.wanted.bounds.index(column)
        return f"(SELECT * FROM {_union(self._chunks)} WHERE wanted = {number})"

    def absent(self, column: Column) -> tuple[Absent, str] | None:
        """What a column is in files that lack it, and a FROM item over their numbers; None when none does, or it is not known."""
        number = self.wanted.bounds.index(column)
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
        filters = f"{self.chunks(column)} AS c JOIN {asked} AS a ON a.asked = c.file WHERE has_bloom"
        rows = engine.query(f"SELECT file, bloom_start, bloom_end FROM {filters}")
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
        self._resolve(elements for (elements,) in engine.query(f"SELECT DISTINCT elements FROM {read.files}"))
        # Which file has which schema matters here only where Bloom filters are asked.
        known = engine.query(f"SELECT file, elements, is_julian FROM {read.files}") if engine.reads_bloom else ()
        names = {place: self._askable(elements, is_julian=is_julian) for place, elements, is_julian in known}
        numbers = []
        for place, keys in by_place.items():
            for key in keys:
                self._numbers[key] = len(self._numbers)
                self._places.append((place, names.get(place, {})))
                numbers.append((place, self._numbers[key]))
        listed = engine.lookup(["file", "number"], ["STRING", "BIGINT"], numbers)
        rows = [(elements, *found) for elements, several in self._schemas.items() for found in several]
        leaves = engine.lookup(["elements", "leaf", "wanted", "stored"], ["STRING", "BIGINT", "BIGINT", "BIGINT"], rows)
        self._groups.append(engine.kept(_groups_sql(read, listed, leaves, len(self.wanted.read))))
        self._chunks.append(engine.kept(self._chunks_sql(engine, read, listed, leaves)))
        if any(self._lacking.values()):
            pairs = [(elements, number) for elements, several in self._lacking.items() for number in several]
            lacking = engine.lookup(["elements", "wanted"], ["STRING", "BIGINT"], pairs)
            joined = f"{read.files} AS f JOIN {listed} AS n ON f.file = n.file JOIN {lacking} AS l ON f.elements = l.elements"
            self._absent.append(engine.kept(f"SELECT n.number AS file, l.wanted AS wanted FROM {joined}"))
        engine.forget(read)

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
            found: list[tuple[int, int, int]] = []
            tops = Counter(name.lower() for name in {leaf.path[0] for leaf in leaves})
            names = self._names.setdefault(elements, {})
            for number, column in enumerate(self.wanted.bounds):
                if (leaf := stored_leaf(leaves, column, ids)) is not None:
                    ways = self.stored[column]
                    if leaf[1] not in ways:
                        ways.append(leaf[1])
                    found.append((leaf[0], number, ways.index(leaf[1])))
                    name, *inner = leaves[leaf[0]].path
                    if not inner and tops[name.lower()] == 1 and leaf[1].type == column.type:
                        names[column] = name
            # What is read has negative numbers, from -1 down.
            for number, column in enumerate(self.wanted.read):
                found += [(leaf, -1 - number, 0) for leaf in leaves_below(leaves, column, ids)]
            self._schemas[elements] = found

    def _chunks_sql(self, engine: Engine, read: ReadFooters, listed: str, leaves: str) -> str:
        signed = " OR ".join(
            f"(wanted = {number} AND stored = {place})"
            for number, column in enumerate(self.wanted.bounds)
            for place, way in enumerate(self.stored[column])
            if way.has_signed_order
        )
        items = ["n.number AS file", "c.row_group AS row_group", "l.wanted AS wanted", "l.stored AS stored", "c.rows AS rows"]
        items += ["c.num_values AS num_values", "is_max_exact", "nulls", "nans", "has_bloom", "bloom_start", "bloom_end"]
        items.append("f.is_julian AS is_julian")
        items += judged_items(engine.dialect, "f.created_by", f"({signed or 'FALSE'})")
        return (
            f"SELECT {', '.join(items)} FROM {read.chunks} AS c JOIN {read.files} AS f ON c.file = f.file "
            f"JOIN {listed} AS n ON c.file = n.file "
            f"JOIN {leaves} AS l ON f.elements = l.elements AND c.leaf = l.leaf AND l.wanted >= 0"
        )


def _groups_sql(read: ReadFooters, listed: str, leaves: str, columns: int) -> str:
    """Row groups with their sizes; `is_whole` says that those of a file add up to it."""
    size = "c.end_byte - c.start_byte"
    chunks = (
        f"SELECT c.file AS file, c.row_group AS row_group, max(c.rows) AS rows, sum({size}) AS size, "
        f"min(c.start_byte) AS start_byte, max(c.end_byte) AS end_byte FROM {read.chunks} AS c GROUP BY c.file, c.row_group"
    )
    whole = f"SELECT *, sum(rows) OVER (PARTITION BY file) AS total FROM ({chunks})"
    numbers = ["g.rows", "g.size", "g.start_byte", "g.end_byte"]
    joined = f"LEFT JOIN ({whole}) AS g ON g.file = f.file"
    if columns:
        sums = ", ".join(
            f"sum(CASE WHEN l.wanted = {-1 - number} THEN {size} ELSE 0 END) AS needed{number}, "
            f"sum(CASE WHEN l.wanted = {-1 - number} AND c.has_bloom THEN 1 ELSE 0 END) AS blooms{number}"
            for number in range(columns)
        )
        needed = (
            f"SELECT c.file AS file, c.row_group AS row_group, {sums} FROM {read.chunks} AS c "
            f"JOIN {read.files} AS f ON c.file = f.file JOIN {leaves} AS l ON f.elements = l.elements AND c.leaf = l.leaf "
            "WHERE l.wanted < 0 GROUP BY c.file, c.row_group"
        )
        numbers += [f"n.{name}{number}" for number in range(columns) for name in ("needed", "blooms")]
        joined += f" LEFT JOIN ({needed}) AS n ON n.file = g.file AND n.row_group = g.row_group"
    items = ", ".join(f"CAST(coalesce({name}, 0) AS BIGINT) AS {name[2:]}" for name in numbers)
    return (
        f"SELECT k.number AS file, g.row_group AS row_group, {items}, coalesce(g.total, 0) = f.rows AS is_whole "
        f"FROM {read.files} AS f JOIN {listed} AS k ON f.file = k.file {joined}"
    )


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
