"""A table's log where Spark reaches it: s3a://, abfss://, gs://, hdfs://, or the file system of a Spark Connect server.

In: a session and a location. Out: the `Storage` of a table, listed and read by Spark's own connectors. Spark hides names that
begin with an underscore, `_last_checkpoint` among them, so the whole log is listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC
from io import BytesIO
from typing import Any, BinaryIO

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeprune.errors import TableError
from lakeprune.storage.storage import Entry, Storage

_MISSING = ("PATH_NOT_FOUND", "_LEGACY_ERROR_TEMP_1130")


class SparkStorage(Storage):
    """A directory as Spark sees it."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.location = _without_secrets(location)
        self._base = location.rstrip("/")
        self.root = re.sub("^file:/+", "/", self._base)  # as paths are compared: without the scheme of local files
        self._spark = spark
        self._content: dict[str, bytes] = {}

    def entries(self, directory: str, name: str, before: str | None) -> list[Entry] | None:  # noqa: ARG002  # Spark lists all
        rows = self._rows([directory], "path", "length", "modificationTime")
        if rows is None:
            return None
        return [Entry(path.rsplit("/", 1)[-1], size, _micros(modified)) for path, size, modified in rows]

    def size(self, path: str) -> int | None:
        if path in self._content:
            return len(self._content[path])
        rows = self._rows([path], "length")
        return int(rows[0][0]) if rows else None

    def open(self, path: str) -> BinaryIO:
        if path not in self._content:
            rows = self._rows([path], "content")
            if not rows:
                raise TableError("LP304", "the file cannot be read: it is not there", where=self.place(path))
            self._content[path] = bytes(rows[0][0])
        return BytesIO(self._content[path])

    def bring(self, paths: Sequence[str]) -> None:
        wanted = [path for path in paths if path.endswith(".json") and path not in self._content]
        if len(wanted) > 1:
            names = {path.rsplit("/", 1)[-1]: path for path in wanted}
            for place, content in self._rows(wanted, "path", "content") or []:
                self._content[names[place.rsplit("/", 1)[-1]]] = bytes(content)

    def engine_paths(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self._url, paths))

    def missing(self, engine_paths: Sequence[str]) -> str | None:  # noqa: ARG002  # Spark itself refuses a file that is gone
        return None

    def place(self, path: str) -> str:
        return _without_secrets(self._url(path))

    def with_places(self, message: str) -> str:
        return _without_secrets(message)

    def _url(self, path: str) -> str:
        return f"{self._base}/{path}"

    def _rows(self, paths: Sequence[str], *columns: str) -> list[Any] | None:
        """These columns of these files, None when there is no such file or directory."""
        try:
            reader = self._spark.read.format("binaryFile").option("__globPaths__", "false")
            frame: DataFrame = reader.load([self._url(path) for path in paths]).select(*columns)
            return [tuple(row) for row in frame.collect()]
        except AnalysisException as error:
            if error.getCondition() in _MISSING:
                return None
            raise self._unreadable(error, paths[0]) from error
        except (PySparkException, Py4JError) as error:  # the second when the connector itself is missing
            raise self._unreadable(error, paths[0]) from error

    def _unreadable(self, error: Exception, path: str) -> TableError:
        why = _without_secrets(str(getattr(error, "java_exception", error)).strip().split("\n", 1)[0])
        fix = "check the location, and that Spark has the connector and the credentials for it (--packages, --conf)"
        return TableError("LP304", "Spark cannot read the location", where=self.place(path), why=why, fix=fix)


def _without_secrets(text: str) -> str:
    """Hadoop takes keys inside a location; no message repeats them. What stands before `@` in abfss:// is a container.

    >>> _without_secrets("s3a://key:secret@bucket/table"), _without_secrets("abfss://container@account/table")
    ('s3a://...@bucket/table', 'abfss://container@account/table')
    """
    return re.sub(r"://[^/@\s]*:[^/@\s]*@", "://...@", text)


def _micros(moment: Any) -> int:
    """Microseconds since the epoch; the session's zone is UTC, so what Spark gives without a zone is UTC."""
    seconds: float = moment.replace(tzinfo=UTC).timestamp()
    return round(seconds * 1_000_000)
