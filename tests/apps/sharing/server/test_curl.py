"""Every endpoint as curl shows it: status, headers and bytes, against answers that are written down beside this file.

What differs from run to run is replaced by a word: ids of requests, times, tokens, and signed URLs, of which the path is shown.
The answers were compared with the text of the protocol when they were written down; a change has to be, too.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.delta_log import add, commit_info, deletion_vector, metadata, protocol, remove, statistics, write_log
from tests.apps.sharing.server.served import DELTA, Served, serving

GOLDEN = Path(__file__).with_name("curl.txt")
_FILE = re.compile(r"http://127\.0\.0\.1:\d+/delta-sharing/files/([\w-]+)\?sp=r&se=\d+&kid=\w+&sig=[0-9a-f]{64}")
_WORDS = (
    (re.compile(r'"details":"[0-9a-f]{16}"'), '"details":"ID"'),
    (re.compile(r'("expirationTimestamp"|"minUrlExpirationTimestamp"):\d{13}'), r"\1:EXPIRES"),
    (re.compile(r'"(refreshToken|nextPageToken)":"[\w.-]+"'), r'"\1":"SEALED"'),
    (re.compile(r'"timestamp":\d{13}'), '"timestamp":WRITTEN'),  # when the file of the commit was
    (re.compile(r"(?m)^date: .*\n"), ""),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two versions of a table with a change data feed, and one with a deletion vector; without data files."""
    root = tmp_path_factory.mktemp("curl")
    sales = [
        [
            protocol(),
            metadata({"id": "integer", "day": "date"}, ["day"], {"delta.enableChangeDataFeed": "true"}),
            add("day=2021-04-28/a.parquet", statistics(10, id=(0, 9, 0)), partition={"day": "2021-04-28"}),
            add("day=2021-04-29/b%20c.parquet", statistics(10, id=(10, 19, 0)), partition={"day": "2021-04-29"}),
            commit_info(),
        ],
        [
            remove("day=2021-04-28/a.parquet", size=1000, partitionValues={"day": "2021-04-28"}),
            add("nulls.parquet", partition={"day": None}),
            commit_info(),
        ],
    ]
    features = ["deletionVectors"]
    vectors = [
        [
            protocol(3, 7, readerFeatures=features, writerFeatures=features),
            metadata({"id": "integer"}, (), {"delta.enableDeletionVectors": "true", "delta.appendOnly": "false"}),
            add("d.parquet", statistics(10, id=(0, 9, 0)), dv=deletion_vector(2)),
        ]
    ]
    tables = {"sales": write_log(root / "sales", sales), "dv": write_log(root / "dv", vectors)}
    with serving(tables) as running:
        yield running


def shown(answer: str) -> str:
    """What curl wrote, without what is of this run alone."""

    def url(found: re.Match[str]) -> str:
        inside = json.loads(urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4)))
        return f"URL({inside[4]})"

    text = _FILE.sub(url, answer.replace("\r\n", "\n"))
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text


def sections() -> dict[str, str]:
    parts = re.split(r"(?m)^\$ curl (.*)\n", GOLDEN.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def asked(served: Served, arguments: str) -> str:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("there is no curl")
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", arguments.replace("DELTA", DELTA))]
    given = [served.endpoint + word if word.startswith("/") else word for word in words]
    login = ["-H", f"Authorization: Bearer {served.tokens['reader']}"]
    done = subprocess.run([curl, "-s", "-i", *login, *given], capture_output=True, check=True, timeout=60)
    return shown(done.stdout.decode())


@pytest.mark.parametrize("arguments", list(sections()))
def test_curl_gets_what_is_written_down(told: Served, arguments: str) -> None:
    assert asked(told, arguments).rstrip("\n") == sections()[arguments].rstrip("\n")


def test_every_route_is_asked_for() -> None:
    from lakeprune.apps.sharing.server.app import ROUTES

    patterns = {path: re.compile(re.sub(r"\{\w+\}", r"[\\w]+", path)) for _, path, _ in ROUTES}
    paths = [word.strip("'").partition("?")[0] for each in sections() for word in each.split() if word.strip("'").startswith("/")]
    assert {path for path, pattern in patterns.items() if not any(pattern.fullmatch(each) for each in paths)} == set()
