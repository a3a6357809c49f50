"""The table of flags and the options of the library: each flag reaches what takes it, each gate is judged on every surface."""

from __future__ import annotations

import contextlib
import json
from functools import wraps
from typing import Any

import pytest

import lakeprune
from lakeprune.apps.dataframes.explain_frame import FrameOptions
from lakeprune.cli.flags import Flag, flags_of
from lakeprune.cli.main import COMMANDS, main
from lakeprune.report.gates import GATES, Unit
from lakeprune.storage.access import Access, AccessOptions
from tests.builders import delta
from tools.generate_flags import COMMANDS_ALONE, python_names
from tools.generate_schema import target

IN_THE_COMMAND_ALONE = [  # which document is made, where Spark runs, what becomes of a plan
    *"sql verbose kept dropped file sort limit uris raw format output metrics_file scan_report".split(),
    *"engine master remote conf packages spark_log execute retry".split(),
]
IN_PYTHON_ALONE = {"spark", "progress", "footer_progress", "schema", "partition_filters"}
TEXTS = {"where": "a = 1", "set_": "a = 1", "on": "t.a = s.a", "timezone": "UTC", "now": "2024-01-31"}  # that are read early
LIMITS = {Unit.PERCENT: ["100"], Unit.FILES: ["0"], Unit.BYTES: ["0"], Unit.SWITCH: [], Unit.CODES: ["CONTRADICTION"]}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("table") / "users"))


def gate_flag(option: str) -> list[str]:
    return ["--" + option.replace("_", "-"), *LIMITS[GATES[option].unit]]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in COMMANDS_ALONE])
def test_every_flag_is_an_option_of_the_function_and_every_option_a_flag(command: str) -> None:
    options = {name for name in python_names(command) if not name.startswith("when_")}  # `clauses` has them in their order
    flags = {flag.name for flag in flags_of(command)} - (set(IN_THE_COMMAND_ALONE) - options)
    assert flags == options - IN_PYTHON_ALONE


@pytest.mark.parametrize("command", COMMANDS)
def test_no_flag_of_a_command_hides_another(command: str) -> None:
    names = [flag.names for flag in flags_of(command)]
    stored = [flag.name for flag in flags_of(command) if flag.name != "clauses"]
    assert (len(set(names)), len(set(stored))) == (len(names), len(stored))


def test_access_options_are_the_fields_of_access() -> None:
    assert tuple(AccessOptions.__annotations__) == Access.__struct_fields__


def test_documents_name_every_gate_and_nothing_else() -> None:
    schema = json.loads(target("explain").read_text(encoding="utf-8"))
    assert set(schema["$defs"]["Assertion"]["properties"]["name"]["enum"]) == {"listed", *(gate.name for gate in GATES.values())}


@pytest.mark.parametrize("option", GATES)
def test_explain_judges_every_gate(option: str, users: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", users, "-w", "age > 30", "--format", "json", *gate_flag(option)])
    (asserted,) = json.loads(capsys.readouterr().out)["assertions"]
    limit: Any = {Unit.SWITCH: True, Unit.CODES: "CONTRADICTION"}.get(GATES[option].unit, 0)
    report = lakeprune.explain(users, "age > 30", **{option: limit})
    assert [assertion.name for assertion in report.assertions] == [asserted["name"]] == [GATES[option].name]


class Handed(Exception):
    """What a command handed to the library."""


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands without Spark, which end where the library begins."""

    def stop(*_: Any, **options: Any) -> None:
        raise Handed(options)

    for module in ("explain", "verify", "statement"):
        monkeypatch.setattr(f"lakeprune.cli.{module}.delta_session_of", lambda _: contextlib.nullcontext("spark"))
    monkeypatch.setattr(
        "lakeprune.apps.dataframes.explain_frame.explain_frame", lambda _, query, options: stop(query=query, **options)
    )
    monkeypatch.setattr("lakeprune.apps.verify.verify.verify", stop)
    monkeypatch.setattr("lakeprune.apps.scan.plan.plan", stop)
    monkeypatch.setattr("lakeprune.apps.compare.compare.compare", stop)
    for name in ("update", "delete", "merge"):
        monkeypatch.setattr(lakeprune, name, wraps(getattr(lakeprune, name))(stop))


@pytest.mark.usefixtures("handed")
@pytest.mark.parametrize("flag", flags_of("explain"), ids=lambda flag: flag.name)
def test_with_a_query_a_flag_is_handed_on_or_refused_never_ignored(flag: Flag, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["explain", "--sql", "SELECT 1", "--engine", "spark"]
    if flag.name in IN_THE_COMMAND_ALONE:
        return
    given = given_flag(flag)
    if flag.name in FrameOptions.__annotations__:
        with pytest.raises(Handed) as found:
            main([*argv, *given])
        assert flag.name in found.value.args[0]
    else:
        assert main([*argv, *given]) == 2
        assert "error[LP244]" in capsys.readouterr().err


@pytest.mark.usefixtures("handed")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("explain", *COMMANDS_ALONE)])
def test_every_flag_of_another_command_reaches_the_library(command: str) -> None:
    required = [part for flag in flags_of(command) if flag.is_required or flag.name == "where" for part in given_flag(flag)]
    if command == "merge":
        required += ["--when-matched-update", "all"]
    for flag in flags_of(command):
        if flag.name not in IN_THE_COMMAND_ALONE and not flag.is_required and flag.name != "where":
            with pytest.raises(Handed) as found:
                main([command, *required, *given_flag(flag)])
            assert flag.name in found.value.args[0]


def given_flag(flag: Flag) -> list[str]:
    """The flag with a value that it accepts."""
    if not flag.names.startswith("-"):
        return ["."]
    name = flag.names.split()[-1]
    if flag.metavar is None and flag.choices is None:
        return [name]
    if flag.name in TEXTS:
        return [name, TEXTS[flag.name]]
    if flag.name == "clauses":
        return [name, "AND t.a = 1" if name.endswith("delete") else "a = 1"]
    value = (flag.choices or ["1"])[0]
    return [name, "a=1" if flag.metavar == "K=V" else value]
