"""The Spark session of a command, built once from flags, quiet, and with a clear error when it cannot be had; and what is asked
of any session.

In: `SparkSettings`. Out: a SparkSession. A library caller brings a session instead and never comes here. Nothing is written but
a log of the JVM's own output, which is removed with the process.
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
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.extras import install_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
_PATIENCE = 10.0  # seconds until an address that does not answer counts as unreachable
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # drawn by progress.py, on a terminal only
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
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Python workers have what this process has
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


def has_jvm(spark: SparkSession) -> bool:
    """Whether the session's JVM can be reached, which over Spark Connect it cannot."""
    return not type(spark).__module__.startswith("pyspark.sql.connect")


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Delta builds a DataFrame in the session that is active; whichever was before is again afterwards."""
    from lakeprune.engines.spark.lines import classes_of

    sessions = classes_of(spark._jvm).SparkSession  # noqa: SLF001  # PySpark has no other way
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def place_of(master: str | None, remote: str | None) -> str:
    """Where Spark runs, for messages: an address of Spark Connect may have a token behind its semicolon.

    >>> place_of(None, "sc://host:443/;token=secret"), place_of(None, None)
    ('sc://host:443', 'local[*]')
    """
    return (remote or master or "local[*]").partition(";")[0].rstrip("/")


def _builder() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError("LP220", "the Spark engine needs PySpark", why=str(error), fix=install_line("spark")) from error
    return SparkSession.builder


def _started(builder: Any, settings: SparkSettings) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with tempfile.TemporaryFile() as output:
        try:
            with _error_output_to(output) if settings.log is None else nullcontext():
                session: SparkSession = builder.getOrCreate()
                return session
        except (PySparkException, Py4JError, OSError) as error:
            raise _no_session(error, _read(output), settings) from error


def _no_session(error: Exception, output: str, settings: SparkSettings) -> UsageError:
    missing = re.findall(r"unresolved dependency: ([^\s:]+:?[^\s]*)|:: ([^\s]+): not found", output)
    if missing:
        names = ", ".join(dict.fromkeys(filter(None, (name for pair in missing for name in pair))))
        fix = "check --packages and the network, or give the jars with --conf spark.jars=PATH"
        return UsageError("LP223", f"a package of Spark cannot be had: {names}", where="--packages", fix=fix)
    where = place_of(settings.master, settings.remote)
    lines = [line.strip() for line in (output + "\n" + str(error)).splitlines()]
    errors = [line for line in lines if re.search(r"(Exception|Error)\b.*:", line) and not line.startswith("at ")]
    why = errors[0] if errors else str(error).strip().split("\n", 1)[0]
    return UsageError("LP224", "Spark does not start", where=where, why=why, fix="--spark-log INFO shows what Spark says")


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    fix = f"install Java {OLDEST_JAVA} (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if java is None or not os.path.exists(java):
        raise UsageError("LP221", "the Spark engine needs Java", where=f"JAVA_HOME={home}" if home else "PATH", fix=fix)
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603  the user's Java
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    if version is None or int(version[1]) < OLDEST_JAVA:
        found = output.split("\n", 1)[0].strip() or "it does not report its version"
        raise UsageError("LP222", f"Java is older than {OLDEST_JAVA}", where=java, why=found, fix=fix)


def _check_answers(address: str, form: str, port: str) -> None:
    """Spark itself tries for minutes before it reports that nobody listens."""
    match = re.match(form, address)
    if match is None:
        return
    host, number = match[1], int(match[2] or port)
    try:
        socket.create_connection((host, number), _PATIENCE).close()
    except OSError as error:
        fix = "check the address, and that the cluster is up and reachable from here"
        raise UsageError("LP225", f"nothing answers at {match[0]}", why=str(error), fix=fix) from error


@contextmanager
def _error_output_to(file: BinaryIO) -> Iterator[None]:
    """A JVM that is started inside writes its standard error to this file, for as long as it lives."""
    sys.stderr.flush()
    ours = os.dup(2)
    try:
        os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)


def _read(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
