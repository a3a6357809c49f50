"""Writes docs/rules/: a page per leaf rule and per partition transform, one for all functions, from the docstrings of modules.

`python -m tools.generate_rules` rewrites the pages; a test checks that this changes nothing, so a rule and its page cannot drift.
"""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

from lakeprune.predicate.functions.registry import MODULES, every_function

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "rules"
LEAVES = ROOT / "src" / "lakeprune" / "skipping" / "leaves"
LIFTING = ROOT / "src" / "lakeprune" / "formats" / "lifting"
FUNCTIONS = ROOT / "src" / "lakeprune" / "predicate" / "functions"
GENERATED = "<!-- made by tools/generate_rules.py from the code: change it there -->\n\n"


def pages() -> dict[str, str]:
    """File name -> text of every page."""
    rules = {path.stem: _docstring(path) for path in sorted(LEAVES.glob("*.py")) if path.stem != "__init__"}
    known = {f"transform-{path.stem}": _docstring(path) for path in sorted(LIFTING.glob("*.py")) if path.stem != "__init__"}
    transforms = {name: text for name, text in known.items() if "\nCASES" in text}
    made = {f"{name}.md": GENERATED + _page(text) for name, text in (rules | transforms).items()}
    made["functions.md"] = GENERATED + _functions_page()
    made["README.md"] = GENERATED + _index(rules, transforms)
    return made


def _index(rules: dict[str, str], transforms: dict[str, str]) -> str:
    lead = "What each leaf of a predicate proves about a file, why that is safe, and the cases that the tests run."
    lines = ["# Rules", "", lead, ""]
    lines += [f"- [{_title(text)}]({name}.md)" for name, text in rules.items()]
    lines.append("- [Functions on columns](functions.md): which of them move to the other side of a comparison")
    lines += ["", "What a partition value proves about the column that it was computed from:", ""]
    lines += [f"- [{_title(text)}]({name}.md)" for name, text in transforms.items()]
    return "\n".join(lines) + "\n"


def _functions_page() -> str:
    lead = "Evaluated: on partition values and constants. Moves: a comparison with a constant becomes a range on the column."
    lines = ["# Functions on columns", "", lead, ""]
    lines += ["| function | evaluated | moves |", "|---|---|---|"]
    for function in sorted(every_function(), key=lambda function: function.name):
        lines.append(f"| `{function.name}` | yes | {'yes' if function.preimage is not None else ''} |")
    for module in sorted(MODULES):
        text = _docstring(FUNCTIONS / f"{module}.py")
        lines += ["", f"## {_title(text)}", "", *_body(text)]
    return "\n".join(lines) + "\n"


def _page(text: str) -> str:
    return "\n".join([f"# {_title(text)}", "", *_body(text)]) + "\n"


def _title(text: str) -> str:
    return text.split("\n", 1)[0].rstrip(".")


def _body(text: str) -> list[str]:
    """The lines below the title, with a fence around each table of cases."""
    lines = text.split("\n", 1)[1].strip("\n").split("\n") if "\n" in text else []
    found: list[str] = []
    for is_table, group in groupby(lines, key=lambda line: line.startswith("    ")):
        block = list(group)
        found += ["```text", *(line[4:] for line in block), "```"] if is_table else block
    return found


def _docstring(path: Path) -> str:
    found = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if found is None:
        raise AssertionError(f"{path.name} has no docstring")
    return found


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for name, text in pages().items():
        (TARGET / name).write_text(text, encoding="utf-8")
    print(f"wrote {len(pages())} pages to docs/rules")
