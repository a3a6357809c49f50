"""The sharing server under load: 50 clients for a minute on a table of 10,000 files.

`lakeprune serve` is a process of its own; clients are threads that keep their connections. Of ten requests eight are queries with
a hint that leaves few files, one is a whole listing, one the metadata. `python -m bench.sharing sharing FOLDER` writes the table,
with SECONDS behind it measures by itself.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from bench.goals import Goal
from demo.delta_log import add, metadata, protocol, statistics, write_log

FILES, COMMITS, CLIENTS, SECONDS = 10_000, 100, 50, 60
GROWTH = 1.2  # of the peak above idle and one page
TABLES = "/delta-sharing/shares/bench/schemas/default/tables/"


class Load(Struct, frozen=True):
    """What was measured; times in seconds, memory in bytes."""

    requests: int
    failures: int
    seconds: float
    p50: float
    p99: float
    idle: int
    page: int
    peak: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def write_table(root: Path) -> None:
    """Thirty days, one range of ids per file."""
    root.mkdir(parents=True)
    each = FILES // COMMITS
    commits = [[protocol(), metadata({"id": "long", "day": "string"}, ["day"])]]
    commits += [[_add(number) for number in range(first, first + each)] for first in range(0, FILES, each)]
    write_log(root, commits)


def _add(number: int) -> dict[str, object]:
    day, first = f"{number % 30:02}", number * 1000
    return add(f"day={day}/part-{number:06}.parquet", statistics(1000, id=(first, first + 999, 0)), partition={"day": day})


def measure(ensure: Callable[[str], Path], say: Callable[[str], None], seconds: float = SECONDS) -> Load:
    table = ensure("sharing")
    say("sharing")
    command = [sys.executable, "-m", "lakeprune", "serve", "--share", f"bench={table}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None, "it is a pipe"
            text = ""
            while not text.endswith("}\n"):
                text += server.stdout.readline()
            return _loaded(server.pid, json.loads(text), TABLES + table.name, seconds)
        finally:
            server.terminate()


def _loaded(pid: int, profile: dict[str, str], table: str, seconds: float) -> Load:
    port, token = int(profile["endpoint"].split(":")[2].split("/")[0]), profile["bearerToken"]
    client = _Client(port, token, table, 0)
    while True:
        try:
            page = len(client.ask(b"{}"))
            break
        except ConnectionError:
            client.close()
            time.sleep(0.1)
    idle = _memory(pid, "VmRSS")
    end = time.monotonic() + seconds
    clients = [_Client(port, token, table, number) for number in range(CLIENTS)]
    threads = [threading.Thread(target=each.run, args=(end,)) for each in clients]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(taken for each in clients for taken in each.times)
    failures = sum(each.failures for each in clients)
    p50, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.99))
    return Load(len(times), failures, time.monotonic() - started, p50, p99, idle, page, _memory(pid, "VmHWM"))


class _Client:
    def __init__(self, port: int, token: str, table: str, seed: int) -> None:
        self._table = table
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._choice = random.Random(seed)  # noqa: S311  # the same requests every time
        self.times: list[float] = []
        self.failures = 0

    def run(self, end: float) -> None:
        while time.monotonic() < end:
            kind, started = self._choice.randrange(10), time.monotonic()
            try:
                if kind == 0:
                    self.ask(None, "GET", "/metadata")
                elif kind == 1:
                    self.ask(b"{}")
                else:
                    hint = f"id BETWEEN {(first := self._choice.randrange(FILES * 1000))} AND {first + 5000}"
                    self.ask(json.dumps({"predicateHints": [hint]}).encode())
                self.times.append(time.monotonic() - started)
            except (OSError, AssertionError, http.client.HTTPException):
                self.failures += 1
                self.close()
        self.close()

    def ask(self, body: bytes | None, method: str = "POST", path: str = "/query") -> bytes:
        self._connection.request(method, self._table + path, body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return content

    def close(self) -> None:
        self._connection.close()


def _memory(pid: int, what: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the system does not tell {what}")


def goals(load: Load) -> list[Goal]:
    most = GROWTH * (load.idle + load.page)
    words = f"serve, {CLIENTS} clients: memory stays within 20 % of idle and one page ({(load.idle + load.page) / 1e6:.0f} MB)"
    return [
        Goal(words, f"{load.peak / 1e6:.0f} MB", load.peak <= most),
        Goal(f"serve, {CLIENTS} clients: no request fails", f"{load.failures} of {load.requests}", load.failures == 0),
    ]


def lines(load: Load) -> list[str]:
    """A part of docs/benchmarks.md."""
    numbers = [f"{load.rate:.0f}", *(f"{each * 1000:.0f} ms" for each in (load.p50, load.p99))]
    numbers += [f"{each / 1e6:.0f} MB" for each in (load.idle, load.peak)]
    what = f"{CLIENTS} clients for {load.seconds:.0f} s, {FILES:,} files in {COMMITS} commits, over loopback: eight of ten"
    return [
        "## The sharing server",
        "",
        f"{what} requests are queries with a hint, one lists every file, one asks for metadata.",
        "",
        "| requests per second | p50 | p99 | memory idle | peak |",
        "|---:|---:|---:|---:|---:|",
        f"| {' | '.join(numbers)} |",
    ]


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    if not folder.exists():
        write_table(folder)
    if len(sys.argv) > 3:
        found = measure(lambda _: folder, print, float(sys.argv[3]))
        print("\n".join(lines(found)))
        print(found)
        for goal in goals(found):
            print(goal)
