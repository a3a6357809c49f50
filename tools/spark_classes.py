"""The classes of Spark in one archive, from which every later JVM starts in half of the processor time.

In: a folder. Out: the archive there, and the option by which a JVM uses it. Also fetches Spark's packages, once: two sessions
that fetch them at the same time would disturb each other. Without Java nothing is written, and the tests on Spark skip.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_NAME = "spark-classes.jsa"
# Spark passes these on to the JVM of the driver, without a word on the terminal. A JVM that cannot use the archive does without.
_VARIABLE = "SPARK_SUBMIT_OPTS"
_SILENT = "-Xlog:disable"


def archived(folder: Path) -> dict[str, str]:
    """The environment for processes that start Spark."""
    archive = (folder / _NAME).resolve()
    if not archive.exists():
        writing = {**os.environ, _VARIABLE: f'{_SILENT} "-XX:ArchiveClassesAtExit={archive}"'}
        command = [sys.executable, "-m", "tools.spark_classes"]
        subprocess.run(command, env=writing, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    given = f'{_SILENT} -Xshare:auto "-XX:SharedArchiveFile={archive}"'
    return {**os.environ, _VARIABLE: given} if archive.exists() else dict(os.environ)


def main() -> None:
    """Load what most tests load: writes, reads and statements on Delta."""
    from tests.spark.conftest import small_session

    session = small_session()
    gateway = session.sparkContext._gateway  # noqa: SLF001  # PySpark has no other way to wait for the JVM
    assert gateway is not None
    with TemporaryDirectory() as folder:
        table = f"{folder}/table"
        session.range(9).selectExpr("id", "id % 2 AS part").write.format("delta").partitionBy("part").save(table)
        session.sql(f"UPDATE delta.`{table}` SET id = id + 1 WHERE id > 5")
        session.sql(f"DELETE FROM delta.`{table}` WHERE id = 2")
        session.sql(f"MERGE INTO delta.`{table}` t USING (SELECT 3 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET part = 0")
        session.read.format("delta").load(table).filter("id > 3").toPandas()
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends with its input, and writes the archive before it does
    gateway.proc.wait()


if __name__ == "__main__":
    main()
