"""Every hostile predicate ends in an answer, an opaque clause or exit 2, within a ceiling of time and memory.

A share runs in `make test`, the whole table in `make conformance`. Each runs in a process of its own, which has limits.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.delta import add, metadata, statistics, write_log
from tests.scope import IS_WHOLE
from tests.soundness.hostile import PREDICATES
from tests.soundness.judging import MODERN

SHARE = (
    "regex on a constant", "regex on partition values", "like with many underscores", "replace inside replace",
    "repeat of a billion", "nested functions", "chain of constants", "exact terms", "huge exponent",
    "decimal of a million digits",
)  # fmt: skip
SECONDS = 120  # of processor time; on a quiet machine none takes 20
MEGABYTES = 1_500
_CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from lakeprune.cli.main import main
code = main(["explain", sys.argv[1], "--where", sys.stdin.read()])
sys.stdout.flush()
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
sys.stderr.write(f"\\npeak {{peak // 1024}}\\n")
sys.exit(code)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [
        add(f"f{n}", partition={"p": f"a{n}"}, stats=statistics(3, x=(n, n + 5, 0), s=(f"t{n}", f"t{n + 3}", 0)))
        for n in range(20)
    ]
    head = [MODERN, metadata({"x": "integer", "s": "string", "p": "string"}, ["p"])]
    return write_log(tmp_path_factory.mktemp("hostile") / "table", [[*head, *files]])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = {f"c{n}": "integer" for n in range(50_000)}
    bounds = dict.fromkeys(list(columns)[:2000], (1, 9, 0))
    head = [MODERN, metadata(columns)]
    files = [add(f"f{n}", stats=statistics(3, **bounds)) for n in range(3)]
    return write_log(tmp_path_factory.mktemp("hostile") / "wide", [[*head, *files]])


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process as Linux has them")
@pytest.mark.parametrize("name", [name for name in PREDICATES if IS_WHOLE or name in SHARE])
def test_a_hostile_predicate_ends(table: Path, name: str) -> None:
    ends(table, PREDICATES[name]())


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process as Linux has them")
@pytest.mark.parametrize("word", ["AND", "OR"])
def test_a_predicate_over_2000_columns_of_a_wide_table_ends(wide: Path, word: str) -> None:
    out = ends(wide, f" {word} ".join(f"c{n} > 3" for n in range(2000)))
    assert "[PREDICATE_TOO_LARGE] with this clause the predicate has" in out


def ends(table: Path, where: str) -> str:
    """What `explain` prints about the predicate, after all ceilings were kept."""
    child = [sys.executable, "-c", _CHILD.format(seconds=SECONDS), str(table)]
    ran = subprocess.run(child, input=where, capture_output=True, text=True, timeout=SECONDS * 10, check=False)
    assert ran.returncode in (0, 2), ran.stderr[-1000:]
    assert "Traceback" not in ran.stderr
    assert int(ran.stderr.rsplit("peak", 1)[1]) < MEGABYTES
    return ran.stdout
