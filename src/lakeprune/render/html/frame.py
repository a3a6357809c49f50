"""What every page has in common: one self-contained file, no network, no external asset.

A Content-Security-Policy lets the browser run and apply nothing but the one script and the one style sheet that are part of the
page, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files as package_files

from lakeprune import __version__
from lakeprune.render.html.words import words


def page_top(title: str, header: str, links: Iterable[tuple[str, str]] = (), definitions: str = "") -> str:
    """Everything before the first section; `links` are identifiers and titles of the sections."""
    policy = (
        f"default-src 'none'; style-src '{_hash(_asset('page.css'))}'; script-src '{_hash(_asset('page.js'))}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    listed = "".join(f'<li><a href="#{identifier}">{name}</a></li>' for identifier, name in links)
    nav = f'<nav aria-label="Sections"><ul>{listed}</ul></nav>\n' if listed else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{words(title, 120)}: lakeprune report</title>\n<style>{_asset('page.css')}</style>\n</head>\n"
        f'<body>\n<a class="skip" href="#main">Skip to the report</a>{definitions}\n<header>{header}</header>\n'
        f'{nav}<main id="main">'
    )


def page_end(elapsed_ms: int, source: str) -> str:
    """What closes the page: how it was made, and the one script."""
    today = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    made = f"Made by lakeprune {__version__} on {today} in {elapsed_ms:,} ms from {source}."
    return f"\n</main>\n<footer><p>{made}</p></footer>\n<script>{_asset('page.js')}</script>\n</body>\n</html>\n"


def section(identifier: str, title: str, content: str) -> str:
    """One part of the page, with its heading."""
    heading = f'<h2 id="{identifier}-title">{title}</h2>'
    return f'\n<section id="{identifier}" aria-labelledby="{identifier}-title">{heading}{content}</section>'


def heading(about: str, title: str, quoted: str | None, label: str = "Predicate") -> str:
    """The head of a page: what it is about, its title, and the predicate or query under its label."""
    text = "" if quoted is None else f'<pre class="predicate" aria-label="{label}">{words(quoted, 2000)}</pre>'
    return f'<p class="eyebrow">lakeprune {about}</p><h1>{words(title, 300)}</h1>{text}'


def framed(name: str, outcome: str, *, is_good: bool) -> str:
    """An outcome in a frame, which a screen reader announces."""
    mark, style = ("✓", "pass") if is_good else ("✗ FAILED", "fail")
    return f'<p class="verdict {style}" role="status"><b>{mark}</b> {name}: {words(outcome)}</p>'


@cache
def _asset(name: str) -> str:
    return package_files("lakeprune.render.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
