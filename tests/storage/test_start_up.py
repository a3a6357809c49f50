"""A table of this machine pays nothing for object stores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from lakeprune.cli.main import main
assert main(["explain", sys.argv[1], "-w", "age > 40", "--option", "aws_region=eu-west-1"]) == 0
unwanted = {"obstore", "hashlib", "tempfile", "concurrent.futures", "threading", "configparser", "lakeprune.storage.fetch"}
print(sorted(unwanted & set(sys.modules)), file=sys.stderr)
"""


def test_a_local_table_imports_nothing_of_it(local_users: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", CODE, str(local_users)], capture_output=True, text=True, check=True)
    assert ran.stderr == "[]\n"
