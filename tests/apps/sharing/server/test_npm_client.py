"""The REST part of the npm client, which gives up after two seconds, reads our lists, metadata and files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.apps.sharing.server.clients import npm_client
from tests.apps.sharing.server.served import Served
from tests.apps.sharing.server.shared_tables import DATES, TABLES


def test_the_npm_client_reads_what_is_shared(served: Served, tmp_path: Path) -> None:
    node, package = npm_client()
    profile = tmp_path / "p.share"
    profile.write_text(served.profile(), encoding="utf-8")
    script = Path(__file__).with_name("client_rest.js")
    done = subprocess.run([node, script, package, profile], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    files = found.pop("files")
    assert found == {
        "shares": ["share1"],
        "schemas": ["s"],
        "tables": sorted(TABLES),
        "all": len(TABLES),
        "partitions": ["d"],
        "reader": 1,
        "refused": 404,
    }
    # It sends its hints inside of `params`, where the protocol has none: nothing is pruned, and nothing is lost.
    assert [values["d"] for values, _, _ in files] == list(DATES)
    for _, size, url in files:
        assert len(served.fetch(url).body) == size
