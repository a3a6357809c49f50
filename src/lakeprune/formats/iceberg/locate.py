"""Where the metadata of an Iceberg table lies, and where the paths in it lead.

In: a storage at a table's folder or at a metadata file. Out: the newest metadata file, and `Paths`, which finds what the metadata
names below the folder that was given: a table that was copied elsewhere still records its old location.
"""

from __future__ import annotations

import os
import re
from posixpath import relpath

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.errors import TableError
from lakeprune.formats.format import NotThisFormat
from lakeprune.storage.storage import Storage

METADATA = "metadata"
HINT = f"{METADATA}/version-hint.text"
_HINT_LIMIT = 1000
_FILE = re.compile(r"(?:v(\d+)|(\d+)-.*)(?:\.gz)?\.metadata\.json(?:\.gz)?", re.ASCII)
_ENDINGS = (".metadata.json", ".metadata.json.gz")
_SAME_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "wasb": "abfss", "abfs": "abfss", "gcs": "gs"}


def metadata_file(storage: Storage) -> str:
    """The path of the metadata file below the storage's root."""
    if storage.pattern is not None:
        if not storage.pattern.endswith((".json", ".json.gz")):
            raise NotThisFormat("LP302", f"{storage.location} is neither a directory nor a metadata file of Iceberg")
        if storage.size(storage.pattern) is None:
            fix = "check the location; a catalog records which metadata file is the newest"
            raise TableError("LP301", f"there is nothing at {storage.location}", fix=fix)
        return storage.pattern
    entries = storage.list_from(METADATA, "")
    names = [entry.name for entry in entries or () if entry.name.endswith(_ENDINGS)]
    if not names:
        raise NotThisFormat("LP305", f"{storage.location} is not an Iceberg table: it has no {METADATA}/*.metadata.json")
    return f"{METADATA}/{_hinted(storage, names) or _newest(storage, names)}"


def _hinted(storage: Storage, names: list[str]) -> str | None:
    """The file that the version hint leads to. Later versions beside it win: the hint is written after them."""
    data = storage.read_if_there(HINT, _HINT_LIMIT)
    if data is None:
        return None
    hint = data.decode("utf-8", "replace").strip()
    if not (hint.isascii() and hint.isdigit()):
        return next((name for name in names if name.startswith(f"{hint}.") and _is_metadata_of(name, hint)), None)
    version, found = int(hint), None
    while following := [name for name in names if _is_metadata_of(name, f"v{version}")]:
        found = min(following)  # the same metadata, plain and compressed
        version += 1
    return found


