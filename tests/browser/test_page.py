"""The HTML report in a real browser: it renders in silence, says what the JSON says, and is usable by anyone on any screen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from lakeprune.report.model import Report
from tests.browser.conftest import Visit
from tests.browser.pages import ATTACK, PAGES, USERS

Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Report, Path]]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, build in PAGES.items():
        report = build(folder)
        path = folder / f"{name}.html"
        path.write_text(report.to_html(), encoding="utf-8")
        made[name] = (report, path)
    return made


@pytest.fixture
def visit(browser: Browser, reports: dict[str, tuple[Report, Path]]) -> Open:
    return lambda name, **options: Visit(browser, reports[name][1], **options)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_renders_without_complaint_and_asks_for_nothing(name: str, visit: Open) -> None:
    with visit(name) as seen:
        assert seen.page.locator("h1").count() == 1
        seen.page.locator("summary").evaluate_all("found => found.forEach(s => s.click())")
        assert seen.complaints == []
        assert seen.requests == [seen.address]


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_the_page_without_scrolling_sideways(name: str, visit: Open) -> None:
    with visit(name, width=360) as seen:
        seen.page.locator("summary").evaluate_all("found => found.forEach(s => s.click())")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", ["users", "many", "hostile", "levels"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_stands_out_from_its_ground(name: str, scheme: str, visit: Open) -> None:
    with visit(name, scheme=scheme) as seen:
        pale = seen.page.evaluate((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8"))
        assert pale == []


def test_the_pyramid_shows_every_level_with_the_numbers_of_the_summary(
    visit: Open, reports: dict[str, tuple[Report, Path]]
) -> None:
    reported: dict[str, Any] = reports["levels"][0].to_dict()
    summary, groups = reported["summary"], reported["row_groups"]
    shown = {level: [summary[f"{level}_kept"], summary[f"{level}_total"]] for level in ("manifests", "files", "row_groups")}
    shown["column_chunks"] = [groups["needed_bytes_kept"], groups["needed_bytes_total"]]
    assert shown["manifests"] == shown["files"] == [1, 3]
    assert shown["row_groups"] == [1, 10]
    with visit("levels") as seen:
        found = seen.page.locator(".pyramid li").evaluate_all("rows => rows.map(row => row.dataset.level)")
        assert found == list(shown)
        assert {level: seen.values(f'[data-level="{level}"]') for level in found} == shown
        boxes = seen.page.locator(".pyramid .track").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().width)")
        assert all(above < below for above, below in pairwise(boxes))
        left, whole = (
            seen.page.locator(f'[data-level="files"] .{part}').evaluate("bar => bar.getBoundingClientRect().width")
            for part in ("out", "track")
        )
        assert abs(left / whole - 1 / 3) < 0.01
        assert "Column chunks of id, name" in seen.page.locator("#levels").inner_text()
    with visit("users") as seen:
        assert seen.page.locator("#levels").count() == 0


def test_dark_and_light_differ(visit: Open) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with visit("users", scheme=scheme) as seen:
            colours.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1]


@pytest.mark.parametrize("name", ["users", "many", "no_statistics"])
def test_the_numbers_are_those_of_the_json_document(name: str, visit: Open, reports: dict[str, tuple[Report, Path]]) -> None:
    reported: dict[str, Any] = reports[name][0].to_dict(verbose=True)
    with visit(name) as seen:
        for measure in ("files", "bytes", "rows"):
            expected = [reported[f"total_{measure}"], *(phase[f"output_{measure}"] for phase in reported["phases"])]
            assert seen.values(f'[data-measure="{measure}"]') == expected
        kept, total = ([reported[f"{which}_{unit}"] for unit in ("files", "bytes", "rows")] for which in ("final", "total"))
        assert seen.values(".answer") == [number for pair in zip(kept, total, strict=True) for number in pair]
        for index, clause in enumerate(reported["clauses"], 1):
            drops = [clause[f"dropped_{how}"]["files"] for how in ("any", "first", "alone")]
            keeps = ("overlap", "missing_statistic", "nan_possible", "not_decidable", "all_rows_match")
            left = [count for how in keeps if (count := clause[f"kept_{how}"]["files"])]
            assert seen.values(f"#clause-{index}") == drops + left
        rows = seen.page.locator("#file-table tbody tr").evaluate_all(
            "rows => rows.map(({cells: [verdict, file, size]}) =>"
            " [file.querySelector('code').innerText, verdict.innerText, size.querySelector('data').value])"
        )
        largest = sorted(reported["files"], key=lambda file: (-file["size_bytes"], file["path"]))[:1000]
        assert rows == [[file["path"], file["verdict"], str(file["size_bytes"])] for file in largest]


def test_the_marks_are_the_files(visit: Open) -> None:
    with visit("users") as seen:
        strips = seen.page.locator(".strip")
        assert strips.locator("h3 code").all_inner_texts() == ["age", "country"]
        expected = ({"drop": 1, "by-partition": 4, "keep": 1}, {"by-another": 1, "by-partition": 4, "keep": 1})
        for index, counts in enumerate(expected):
            classes = strips.nth(index).locator(".plot path").evaluate_all("found => found.map(p => p.className.baseVal)")
            assert Counter(classes) == counts
        assert "40 to 60, kept" in (strips.nth(0).locator("path.keep title").text_content() or "")
        assert strips.nth(0).locator("rect.range").count() == 1


def test_a_bar_leads_to_its_file_whatever_was_searched_for(visit: Open) -> None:
    with visit("users") as seen:
        seen.page.fill("#find", "nowhere")
        seen.page.locator(".lead a:has(path.keep)").click()
        row = seen.page.locator("#file-table tr:target")
        assert row.locator("b").inner_text() == "KEEP"
        assert row.is_visible()
        links = seen.page.locator(".plot a").evaluate_all("found => found.map(a => a.href.baseVal)")
        assert len(links) == 12
        assert all(seen.page.locator(f"tr{link}").count() == 1 for link in links)


@pytest.mark.parametrize("name", ["why", "many"])
def test_the_first_screen_has_the_answer_the_gates_the_first_diagnosis_and_the_plot(name: str, visit: Open) -> None:
    """At 1,280 x 800; thirteen lanes are the most there are."""
    with visit(name, width=1280, height=800) as seen:
        parts = [".answer", "svg.plot >> nth=0", ".steps .play"]
        if name == "why":
            parts += [".gate-state", "article.diagnosis >> nth=0", ".copy >> nth=0"]
            assert seen.page.locator(".answer strong").all_inner_texts() == ["3", "6"]  # what metadata allows, what Spark reads
        for part in parts:
            box = seen.page.locator(part).bounding_box()
            assert box is not None, part
            assert box["y"] + box["height"] <= 800, (part, box)


def test_the_plot_on_the_first_screen_is_that_of_the_column_that_matters_most(visit: Open) -> None:
    for name, column in (("why", "age"), ("many", "id"), ("users", "age")):
        with visit(name) as seen:
            assert seen.page.locator(".lead h3 code").inner_text() == column


def test_one_funnel_counts_what_the_switch_says(visit: Open) -> None:
    with visit("users") as seen:
        shown = seen.page.locator(".measure:visible")
        assert shown.evaluate_all("found => found.map(m => m.dataset.measure)") == ["files"]
        seen.page.get_by_label("Bytes", exact=True).check()
        assert shown.evaluate_all("found => found.map(m => m.dataset.measure)") == ["bytes"]
        seen.page.keyboard.press("ArrowRight")
        assert shown.evaluate_all("found => found.map(m => m.dataset.measure)") == ["rows"]


def test_the_steps_play_the_attribution_rung_by_rung(visit: Open) -> None:
    with visit("users", motion="reduce") as seen:
        colour = "found => new Set(found.map(p => getComputedStyle(p).fill + getComputedStyle(p).stroke)).size"
        paths, caption = seen.page.locator(".lead .plot path"), seen.page.locator(".caption")
        rungs = seen.page.locator(".steps [data-step]")
        assert rungs.all_inner_texts() == ["All files 6", "Partition values 2", "Statistics 1"]
        assert "Statistics drop 1 file by age > 40; 1 left." in caption.inner_text()
        assert paths.evaluate_all(colour) == 3
        play = seen.page.locator(".play")
        for sentence, colours in (("6 files of the table", 1), ("Partition values drop 4 files", 2), ("Statistics drop 1", 3)):
            play.press("Enter")
            assert sentence in caption.inner_text()
            assert paths.evaluate_all(colour) == colours
        rungs.first.click()
        assert [rung.get_attribute("aria-pressed") for rung in rungs.all()] == ["true", "false", "false"]
        assert paths.evaluate_all(colour) == 1
    with visit("users") as seen:
        seen.page.locator(".play").click()
        seen.page.wait_for_selector('.steps [data-step="2"][aria-pressed="true"]')  # it plays to the end by itself


def test_a_rewrite_is_copied(visit: Open) -> None:
    with visit("why") as seen:
        seen.page.locator(".copy").first.click()
        seen.page.wait_for_selector(".copy:has-text('Copied')")
        seen.page.fill("#find", "")
        seen.page.focus("#find")
        seen.page.keyboard.press("Control+V")
        assert "age >= 41" in seen.page.input_value("#find")


def test_the_page_says_when_the_version_was_written_and_when_it_was_made(visit: Open) -> None:
    with visit("users") as seen:
        assert re.search(r"written \d{4}-\d\d-\d\d \d\d:\d\d UTC", seen.page.locator(".eyebrow").inner_text())
        assert re.search(r"on \d{4}-\d\d-\d\d \d\d:\d\d UTC", seen.page.locator("footer").inner_text())


def test_verdicts_differ_without_colour(visit: Open) -> None:
    with visit("users") as seen:
        drawn = "found => found.map(f => [f.className.baseVal, ...['fill', 'strokeDasharray'].map(k => getComputedStyle(f)[k])])"
        marks = {name: how for name, *how in seen.page.locator(".legend rect").evaluate_all(drawn)}
        assert marks["by-partition"][0] == marks["drop"][0] == marks["by-another"][0] == "none"  # hollow: dropped
        assert marks["by-another"][1] != "none"  # dashed
        assert marks["keep"][0] != "none"
    with visit("why") as seen:
        assert "hatch" in seen.page.locator(".legend rect.full").first.evaluate("f => getComputedStyle(f).fill")
    with visit("users") as seen:
        assert seen.page.locator("#file-table tbody td:first-child").all_inner_texts().count("DROP") == 5


def test_search_finds_files_by_all_of_its_words(visit: Open) -> None:
    with visit("users") as seen:
        rows = seen.page.locator("#file-table tbody tr:visible")
        assert (rows.count(), seen.page.locator("#found").inner_text()) == (6, "6 of 6")
        seen.page.fill("#find", "country=de")
        assert (rows.count(), seen.page.locator("#found").inner_text()) == (2, "2 of 6")
        seen.page.fill("#find", "keep DE")
        assert rows.count() == 1
        seen.page.fill("#find", "nowhere")
        assert rows.count() == 0
        assert seen.page.locator("#none").is_visible()
        seen.page.press("#find", "Escape")
        assert rows.count() == 6
        assert not seen.page.locator("#none").is_visible()
        seen.page.press("#find", "Enter")  # a form would reload the page
        assert seen.requests == [seen.address]


def test_the_page_is_used_by_keyboard(visit: Open) -> None:
    with visit("users") as seen:
        focused = "document.activeElement.id || document.activeElement.innerText"
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate(focused) == "Skip to the report"
        seen.page.keyboard.press("/")
        assert seen.page.evaluate(focused) == "find"
        seen.page.keyboard.type("a/b")
        assert seen.page.input_value("#find") == "a/b"
        seen.page.keyboard.press("Escape")
        for _ in range(2):  # past the frame that scrolls, to the first head
            seen.page.keyboard.press("Tab")
        assert seen.page.evaluate(focused) == "Verdict"
        seen.page.keyboard.press("Enter")
        verdicts = seen.page.locator("#file-table tbody td:first-child").all_inner_texts()
        assert verdicts == sorted(verdicts)
        assert seen.page.locator("#file-table th").first.get_attribute("aria-sort") == "ascending"


def test_sorting_by_bytes_is_by_number(visit: Open) -> None:
    with visit("many") as seen:
        seen.page.get_by_role("button", name="Bytes").press("Enter")
        sizes = seen.page.locator("#file-table tbody td:nth-child(3) data").evaluate_all(
            "found => found.map(d => Number(d.value))"
        )
        assert sizes == sorted(sizes)
        assert len(sizes) == 1000


def test_markup_in_names_and_predicates_is_only_text(visit: Open) -> None:
    with visit("hostile") as seen:
        assert seen.page.evaluate("window.broken") is None
        assert seen.page.locator("img").count() == 0
        assert ATTACK in seen.page.locator(".predicate").inner_text()
        assert ATTACK in seen.page.locator("#file-table tbody").inner_text()
        assert ATTACK in seen.page.locator(".diagnosis").inner_text()
        assert sorted([ATTACK, f"p{ATTACK}", "x"]) == sorted(seen.page.locator(".strip h3 code").all_inner_texts())


def test_a_policy_forbids_what_an_overlooked_name_could_smuggle_in(visit: Open) -> None:
    with visit("users") as seen:
        seen.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken=1\">')")
        seen.page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.broken=1'}))"
        )
        seen.page.wait_for_timeout(50)
        assert seen.page.evaluate("window.broken") is None
        assert any("Content Security Policy" in complaint for complaint in seen.complaints)


@pytest.mark.parametrize("name", PAGES)
def test_the_structure_is_there_for_those_who_listen(name: str, visit: Open) -> None:
    with visit(name) as seen:
        assert [seen.page.locator(mark).count() for mark in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
        levels = seen.page.locator("h1, h2, h3").evaluate_all("found => found.map(h => Number(h.tagName[1]))")
        assert all(after <= before + 1 for before, after in pairwise(levels))
        identifiers = seen.page.locator("[id]").evaluate_all("found => found.map(e => e.id)")
        assert len(identifiers) == len(set(identifiers))
        for link in seen.page.locator("nav a").evaluate_all("found => found.map(a => a.hash.slice(1))"):
            assert link in identifiers
        assert seen.page.locator("th:not([scope]), svg:not([role]):not([aria-hidden]):not(.plot svg)").count() == 0
        assert seen.page.locator("input").evaluate_all("found => found.filter(i => !i.labels.length).length") == 0
        assert seen.page.get_by_label("Search", exact=True).count() == (0 if name == "nothing" else 1)
        assert all(seen.page.locator("svg.plot").evaluate_all("found => found.map(s => s.getAttribute('aria-label'))"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "The table has no files"),
        ("no_predicate", "No predicate was given, so every file would be read"),
        ("no_statistics", "x: no file has a minimum or maximum of it"),
    ],
)
def test_what_is_not_there_is_said(name: str, words: str, visit: Open) -> None:
    with visit(name) as seen:
        assert words in seen.page.locator("main").inner_text()


def test_the_notebook_form_needs_nothing_but_itself(browser: Browser, reports: dict[str, tuple[Report, Path]]) -> None:
    page = browser.new_page()
    for name, (report, _) in reports.items():
        page.set_content(report._repr_html_())
        assert page.locator(".lakeprune").count() == 1, name
        assert page.evaluate("window.broken") is None
        assert page.locator("img, script").count() == 0
    page.close()
    assert USERS in reports["users"][0]._repr_html_().replace("&#x27;", "'").replace("&gt;", ">")
