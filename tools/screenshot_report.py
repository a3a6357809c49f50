"""`python -m tools.screenshot_report`: the pictures in docs/images again, from the demo's own table and predicate.

report.png is the head of the page down to the diagnoses, ranges.png the strip plots down to the date column. Needs a Chromium on
PATH (`make browser`).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

import lakeprune
from demo.run import PICTURED
from demo.tables import orders
from tools.repository import ROOT

FOLDER = ROOT / "docs" / "images"
WIDTH = 880
MOST_BYTES = 200_000


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium on PATH: `make browser` installs it where apt-get can", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--disable-lcd-text"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        page.goto(_written(Path(folder)).as_uri())
        dates = page.locator(".strip", has_text="ordered_on").locator("svg.plot")
        sizes = [
            _picture(page, "report.png", page.locator("header"), page.locator("#diagnoses")),
            _picture(page, "ranges.png", page.locator("#ranges"), dates),
        ]
        browser.close()
    return 0 if max(sizes) < MOST_BYTES else 1


def _written(folder: Path) -> Path:
    """The page of the demo's last step."""
    table, page = orders(folder / "orders"), folder / "report.html"
    report = lakeprune.explain(table, PICTURED, explain_why=True)
    page.write_text(report.to_html().replace(str(table), "./orders"), encoding="utf-8")
    return page


def _picture(page: Page, name: str, first: Locator, last: Locator) -> int:
    """The page from the top of one element to the bottom of another; the size of the file."""
    top, bottom = first.bounding_box(), last.bounding_box()
    assert top is not None, f"{name}: where it begins is not on the page"
    assert bottom is not None, f"{name}: where it ends is not on the page"
    height = bottom["y"] + bottom["height"] - top["y"] + 12
    path = FOLDER / name
    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": top["y"], "width": WIDTH, "height": height})
    print(f"wrote {path.relative_to(ROOT)}, {path.stat().st_size // 1000} KB")
    return path.stat().st_size


if __name__ == "__main__":
    sys.exit(main())