def _is_metadata_of(name: str, stem: str) -> bool:
    return name in {f"{stem}{middle}" for middle in (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")}


def _newest(storage: Storage, names: list[str]) -> str:
    versions: dict[int, list[str]] = {}
    for name in names:
        if match := _FILE.fullmatch(name):
            versions.setdefault(int(match[1] or match[2]), []).append(name)
    if not versions:
        what = f"none of the metadata files of {storage.location} has a version in its name"
        raise TableError("LP361", what, fix="give the metadata file itself")
    newest = versions[max(versions)]
    if len(newest) > 1:
        raise TableError(
            "LP361",
            f"{storage.location} has {len(newest)} metadata files of version {max(versions)}",
            where=", ".join(sorted(newest)),
            why="only a catalog records which of them is the table's",
            fix="give the metadata file itself",
        )
    return newest[0]


class Paths(Struct, frozen=True):
    """Paths of the metadata, as the storage finds them."""

    storage: Storage
    location: str  # of the table, as its metadata records it
    folder: str  # the table's, below the root: "", "../" or "db/t/"
    beside: str  # the metadata file's, below the root

    def find(self, recorded: str) -> str:
        """The path below the root. What lies outside of the table's location is looked for beside the metadata, by its name."""
        inside = self.inside(recorded)
        if inside is not None:
            return self._inside(recorded, self.folder + inside)
        beside = self.beside + recorded.rsplit("/", 1)[-1]
        if self.storage.size(beside) is not None:
            return beside
        at_its_place = self._at_its_place(recorded)
        if at_its_place is not None:
            return at_its_place
        raise TableError(
            "LP363",
            "a metadata file lies outside of the table's location",
            where=recorded,
            why=f"the table's location is {self.location}, and no file of this name is beside its metadata",
            fix="copy it beside the metadata file, or give the table where it was written",
        )

    def _inside(self, recorded: str, path: str) -> str:
        """A path in the table's folder; a metadata file that was given may lie elsewhere, with older manifests in the folder."""
        if self.storage.pattern is None or self.storage.size(path) is not None:
            return path
        return self._at_its_place(recorded) or path

    def _at_its_place(self, recorded: str) -> str | None:
        """Where it is recorded, in the same bucket or on this machine; None when that cannot be reached."""
        below_root = _below(recorded, plain(self.storage.root))
        if below_root is not None:
            return below_root
        elsewhere = _on_this_machine(recorded, self.storage.root)
        return None if elsewhere is None or self.storage.size(elsewhere) is None else elsewhere

    def inside(self, recorded: str) -> str | None:
        """The path below the table's location, None when it lies elsewhere."""
        return _below(recorded, plain(self.location))

    def is_where_recorded(self, recorded: str) -> bool:
        """Whether the path leads where it is recorded, and not to a copy elsewhere."""
        return os.path.normpath(plain(self.place(self.find(recorded)))) == os.path.normpath(plain(recorded))

    def place(self, path: str) -> str:
        """What an engine finds a path below the root by."""
        (place,) = self.storage.engine_paths([path])
        return place if "://" in place else os.path.abspath(place)

    @property
    def base(self) -> str:
        """Where the table's folder is."""
        root = self.storage.root.rstrip("/")
        if "://" in root:
            return f"{root}/{self.folder}".rstrip("/")
        return os.path.abspath(f"{root}/{self.folder}")

    def uri(self, recorded: str) -> str:
        """Where a file of the table lies: in its folder, wherever that is now, or where it is recorded."""
        inside = self.inside(recorded)
        return f"{self.base}/{inside}" if inside is not None else plain(recorded)

    def shown(self, recorded: str) -> str:
        """A data file as reports name it: below the table's location where it lies inside."""
        return self.inside(recorded) or recorded


def paths_of(storage: Storage, location: str, path: str) -> Paths:
    """Where the paths lead of a table whose metadata file is at `path`, and records this location.

    A metadata file that was given lies somewhere below the recorded location, or in the folder `metadata` of a copy.
    """
    beside = path[: path.rfind("/") + 1]
    if storage.pattern is None:
        return Paths(storage, location, "", beside)
    inside = _below(storage.place(path), plain(location))
    return Paths(storage, location, _above(beside, 1 if inside is None else inside.count("/"), storage.root), beside)


def _above(folder: str, levels: int, root: str) -> str:
    """The folder so many levels above; a store has nothing above its root.

    >>> _above("db/t/metadata/", 1, "s3://lake"), _above("", 1, "/lake/t/metadata"), _above("", 1, "s3://lake")
    ('db/t/', '../', '')
    """
    for _ in range(levels):
        if folder.strip("./"):
            folder = folder[: folder.rstrip("/").rfind("/") + 1]
        elif "://" not in root:
            folder += "../"
    return folder


def shown_sql(dialect: Dialect, path: str, location: str) -> str:
    """SQL of what `Paths.shown` gives; of a path that is shown already, the same."""
    if not (base := plain(location)):
        return path
    scheme, separator, _ = base.partition("://")
    pattern, replacement = ("^(?i)file:/*", "/") if base.startswith("/") else (r"^(?:\./)+", "")
    if separator:
        pattern, replacement = f"^(?i)(?:{'|'.join(map(re.escape, schemes_like(scheme)))}):", f"{scheme}:"
    plain_path = dialect.regexp_replace(path, pattern, replacement)
    inside = dialect.starts_with(plain_path, dialect.text(f"{base}/"))
    return f"CASE WHEN {inside} THEN substring({plain_path}, {len(base) + 2}) ELSE {path} END"


def schemes_like(scheme: str) -> list[str]:
    """The schemes that are compared as this one.

    >>> schemes_like("s3"), schemes_like("hdfs")
    (['s3', 's3a', 's3n'], ['hdfs'])
    """
    return [scheme, *(other for other, same in _SAME_SCHEMES.items() if same == scheme)]


def _on_this_machine(recorded: str, root: str) -> str | None:
    """The path from the root to a recorded place of this machine.

    >>> _on_this_machine("file:///lake/manifests/m.avro", "/lake/t/metadata"), _on_this_machine("s3://lake/m.avro", "/lake/t")
    ('../../manifests/m.avro', None)
    """
    path = plain(recorded)
    return relpath(path, root) if path.startswith("/") and root.startswith("/") else None


def _below(recorded: str, location: str) -> str | None:
    path = plain(recorded)
    return path[len(location) + 1 :] if location and path.startswith(f"{location}/") else None


def plain(path: str) -> str:
    """A location in the one way that locations are compared.

    >>> plain("file:///a/b/"), plain("file:/a"), plain("s3a://b/k"), plain("/x"), plain("./t/")
    ('/a/b', '/a', 's3://b/k', '/x', 't')
    """
    scheme, separator, rest = path.partition(":")
    if separator and scheme.lower() == "file":
        return "/" + rest.strip("/")
    if separator and rest.startswith("//"):
        path = f"{_SAME_SCHEMES.get(scheme.lower(), scheme.lower())}:{rest}"
    while path.startswith("./"):  # of the folder that some writer was in
        path = path[2:]
    return path.rstrip("/")
