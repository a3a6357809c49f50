"""A real Chromium, driven through its own protocol: the one on the machine, never a downloaded one.

`make test` installs Debian's package where it can; where there is none, these tests skip and say why.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium on PATH: `make browser` installs it where apt-get can")
    with sync_playwright() as driver:
        # Shared memory is small in containers; a page that outgrows it would crash for no fault of its own.
        chromium = driver.chromium.launch(executable_path=path, args=["--disable-dev-shm-usage"])
        yield chromium
        chromium.close()


class Visit:
    """An opened page and everything it asked for or complained about."""

    def __init__(
        self, browser: Browser, path: Path, *, width: int = 1100, height: int = 900, scheme: str = "light", motion: str = ""
    ) -> None:
        self.page: Page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce" if motion == "reduce" else "no-preference",
        )
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.absolute().as_uri()
        self.page.goto(self.address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.page.close()

    def values(self, selector: str) -> list[int]:
        """The exact values of the numbers in these elements."""
        return [int(text) for text in self.page.locator(f"{selector} data").evaluate_all("found => found.map(d => d.value)")]
