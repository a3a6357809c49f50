"""Opening plain Parquet files: from a folder, a glob or a file to a `ParquetSnapshot`.

In: a storage, an engine. Out: a snapshot. Files are listed; of each only the footer is read. A folder that belongs to
a table format is refused, since its files are not all live.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.json import decode

from lakeprune.engines.engine import Element, Engine, EngineError
from lakeprune.errors import TableError
from lakeprune.formats.format import At, NotThisFormat, refuse_ref
from lakeprune.formats.parquet.declared import declared_columns
from lakeprune.formats.parquet.hive import partition_fields, texts_of, without_shadowed
from lakeprune.formats.parquet.ladder import EVIDENCE
from lakeprune.formats.parquet.schema import fields_of
from lakeprune.formats.parquet.snapshot import ParquetFile, ParquetSnapshot, unreadable
from lakeprune.formats.snapshot import Note, SnapshotFacts, TableFeatures
from lakeprune.predicate.schema import Schema
from lakeprune.storage.storage import Entry, Storage

_ENDINGS = (".parquet", ".parq", ".pq")
_MARKS = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
_MAGIC = b"PAR1"


class ParquetFormat:
    name = "parquet"

    def open(self, storage: Storage, engine: Engine, at: At) -> ParquetSnapshot:
        """The files there. Raises NotThisFormat when there are none."""
        entries, notes = _listed(storage)
        refuse_ref(at, "plain Parquet files have", storage.location)
        if not at.is_latest():
            what = "plain Parquet files have one version only"
            raise TableError("LP312", what, where=storage.location, fix="leave out --at-version and --at-timestamp")
        if not entries:
            raise TableError("LP301", f"no file matches {storage.location}", fix="check the pattern")
        places = storage.engine_paths([entry.name for entry in entries])
        try:
            footers = engine.footers(places)
            rows: dict[str, int] = dict(engine.query(f"SELECT file, rows FROM {footers.files}"))
            schemas = engine.query(f"SELECT elements FROM {footers.schemas} ORDER BY file")
        except EngineError as error:
            raise unreadable(error, storage.location, places) from error
        texts = [texts_of(entry.name) for entry in entries]
        partitions = partition_fields(texts)
        files = [ParquetFile(entry, place, rows[place], each) for entry, place, each in zip(entries, places, texts, strict=True)]
        elements = [decode(each, type=list[Element]) for (each,) in schemas]
        fields = (*without_shadowed(fields_of(elements), partitions), *partitions)
        facts = SnapshotFacts(
            "parquet",
            "Parquet files",
            EVIDENCE,
            storage.location,
            None,
            Schema(fields),
            tuple(field.name for field in partitions),
            TableFeatures(),
            notes=notes,
            table_id=_digest(entries),
            declared=declared_columns(elements, fields),
        )
        return ParquetSnapshot(facts, storage, files)


FORMAT = ParquetFormat()


def _listed(storage: Storage) -> tuple[list[Entry], tuple[Note, ...]]:
    """The Parquet files there, and what to know about the others."""
    others = 0

    def wants(path: str) -> bool:
        nonlocal others
        name = path.rstrip("/").rsplit("/", 1)[-1]
        if name in _MARKS or name.endswith(".metadata.json"):
            raise _part_of_a_table(storage, path, _MARKS.get(name, "an Iceberg table"))
        if path.endswith("/"):
            return not _is_hidden(name) or "=" in name
        is_wanted = not _is_hidden(name) and name.lower().endswith(_ENDINGS)
        others += not is_wanted and not _is_hidden(name)
        return is_wanted

    entries = storage.walk(wants)
    if entries is None:
        raise _elsewhere(storage)
    if entries and storage.pattern is None:
        _check_outside(storage)
    if storage.pattern is not None:
        entries = [entry for entry in entries if not _is_hidden(entry.name.rsplit("/", 1)[-1])]
        if [entry.name for entry in entries] == [storage.pattern] and not _is_parquet(storage, storage.pattern):
            raise NotThisFormat("LP302", f"{storage.location} is neither a directory nor a Parquet file")
    elif not entries:
        raise NotThisFormat("LP305", f"{storage.location} contains no Parquet files")
    ignored = f"{others} {'file' if others == 1 else 'files'} not named {', '.join('*' + end for end in _ENDINGS)} ignored"
    return entries, (Note("other_files_ignored", ignored),) if others else ()


def _digest(entries: list[Entry]) -> str:
    """What tells these files from others, or from themselves later."""
    import hashlib

    listed = hashlib.sha256()
    for entry in entries:
        listed.update(f"{entry.name}\0{entry.size}\0{entry.modified}\n".encode("utf-8", "surrogateescape"))
    return listed.hexdigest()[:32]


def _is_hidden(name: str) -> bool:
    """Whether readers pass over it: `_SUCCESS`, `_metadata`, `.part-0.parquet.crc`."""
    return name.startswith(("_", "."))


def _is_parquet(storage: Storage, path: str) -> bool:
    if path.lower().endswith(_ENDINGS):
        return True
    with storage.open(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _check_outside(storage: Storage) -> None:
    """Refuse a folder inside a table: its metadata may have deleted some of these files, or rows of them."""
    for folder in Path(storage.location).resolve().parents:
        is_delta = (folder / "_delta_log").is_dir()
        if is_delta or next(folder.glob("metadata/*.metadata.json"), None) is not None:
            what = f"{storage.location} lies inside {_MARKS['_delta_log'] if is_delta else 'an Iceberg table'}"
            why = "a table's metadata decides which of its Parquet files are live"
            fix = f"give the table itself: {folder}, or a glob of the files that are meant"
            raise TableError("LP351", what, where=str(folder), why=why, fix=fix)


def _part_of_a_table(storage: Storage, path: str, what: str) -> TableError:
    return TableError(
        "LP351",
        f"{storage.location} contains {what}",
        where=storage.place(path.rstrip("/")),
        why="a table's metadata decides which of its Parquet files are live",
        fix="give the table's own directory, or a glob of the files that are meant",
    )


def _elsewhere(storage: Storage) -> TableError:
    if any(letter in storage.location for letter in "*?[") or storage.location.lower().endswith(_ENDINGS):
        fix = "copy the files to this machine, or give the location of a table"
        return TableError("LP350", f"plain Parquet files are read on this machine only, not at {storage.location}", fix=fix)
    return NotThisFormat("LP305", f"{storage.location} is not a directory of this machine")
