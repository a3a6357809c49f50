"""The HTML page as text: small, self-contained, escaped, and made only when asked for."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from lakeprune.cli.main import main
from lakeprune.render.html.page import MOST_BYTES
from lakeprune.report.model import Diagnosis, Severity
from lakeprune.values.types import INT, STRING
from tests.builders import delta
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File, RowsSnapshot

WHERE = "country = 'DE' AND age > 40"
VOID = {"meta", "link", "input"}
OPTIONAL_END = {"tr", "td"}


class Outline(HTMLParser):
    """Tags and attributes as a browser's parser sees them, with the open elements checked."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID | OPTIONAL_END:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in OPTIONAL_END:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def test_the_page_is_well_formed_and_refers_to_nothing_outside_itself() -> None:
    page = report_on(snapshot(*USERS), WHERE).to_html()
    found = outline(page)
    for tag, attributes in found.tags:
        assert not {"src", "style", "action", "onclick", "onload"} & attributes.keys(), tag
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page


def test_the_policy_allows_one_script_and_one_style_by_hash() -> None:
    page = report_on(snapshot(*USERS), WHERE).to_html()
    (policy,) = [a["content"] for t, a in outline(page).tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert len(re.findall(r"'sha256-[\w+/]{43}='", policy)) == 2


@pytest.mark.parametrize("text", ["<img src=x>", "</script>", "]]>", "a\x00b", "\x1b[31m", "\u202egnp", "&lt;", "'\"`"])
def test_names_of_every_kind_stay_text(text: str) -> None:
    pages = []
    for name in ("plain", text):
        file = File(f"{name}.parquet", partition={"country": name}, stats={"name": (name, None, 0)})
        pages.append(report_on(snapshot(file), "name > ''").to_html())
    plain, odd = ([tag for tag, _ in outline(page).tags] for page in pages)
    assert plain == odd
    assert not set(pages[1]) & set("\x00\x1b\u202e")


def test_a_path_that_is_not_unicode_can_be_written() -> None:
    assert r"a\udcff" in replace(report_on(snapshot(*USERS), WHERE), table="a\udcff").to_html().encode().decode()


def test_the_page_is_small_even_when_everything_is_long() -> None:
    long = '"&<' * 300
    columns = {f"{n}{long}": INT for n in range(20)} | {"p": STRING}
    bounds = {name: (n, n + 10, 0) for n, name in enumerate(columns) if name != "p"}
    files = [File(f"{n}{long}", 1000 + n, partition={"p": f"{long}{n % 700}"}, stats=bounds) for n in range(1500)]
    where = " AND ".join(f"`{name}` < {n + 5}" for n, name in enumerate(list(columns)[:20]))
    page = report_on(RowsSnapshot(columns, files, partition_by=["p"]), f"{where} AND p != '{long}'").to_html()
    assert len(page.encode()) < MOST_BYTES
    assert re.search(r"the [\d,]+ largest of 1,500 files", page)


def test_a_report_reads_nothing_more_until_it_is_asked_for_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    table = snapshot(*USERS)
    report = report_on(table, WHERE)
    monkeypatch.setattr(type(table), "relation", lambda *_: pytest.fail("the metadata was read again"))
    assert "Reads" in report._repr_html_()
    assert report.to_json()
    assert report.to_text()


def test_diagnoses_are_shown_when_somebody_asked_why() -> None:
    report = report_on(snapshot(*USERS), WHERE)
    assert 'id="diagnoses"' not in report.to_html()
    assert "Nothing to say" in replace(report, diagnoses=()).to_html()
    rewrite = "OPTIMIZE t ZORDER BY (age)"
    found = Diagnosis("WEAK", Severity.WARNING, "age > 40", "age", "3 of 6", {"files": 3}, "sort it", rewrite)
    page = replace(report, diagnoses=(found,)).to_html()
    assert all(part in page for part in ("WEAK", "warning", "age &gt; 40", "3 of 6", "sort it", rewrite))


def test_the_command_writes_the_page_to_stdout_or_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, target = str(delta.users(tmp_path / "users")), tmp_path / "report.html"
    assert main(["explain", table, "-w", WHERE, "--format", "html"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("<!doctype html>")
    assert shown.endswith("</html>\n")
    assert main(["explain", table, "-w", WHERE, "--format", "html", "--output", str(target), "--min-pruning", "90"]) == 1
    assert capsys.readouterr().out == ""
    assert "min_pruning" in target.read_text(encoding="utf-8")
