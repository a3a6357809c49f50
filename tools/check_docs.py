"""The docs keep step with the code: every reason, error code, command and flag has its entry, and nothing else has one.

Also what must not be in a public repository: dead links, paths of somebody's machine, package registries, junk-drawer modules.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tools.markdown import dead_links, headings, pages_nobody_links_to
from tools.repository import ROOT, conclude, repository_files

ERROR_CODE = re.compile(r"\bLP\d{3}\b")
TRAP = re.compile(r"\bT\d{1,2}\b")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc"}
# Written with character classes where it must not report itself.
MACHINE_PATH = re.compile(r"(?<![\w.\-*])/(?:work|root|tmp|home/\w+|Users/\w+)(?:/|\b(?![\w-]))")
REGISTRY = re.compile(r"--(?:extra-)?index[-]url|pypi[.]org|python[h]osted|artifact[o]ry|repo1[.]maven", re.IGNORECASE)


def problems(root: Path) -> Iterator[str]:
    """Everything that is out of step, one line each."""
    files = repository_files(root)
    yield from undocumented_reasons(root, files)
    yield from undocumented_diagnoses(root, files)
    yield from undocumented_errors(root, files)
    yield from undocumented_commands(root)
    yield from outdated_flags(root)
    yield from undocumented_traps(root, files)
    pages = [path for path in files if path.suffix == ".md"]
    yield from dead_links(root, pages)
    yield from pages_nobody_links_to(root, pages)
    yield from private_traces(root, files)
    yield from junk_drawers(files)


def undocumented_reasons(root: Path, files: list[Path]) -> Iterator[str]:
    """Every code has its entry, and somewhere in the sources something is given that code."""
    from lakeprune.predicate.reasons import ReasonCode
    from lakeprune.report.verdict import Keeps

    codes = {f"{kind.__name__}.{code.name}": code.value for kind in (ReasonCode, Keeps) for code in kind}
    yield from _differences("docs/reasons.md", set(codes.values()), _documented(root / "docs/reasons.md", r"[A-Z_]{4,}"))
    sources = [path for path in files if path.parts[:2] == ("src", "lakeprune") and "render" not in path.parts]
    texts = [(root / path).read_text(encoding="utf-8") for path in sources if path.suffix == ".py"]
    for name in codes:
        if not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts):
            yield f"docs/reasons.md: {name} is documented and never emitted"


def undocumented_diagnoses(root: Path, files: list[Path]) -> Iterator[str]:
    """Each diagnosis has a page of its own, and each page its diagnosis."""
    from lakeprune.report.diagnosis.codes import Code

    folder = Path("docs/diagnoses")
    pages = {path.stem for path in files if path.parent == folder and path.suffix == ".md"} - {"README"}
    yield from _differences("docs/diagnoses", {code.value for code in Code}, pages)
    for page in sorted(pages):
        text = (root / folder / f"{page}.md").read_text(encoding="utf-8")
        if f"`{page}`" not in headings(text)[:1]:
            yield f"docs/diagnoses/{page}.md: its heading is not the code"


def undocumented_errors(root: Path, files: list[Path]) -> Iterator[str]:
    sources = [root / path for path in files if path.parts[0] == "src" and path.suffix == ".py"]
    raised = {code for source in sources for code in ERROR_CODE.findall(source.read_text(encoding="utf-8"))}
    page = (root / "docs/errors.md").read_text(encoding="utf-8")
    entries = [code for heading in headings(page) for code in ERROR_CODE.findall(heading)]
    if entries != sorted(set(entries)):
        wrong = next(after for before, after in pairwise(entries) if after <= before)
        yield f"docs/errors.md: {wrong} is there twice, or not in the order of the codes"
    yield from _differences("docs/errors.md", raised, _documented(root / "docs/errors.md", ERROR_CODE.pattern))


def undocumented_traps(root: Path, files: list[Path]) -> Iterator[str]:
    """Traps are named by number in comments; the page says what the numbers mean."""
    known = set(TRAP.findall((root / "docs/traps.md").read_text(encoding="utf-8")))
    for path in files:
        if path.parts[0] == "src" and path.suffix == ".py":
            for trap in sorted(set(TRAP.findall((root / path).read_text(encoding="utf-8"))) - known):
                yield f"{path}: names trap {trap}, which docs/traps.md does not explain"


def undocumented_commands(root: Path) -> Iterator[str]:
    from lakeprune.cli.main import COMMANDS

    for name in COMMANDS:
        page = root / "docs" / "commands" / f"{name}.md"
        if not page.exists():
            yield f"docs/commands/{name}.md: missing, the command exists"
            continue
        known = set(FLAG.findall(_help_of(name))) - {"--help"}
        yield from _differences(
            f"docs/commands/{name}.md", known, set(FLAG.findall(page.read_text(encoding="utf-8"))) - {"--help"}
        )


def outdated_flags(root: Path) -> Iterator[str]:
    """Tables of flags that are not those of the code."""
    from lakeprune.cli.main import COMMANDS
    from tools.generate_flags import page_of, with_tables

    for name in COMMANDS:
        page = page_of(root, name)
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        if "<!-- flags" not in text or with_tables(name, text) != text:
            yield f"docs/commands/{name}.md: its tables of flags are not those of the code, run `make schema`"


def private_traces(root: Path, files: list[Path]) -> Iterator[str]:
    """Paths of a machine and package registries, in any text file."""
    for path in files:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not text
        for number, line in enumerate(text.splitlines(), start=1):
            for what, pattern in (("a path of one machine", MACHINE_PATH), ("a package registry", REGISTRY)):
                if found := pattern.search(line):
                    yield f"{path}:{number}: {what}: {found[0]}"


def junk_drawers(files: list[Path]) -> Iterator[str]:
    for path in files:
        if path.suffix == ".py" and JUNK_DRAWERS & {part.removesuffix(".py").lstrip("_") for part in path.parts}:
            yield f"{path}: name it by the one idea it holds"


def _differences(page: str, in_code: set[str], in_docs: set[str]) -> Iterator[str]:
    yield from (f"{page}: no entry for {name}" for name in in_code - in_docs)
    yield from (f"{page}: describes {name}, which does not exist" for name in in_docs - in_code)


def _documented(page: Path, pattern: str) -> set[str]:
    """The names that have a heading of their own."""
    if not page.exists():
        return set()
    return {name for heading in headings(page.read_text(encoding="utf-8")) for name in re.findall(pattern, heading)}


def _help_of(command: str) -> str:
    from lakeprune.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        main([command, "--help"])
    return said.getvalue()


if __name__ == "__main__":
    sys.exit(conclude("docs", problems(ROOT)))
