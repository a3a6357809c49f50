"""Schemas: every field described, an id each, in the wheel; errors are JSON where the document would have been."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest

from lakeprune.cli.main import main
from tests.builders import delta
from tools.generate_schema import DOCUMENTS, SCHEMAS, superfluous, target
from tools.repository import ROOT


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_field_has_a_description_and_the_schema_an_id(kind: str) -> None:
    schema = json.loads(target(kind).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = [(name, field, one) for name, shape in schema["$defs"].items() for field, one in shape.get("properties", {}).items()]
    assert fields
    assert [(name, field) for name, field, one in fields if len(one.get("description", "")) < 8] == []
    assert schema["$id"] == f"urn:lakeprune:schema:{kind}:{schema['title'].rpartition(' ')[2]}"


def test_nothing_is_described_that_is_not_there() -> None:
    assert superfluous() == []


def test_the_wheel_has_the_schemas_and_no_tests(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"lakeprune/schemas/{path.name}" for path in SCHEMAS.iterdir()} <= set(names)
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_document_has_the_same_envelope(kind: str) -> None:
    schema = json.loads(target(kind).read_text(encoding="utf-8"))
    top = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    assert {"schema_version", "tool_version", "elapsed_ms"} <= set(top["required"])


@pytest.mark.parametrize("flags", [["--format", "json"], ["--format=json"]])
def test_errors_are_json_where_the_document_would_be(
    tmp_path: Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    users = str(delta.users(tmp_path / "users"))
    for argv, code, exit_code in (
        (["explain", users, "-w", "agee > 40"], "LP102", 2),
        (["explain", str(tmp_path / "nothing"), "-w", "age > 40"], "LP301", 3),
        (["explain", users, "--no-such-flag"], "LP202", 2),
    ):
        assert main([*argv, *flags]) == exit_code
        said = capsys.readouterr()
        document = json.loads(said.err)
        jsonschema.validate(document, json.loads(target("error").read_text(encoding="utf-8")))
        assert {"schema_version", "tool_version", "elapsed_ms"} < set(document)
        found = document["error"]
        assert said.out == ""
        assert (found["code"], found["exit_code"]) == (code, exit_code)
        assert found["what"]
    assert main(["explain", users, "-w", "agee > 40", "--format", "text"]) == 2
    assert capsys.readouterr().err.startswith("error[LP102]")
