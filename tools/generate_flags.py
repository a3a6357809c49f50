"""Writes the tables of flags in docs/commands/ from the table in the code.

A page marks where: `<!-- flags: gates -->` begins the table of the group with that title, `<!-- flags -->` one of all flags,
`<!-- end of flags -->` ends both. `python -m tools.generate_flags` rewrites the tables; the docs check holds the pages to them.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import lakeprune
from lakeprune.apps.explain.opening import Options
from lakeprune.apps.scan.plan import Options as PlanOptions
from lakeprune.apps.statements.merge.merge import MergeOptions
from lakeprune.apps.statements.statement import StatementOptions
from lakeprune.cli.flags import TITLES, Flag, flags_of
from lakeprune.cli.main import COMMANDS
from lakeprune.planning.session import SessionOptions
from lakeprune.report.gates import GATES
from tools.repository import ROOT

_MARKED = re.compile(r"(<!-- flags(?:: (?P<group>.*?))? -->\n).*?(<!-- end of flags -->)", re.DOTALL)
COMMANDS_ALONE = ("hints", "serve", "share")  # which no function of `lakeprune` is the same as
_OPTIONS: dict[str, set[str]] = {
    "explain": {*Options.__annotations__},
    "plan": {*PlanOptions.__annotations__},
    "compare": set(),
    "verify": {*SessionOptions.__annotations__, "sample", "audit_stats"},
    "update": {*StatementOptions.__annotations__},
    "delete": {*StatementOptions.__annotations__},
    "merge": {*MergeOptions.__annotations__},
}


def python_names(command: str) -> set[str]:
    """What the function of a command takes by name."""
    if command in COMMANDS_ALONE:
        return set()
    return {*inspect.signature(getattr(lakeprune, command)).parameters, *_OPTIONS[command]} - {"options"}


def page_of(root: Path, command: str) -> Path:
    return root / "docs" / "commands" / f"{command}.md"


def with_tables(command: str, page: str) -> str:
    """The page of a command with its tables as the code has them."""
    return _MARKED.sub(lambda match: match[1] + _table(command, match["group"]) + match[3], page)


def _table(command: str, group: str | None) -> str:
    flags = [flag for flag in flags_of(command) if group is None or _title(command, flag).startswith(group)]
    if not flags:
        raise AssertionError(f"{command} has no group of flags that begins with {group!r}")
    has_gates = group == "gates"
    head = ["flag", "Python", *(["assertion"] if has_gates else []), "passes when" if has_gates else "meaning"]
    rows = []
    for flag in flags:
        assertion = ([f"`{GATES[flag.name].name}`"] if flag.name in GATES else [""]) if has_gates else []
        rows.append([_flag(flag), _python(command, flag), *assertion, _escaped(flag.help)])
    return f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _title(command: str, flag: Flag) -> str:
    return TITLES.get((command, flag.group), flag.group) or "options"


def _flag(flag: Flag) -> str:
    *short, name = flag.names.split()
    value = flag.metavar or (f"{{{','.join(flag.choices)}}}" if flag.choices else "")
    if not name.startswith("-"):
        return f"`{value}`"
    shown = f"{name} [{value}]" if "nargs" in flag.more else f"{name} {value}".rstrip()
    return ", ".join(f"`{each}`" for each in (*short, shown))


def _python(command: str, flag: Flag) -> str:
    own = flag.names.split()[-1].lstrip("-").replace("-", "_")
    name = next((name for name in (own, flag.name) if name in python_names(command)), None)
    if name is None:
        return ""
    return f"`{name}=False`" if flag.more.get("action") == "store_false" else f"`{name}`"


def _escaped(text: str) -> str:
    """Text as it is in a cell: Markdown would take `*` and `<` for its own."""
    return re.sub(r"([|*<])", r"\\\1", text)


if __name__ == "__main__":
    for each in COMMANDS:
        path = page_of(ROOT, each)
        path.write_text(with_tables(each, path.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote the flags of {len(COMMANDS)} commands to docs/commands")
