"""`python -m tools.screenshot_report`: the pictures in docs/images again, from the demo's own table and predicate.

report.png is the first screen of the page, steps.png its plot after the first step of the evidence, in the dark. Needs a
Chromium on PATH (`make browser`).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

import lakeprune
from demo.run import PICTURED
from demo.tables import orders
from tools.repository import ROOT

FOLDER = ROOT / "docs" / "images"
SCREEN: ViewportSize = {"width": 1280, "height": 800}
MOST_BYTES = 200_000


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium on PATH: `make browser` installs it where apt-get can", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--disable-lcd-text"])
        report = _written(Path(folder))
        sizes = []
        for name, scheme in (("report.png", "light"), ("steps.png", "dark")):
            page = browser.new_page(viewport=SCREEN, color_scheme="dark" if scheme == "dark" else "light")
            page.goto(report.as_uri())
            if name == "steps.png":
                page.locator('.steps [data-step="1"]').click()
                page.mouse.move(0, 0)
                page.locator("#glance").screenshot(path=FOLDER / name)
            else:
                page.screenshot(path=FOLDER / name)
            sizes.append((FOLDER / name).stat().st_size)
            print(f"wrote docs/images/{name}, {sizes[-1]:,} bytes")
        browser.close()
    return 0 if max(sizes) < MOST_BYTES else 1


def _written(folder: Path) -> Path:
    """The page of the demo's last step."""
    table, page = orders(folder / "orders"), folder / "report.html"
    report = lakeprune.explain(table, PICTURED, explain_why=True)
    page.write_text(report.to_html().replace(str(table), "./orders"), encoding="utf-8")
    return page


if __name__ == "__main__":
    sys.exit(main())
