"""The workflow of docs/gates-in-ci.md, executed step by step against a table in a real S3 server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import obstore
import pytest
import yaml
from obstore.store import S3Store

from tests.builders import delta
from tests.docs.blocks import blocks, is_executed
from tests.docs.test_action import ACTION, HOOK, PATH
from tests.storage.servers import s3_server
from tools.markdown import code_blocks
from tools.repository import ROOT

PAGE = (ROOT / "docs" / "gates-in-ci.md").read_text(encoding="utf-8")
WORKFLOW, HOOKS = (yaml.safe_load(block.text) for block in code_blocks(PAGE) if block.language == "yaml")
# Actions of others: what they leave behind is what `environment` has, a checkout, a Python and credentials.
OTHERS = ("actions/checkout@", "actions/setup-python@", "aws-actions/configure-aws-credentials@")
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # as GitHub runs a step


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """What a step sees: credentials in the variables that the action for them sets, and the address of the server."""
    folder = tmp_path_factory.mktemp("ci")
    table = delta.users(folder / "users")
    with s3_server() as server:
        address = f"http://127.0.0.1:{server.port}"
        asking = HTTPConnection("127.0.0.1", server.port, timeout=10)
        asking.request("PUT", "/lake")
        assert asking.getresponse().status == 200
        asking.close()
        config: Any = {**server.options}
        store = S3Store("lake", config=config)
        for file in (table / "_delta_log").iterdir():  # the log alone: data files are never asked for
            if file.is_file():
                obstore.put(store, f"users/_delta_log/{file.name}", file.read_bytes())
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GITHUB_"))}
        yield {
            **clean,
            "PATH": PATH,
            "AWS_ACCESS_KEY_ID": server.credentials["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": server.credentials["aws_secret_access_key"],
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }


def run(command: str, environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BASH, command], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_every_step_of_the_workflow_runs(environment: Mapping[str, str], tmp_path: Path) -> None:
    (job,) = WORKFLOW["jobs"].values()
    ran = []
    for step in job["steps"]:
        uses = step.get("uses", "")
        if uses.startswith(OTHERS):
            continue
        if "run" in step:
            done = run(step["run"], environment, tmp_path)
        else:
            assert uses == "./lakeprune"
            assert set(step["with"]) <= set(ACTION["inputs"])
            own = ACTION["runs"]["steps"][-1]
            inputs = {f"${{{{ inputs.{name} }}}}": value for name, value in step["with"].items()}
            done = run(own["run"], {**environment, **{name: inputs[value] for name, value in own["env"].items()}}, tmp_path)
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
        ran.append(uses or "run")
    assert ran == ["./lakeprune", "run"]
    assert "### Reads 1 of 6 files" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert json.loads((tmp_path / "pruning.json").read_text(encoding="utf-8"))["result"] == "pass"


def test_a_gate_of_the_workflow_can_fail(environment: Mapping[str, str], tmp_path: Path) -> None:
    """The negative control: the same step with a gate that does not hold."""
    done = run('lakeprune explain s3://lake/users -w "age > 10" --min-pruning 60', environment, tmp_path)
    assert (done.returncode, "ASSERTION FAILED" in done.stderr) == (1, True)


def test_the_hook_runs_as_the_page_configures_it(environment: Mapping[str, str], tmp_path: Path) -> None:
    ((configured,),) = (repository["hooks"] for repository in HOOKS["repos"])
    assert configured["id"] == HOOK["id"]
    done = run(shlex.join([*shlex.split(HOOK["entry"]), *configured["args"]]), environment, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_command_of_the_page_on_object_stores_takes_keys_and_region_of_a_profile(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    (shown,) = blocks("docs/concepts/object-stores.md", "sh")
    (command,) = (command for command in shown.commands if is_executed(shown.page, command))
    names = ("aws_access_key_id", "aws_secret_access_key")
    keys = "".join(f"{name} = {environment[name.upper()]}\n" for name in names)
    (tmp_path / "credentials").write_text(f"[lake]\n{keys}", encoding="utf-8")
    profiles = {name: value for name, value in environment.items() if name.lower() not in (*names, "aws_region")}
    done = run(command, {**profiles, "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")}, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Reads 3 of 6 files" in done.stdout
