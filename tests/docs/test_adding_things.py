"""CONTRIBUTING's table "Adding things", executed: its paths exist, and the registries it names are complete."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from lakeprune.cli.main import COMMANDS
from lakeprune.formats.registry import FORMATS
from lakeprune.predicate.functions.registry import MODULES
from lakeprune.predicate.passes import normalise
from lakeprune.render.registry import RENDERERS
from lakeprune.report.diagnosis.codes import Code
from lakeprune.report.diagnosis.diagnose import RULES
from tools.repository import ROOT

SOURCE = ROOT / "src" / "lakeprune"
TABLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Adding things")[2].partition("## Style")[0]
PATHS = sorted(set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_<>NT-]+(?:\.[a-z]+)?)?)`", TABLE)) - {"src/lakeprune/"})
TWELVE = (
    "SQL function", "reason", "gate", "flag", "Iceberg", "row groups", "engine", "diagnosis", "output format", "Bloom filter",
    "statement", "server",
)  # fmt: skip


def modules(folder: str) -> set[str]:
    return {path.stem for path in (SOURCE / folder).glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("change", TWELVE)
def test_twelve_changes_have_a_row(change: str) -> None:
    assert any(change in line.split("|")[1] for line in TABLE.splitlines() if line.startswith("| a"))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_of_the_table_exists(path: str) -> None:
    root = ROOT if path.startswith(("docs/", "tests/")) else SOURCE
    pattern = re.sub(r"<\w+>|NNNN-title", "*", path).rstrip("/")
    assert list(root.glob(pattern)), "the table names what is not there"


def test_every_function_module_is_in_the_index() -> None:
    with_functions = {
        name for name in modules("predicate/functions") if "FUNCTIONS = " in _text(f"predicate/functions/{name}.py")
    }
    assert with_functions == set(MODULES)


def test_every_pass_is_run() -> None:
    run = {each.__module__.rpartition(".")[2] for each in (*normalise.STATE, *normalise.COMBINE, *normalise.MERGE)}
    signature = "(expr: Expr, "
    passes = {name for name in modules("predicate/passes") if f"def {name}{signature}" in _text(f"predicate/passes/{name}.py")}
    assert passes - {"normalise", "rebuild"} == run, "a pass has a module of its own name, and normalise.py runs it"


def test_every_rule_of_a_diagnosis_is_asked() -> None:
    used = {rule.__module__.rpartition(".")[2] for rule in RULES.values()}
    assert used == modules("report/diagnosis/rules")
    assert set(Code) == {*RULES, Code.PREDICATE_TOO_LARGE}
    assert {code.value for code in Code} <= {path.stem for path in (ROOT / "docs/diagnoses").glob("*.md")}


def test_every_renderer_can_be_imported_and_every_format_has_its_folder() -> None:
    for home in RENDERERS.values():
        module, _, function = home.partition(":")
        assert callable(getattr(import_module(module), function))
    assert {home.split(".")[2] for home in RENDERERS.values()} <= {path.name for path in (SOURCE / "render").iterdir()}


def test_every_format_folder_is_registered() -> None:
    folders = {path.parent.name for path in (SOURCE / "formats").glob("*/ladder.py")}
    assert {module.split(".")[2] for module in FORMATS} == folders
    for module in FORMATS:
        assert import_module(module).FORMAT.name == module.split(".")[2]


def test_every_command_has_its_module_and_page() -> None:
    for command, (module, _) in COMMANDS.items():
        assert (SOURCE / "cli" / f"{module}.py").exists()
        assert (ROOT / "docs" / "commands" / f"{command}.md").exists()


def _text(path: str) -> str:
    return (SOURCE / path).read_text(encoding="utf-8")
