"""Spark in processes of its own: a standalone cluster on loopback, and a Spark Connect server."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
_PATIENCE = 120.0  # seconds for a process to answer


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """A master and its workers; their logs and work stay in the folder."""
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as stack:
        command = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        stack.enter_context(_running(["spark-class", *command], folder / "master.log"))
        _wait_for(port)
        for number in range(workers):
            place = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            work = ["--work-dir", str(folder / f"work{number}"), master]
            command = ["spark-class", f"{deploy}.worker.Worker", *place, *work]
            stack.enter_context(_running(command, folder / f"worker{number}.log"))
        yield master


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server with Delta, which other processes reach at the address it gives."""
    port = _free_port()
    command = ["spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"]
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.jars.packages": DELTA,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    with _running([*command, "spark-internal"], folder / "connect.log"):
        _wait_for(port)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("wb") as output:
        start = [str(SPARK_HOME / "bin" / command[0]), *command[1:]]
        process = subprocess.Popen(start, stdout=output, stderr=output, env=environment, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, 9)
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")
