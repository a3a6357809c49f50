"""Spark's errors about rows that it could not read, as errors that name the file and say what to do.

In: an exception of PySpark or of its gateway. Out: a `LakepruneError` in one line; the stack of a JVM helps nobody who asked
about a table, and `--spark-log` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from lakeprune.engines.spark.lines import unlogged
from lakeprune.engines.spark.packages import CONDITIONS, connector_failure
from lakeprune.errors import LakepruneError, PredicateError, TableError

_MISSING = re.compile(r"FILE_NOT_EXIST|FileNotFoundException|NoSuchFileException|does not exist", re.IGNORECASE)
_DAMAGED = re.compile(
    r"FAILED_READ_FILE|CANNOT_READ|is not a Parquet file|ParquetDecodingException|Could not read", re.IGNORECASE
)
_ABOUT_FILES = ("FAILED_READ_FILE", "PATH_NOT_FOUND", *CONDITIONS, "CANNOT_READ", "DATA_SOURCE_NOT_FOUND", "UNABLE_TO_INFER")
_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_.]+\][^\n]*")  # how Spark names what is wrong, and the sentence behind it
_FILE = re.compile(r"(?:[a-z0-9]+:/|/)[^\s'\"`,]*?\.parquet", re.IGNORECASE)


@contextmanager
def row_errors(location: str, asked: str | None = None) -> Iterator[None]:
    """Spark's errors about the rows of this table, or about what is asked of them, as errors of lakeprune."""
    try:
        with unlogged():
            yield
    except (PySparkException, Py4JError) as error:
        raise (rows_failure(error, location) if asked is None else evaluation_failure(error, location, asked)) from error


def rows_failure(error: PySparkException | Py4JError, location: str) -> LakepruneError:
    """The table's rows cannot be read: which file, why, and what to do about it."""
    message = words_of(error)
    first = message.strip().split("\n", 1)[0]
    if (missing := connector_failure(message)) is not None:
        return missing
    file = _FILE.search(message)
    where = file[0] if file else location
    if _MISSING.search(message) and file:
        fix = "restore the file, or run FSCK/RESTORE on the table; a version that VACUUM has cleaned can no longer be read"
        return TableError("LP340", "a data file of the table is not there", where=where, why=first, fix=fix)
    if _DAMAGED.search(message) and file:
        fix = "restore the file from a copy; --spark-log ERROR shows all that Spark says"
        return TableError("LP340", "a data file of the table cannot be read", where=where, why=first, fix=fix)
    fix = "check that Spark can read the data files; --spark-log ERROR shows all that it says"
    return TableError("LP340", "the table's rows cannot be read", where=location, why=first, fix=fix)


def evaluation_failure(error: PySparkException | Py4JError, location: str, where: str) -> LakepruneError:
    """Rows were read and this was asked of them: either they cannot be read, or it cannot be answered for every row."""
    message = words_of(error)
    named = _CONDITION.search(message)  # also inside the exception of a thread, which has no condition of its own
    if named is None or any(f"[{name}" in message for name in _ABOUT_FILES):
        return rows_failure(error, location)
    fix = "correct the predicate: Spark must be able to evaluate it on every row"
    return PredicateError("LP107", "Spark cannot evaluate the predicate", where=where, why=named[0], fix=fix)


def words_of(error: PySparkException | Py4JError) -> str:
    """The messages of the error and of its causes, without their stacks."""
    if isinstance(error, Py4JJavaError):
        messages: list[str] = []
        cause = error.java_exception
        while cause is not None and len(messages) < 10:
            messages.append(str(cause.toString()))
            cause = cause.getCause()
        return "\n".join(messages)
    return "\n".join(line for line in str(error).splitlines() if not line.lstrip().startswith("at "))
