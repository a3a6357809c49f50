"""The Spark session of a command: built once from flags, quiet, and with clear words when it cannot be had.

In: `SparkSettings`. Out: a SparkSession. A library caller brings a session instead and never comes here. Nothing is written but
a log of the JVM's own words, which is removed with the process.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
_PATIENCE = 10.0  # seconds until an address that does not answer counts as unreachable
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # drawn by spark_progress.py, on a terminal only
    "spark.log.level": "OFF",
}


class SparkSettings(Struct, frozen=True):
    """The flags: where Spark runs, and with what."""

    master: str | None = None
    remote: str | None = None  # sc://host:port, Spark Connect
    conf: tuple[tuple[str, str], ...] = ()
    packages: str | None = None
    log: str | None = None  # a log level: show Spark's own log, and the stack of an error


def open_session(settings: SparkSettings) -> SparkSession:
    """The session these settings ask for; the running one when the process has it already."""
    builder = _builder()
    if settings.remote is not None:
        _check_answers(settings.remote, r"sc://([^:/]+)(?::(\d+))?", "15002")
        builder = builder.remote(settings.remote)
    else:
        _check_java()
        master = settings.master or "local[*]"
        _check_answers(master, r"spark://([^:/,]+):(\d+)", "7077")
        builder = builder.master(master)
        for key, value in _QUIET.items():
            builder = builder.config(key, value)
    if settings.packages is not None:
        builder = builder.config("spark.jars.packages", settings.packages)
    for key, value in settings.conf:
        builder = builder.config(key, value)
    session = _started(builder.appName("lakeprune"), settings)
    if settings.remote is None:
        session.sparkContext.setLogLevel(settings.log or "OFF")
    return session


def _builder() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(
            "LP220", "the Spark engine needs PySpark", why=str(error), fix="pip install 'lakeprune[spark]'"
        ) from error
    return SparkSession.builder


def _started(builder: Any, settings: SparkSettings) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with tempfile.TemporaryFile() as words:
        try:
            with _said_into(words) if settings.log is None else _aloud():
                session: SparkSession = builder.getOrCreate()
                return session
        except (PySparkException, Py4JError, OSError) as error:
            raise _no_session(error, _read(words), settings) from error


def _no_session(error: Exception, said: str, settings: SparkSettings) -> UsageError:
    missing = re.findall(r"unresolved dependency: ([^\s:]+:?[^\s]*)|:: ([^\s]+): not found", said)
    if missing:
        names = ", ".join(dict.fromkeys(filter(None, (name for pair in missing for name in pair))))
        fix = "check --packages and the network, or give the jars with --conf spark.jars=PATH"
        return UsageError("LP223", f"a package of Spark cannot be had: {names}", where="--packages", fix=fix)
    where = settings.remote or settings.master or "local[*]"
    lines = [line.strip() for line in (said + "\n" + str(error)).splitlines()]
    telling = [line for line in lines if re.search(r"(Exception|Error)\b.*:", line) and not line.startswith("at ")]
    why = telling[0] if telling else str(error).strip().split("\n", 1)[0]
    return UsageError("LP224", "Spark does not start", where=where, why=why, fix="--spark-log INFO shows what Spark says")


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    fix = f"install Java {OLDEST_JAVA} (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if java is None or not os.path.exists(java):
        raise UsageError("LP221", "the Spark engine needs Java", where=f"JAVA_HOME={home}" if home else "PATH", fix=fix)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603  the user's Java
    version = re.search(r'version "(?:1\.)?(\d+)', told)
    if version is None or int(version[1]) < OLDEST_JAVA:
        found = told.split("\n", 1)[0].strip() or "it does not tell its version"
        raise UsageError("LP222", f"Java is older than {OLDEST_JAVA}", where=java, why=found, fix=fix)


def _check_answers(address: str, form: str, port: str) -> None:
    """Spark itself tries for minutes before it says that nobody listens."""
    match = re.match(form, address)
    if match is None:
        return
    host, number = match[1], int(match[2] or port)
    try:
        socket.create_connection((host, number), _PATIENCE).close()
    except OSError as error:
        fix = "check the address, and that the cluster is up and reachable from here"
        raise UsageError("LP225", f"nothing answers at {address}", why=str(error), fix=fix) from error


@contextmanager
def _said_into(words: BinaryIO) -> Iterator[None]:
    """A JVM that is started inside writes its standard error to this file, for as long as it lives."""
    sys.stderr.flush()
    ours = os.dup(2)
    try:
        os.dup2(words.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)


@contextmanager
def _aloud() -> Iterator[None]:
    yield


def _read(words: BinaryIO) -> str:
    words.seek(0)
    return words.read().decode(errors="replace")
