"""What `make test` runs a share of, `make conformance` runs whole."""

from __future__ import annotations

import re

from tools.repository import ROOT

_RECIPE = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nconformance: ")[2].partition("\n\n")[0]
_SHARED = re.compile(r"^from tests\.scope import", re.MULTILINE)


def test_every_test_with_a_share_is_run_whole() -> None:
    folders = [ROOT / name for name in re.findall(r"(?<=[ ])tests[\w/]*", _RECIPE)]
    with_share = [path for path in (ROOT / "tests").rglob("test_*.py") if _SHARED.search(path.read_text(encoding="utf-8"))]
    assert len(with_share) > 20
    assert [path.name for path in with_share if not any(path.is_relative_to(folder) for folder in folders)] == []
