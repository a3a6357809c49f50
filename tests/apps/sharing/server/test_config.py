"""The configuration: what is accepted, and every refusal with its line and its fix."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from demo.delta_log import add, metadata, protocol, write_commit
from lakeprune.apps.sharing.server.config import read_config
from lakeprune.cli.main import main
from lakeprune.errors import UsageError
from lakeprune.extras import install_line
from tests.apps.sharing.server.shared_tables import part
from tools.generate_schema import SCHEMAS

GOOD = """\
endpoint: https://share.example.com/delta-sharing
keys: {file: signing.keys}
shares:
  demo:
    sql_hints: off
    schemas:
      sales:
        orders: {location: ./t, history: true, start_version: 1}
        events:
          location: s3://lake/events
          proxy: true
          options:
            aws_region: eu-west-1
            aws_secret_access_key: {env: SECRET_OF_TESTS}
recipients:
  analytics:
    shares: [DEMO]
    where:
      demo.sales.orders: d = '2021-04-29'
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECRET_OF_TESTS", "hush")
    (tmp_path / "shares.yaml").write_text(GOOD, encoding="utf-8")
    assert main(["share", "key", "add", "--config", str(tmp_path / "shares.yaml")]) == 0
    return tmp_path


def test_a_good_file_is_read(folder: Path) -> None:
    config = read_config(str(folder / "shares.yaml"))
    assert (config.prefix, config.host, config.port) == ("/delta-sharing", "127.0.0.1", 8686)
    (share,) = config.shares
    orders, events = share.tables
    assert (share.sql_hints, orders.start_version, events.proxy) == ("off", 1, True)
    assert orders.location == str(folder / "t") or orders.location == str(folder) + "/./t"
    assert events.access["storage_options"] == {"aws_region": "eu-west-1", "aws_secret_access_key": "hush"}
    assert config.recipients["analytics"].where == {"demo.sales.orders": "d = '2021-04-29'"}
    assert "hush" not in repr(config) + repr(share)


def test_the_schema_accepts_it_and_refuses_what_we_refuse(folder: Path) -> None:
    schema = json.loads((SCHEMAS / "shares.schema.json").read_text(encoding="utf-8"))
    value = yaml.safe_load(GOOD)
    jsonschema.validate(value, schema)
    for wrong in ({"listn": "x"}, {"url_lifetime": 60}, {"endpoint": "ftp://x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**value, **wrong}, schema)
    assert folder.exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "code"),
    [
        ("keys: {file: signing.keys}", "keys: 00ff00ff", 2, "holds a secret", "LP294"),
        ("{env: SECRET_OF_TESTS}", "hush-hush", 14, "holds a secret", "LP294"),
        ("{env: SECRET_OF_TESTS}", "{env: NOT_SET_ANYWHERE}", 14, "no NOT_SET_ANYWHERE", "LP282"),
        ("{file: signing.keys}", "{file: nowhere.keys}", 2, "cannot be read", "LP282"),
        ("{file: signing.keys}", "{file: a, env: b}", 2, "either", "LP293"),
        ("location: ./t,", "locatoin: ./t,", 8, "`locatoin` is not a setting", "LP293"),
        ("history: true", "history: 3", 8, "history", "LP293"),
        ("history: true, ", "", 8, "`start_version` has no meaning", "LP293"),
        ("shares: [DEMO]", "shares: [DEMI]", 17, "no share `DEMI`", "LP293"),
        ("demo.sales.orders:", "demo.sales.order:", 19, "no table", "LP293"),
        ("sql_hints: off", "sql_hints: maybe", 5, "sql_hints", "LP293"),
        ("      sales:", "      sa.les:", 7, "not a name of a schema", "LP293"),
        ("        events:", "        ORDERS:", 9, "exists already", "LP293"),
        ("endpoint: https", "listen: 0.0.0.0:80\nendpoint: https", 1, "open to others", "LP293"),
        ("endpoint: https", "listen: nonsense\nendpoint: https", 1, "not an address", "LP293"),
        ("endpoint: https://share.example.com/delta-sharing\n", "", None, "endpoint", "LP293"),
        ("recipients:", "endpoint: twice\nrecipients:", 15, "given twice", "LP293"),
        ("keys: {file", "keys: {{{file", None, "", "LP293"),
        ("shares:\n  demo:", "shares: [1]\nx:\n  demo:", 3, "`shares` is not a mapping", "LP293"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder: Path, old: str, new: str, line: int | None, what: str, code: str) -> None:
    path = folder / "wrong.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_config(str(path))
    error = caught.value
    assert error.code == code
    assert what in error.what
    assert error.fix
    assert "hush-hush" not in str(error)
    if line is not None:
        assert error.where == f"{path}, line {line}"


def test_recipients_get_profiles_and_only_hashes_stay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(folder / "shares.yaml")
    capsys.readouterr()
    assert main(["share", "recipient", "add", "analytics", "--config", config, "--days", "30"]) == 0
    profile = json.loads(capsys.readouterr().out)
    assert set(profile) == {"shareCredentialsVersion", "endpoint", "bearerToken", "expirationTime"}
    assert profile["endpoint"] == "https://share.example.com/delta-sharing"
    assert len(profile["bearerToken"]) >= 43, "256 bits or more"
    kept = (folder / "shares.tokens.json").read_text(encoding="utf-8")
    assert profile["bearerToken"] not in kept
    assert main(["share", "recipient", "add", "analytics", "--config", config]) == 0
    capsys.readouterr()
    assert main(["share", "recipient", "list", "--config", config]) == 0
    assert capsys.readouterr().out.count("active") == 2
    token = json.loads(kept)["tokens"][0]["id"]
    assert main(["share", "recipient", "revoke", "analytics", "--config", config, "--token", token]) == 0
    assert main(["share", "recipient", "revoke", "analytics", "--config", config]) == 0
    assert main(["share", "recipient", "revoke", "analytics", "--config", config]) == 2
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["share", "recipient", "add", "stranger"], 2, "grants nothing to `stranger`"),
        (["share", "recipient", "add"], 2, "name is missing"),
        (["share", "recipient", "forget", "x"], 2, "not an action"),
        (["serve"], 2, "no recipient has a token"),
        (["serve", "--share", "a=b"], 2, "named twice"),
        (["serve", "--check"], 3, "cannot be served"),
    ],
)
def test_commands_say_what_to_do(
    folder: Path, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*arguments, "--config", str(folder / "shares.yaml")]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""
    assert "hush" not in said.err


def test_a_check_opens_every_table_and_every_restriction(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part(folder / "t")
    path = folder / "local.yaml"
    local = GOOD[: GOOD.index("        events:")] + GOOD[GOOD.index("recipients:") :]
    path.write_text(local, encoding="utf-8")
    capsys.readouterr()
    assert main(["serve", "--config", str(path), "--check"]) == 0
    assert "1 shares, 1 tables" in capsys.readouterr().out
    path.write_text(local.replace("d = '2021-04-29'", "id > 3"), encoding="utf-8")
    assert main(["serve", "--config", str(path), "--check"]) == 3
    assert "LP384" in capsys.readouterr().err
    assert main(["serve", "--share", f"x={folder / 'nothing'}", "--check"]) == 3


@pytest.mark.parametrize("content", [None, "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_a_certificate_that_cannot_be_used_is_named_with_its_line(folder: Path, content: str | None) -> None:
    if content is not None:
        for name in ("tls.crt", "tls.key"):
            (folder / name).write_text(content, encoding="utf-8")
    path = folder / "tls.yaml"
    path.write_text(f"tls: {{certificate: tls.crt, key: tls.key}}\n{GOOD}", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_config(str(path))
    assert (caught.value.code, caught.value.where) == ("LP293", f"{path}, line 1")
    assert "certificate" in caught.value.what


@pytest.mark.parametrize("name", ["de mo", "a/b", "x" * 256, "a#b"])
def test_a_share_that_no_client_could_name_is_refused(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--share", f"{name}={tmp_path}", "--check"]) == 2
    assert "is not a name of a share" in capsys.readouterr().err


def test_a_table_gets_a_name_that_clients_can_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part(tmp_path / "or d#ers.v1")
    assert main(["serve", "--share", f"demo={tmp_path / 'or d#ers.v1'}", "--check"]) == 0
    assert capsys.readouterr().out == "demo.default.or_d_ers_v1: in order\n"


def test_an_address_that_is_taken_is_named_before_a_profile_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part(tmp_path / "t")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--share", f"x={tmp_path / 't'}", "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "error[LP299]" in said.err
    assert str(port) in said.err


def test_insecure_local_is_for_loopback(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "open.yaml"
    path.write_text("listen: 0.0.0.0:8686\nbehind_proxy: true\n" + GOOD, encoding="utf-8")
    assert main(["serve", "--config", str(path), "--insecure-local"]) == 2
    assert "loopback" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["serve"], ["share", "recipient", "list"]])
def test_what_is_not_installed_is_named(
    folder: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "yaml" else object())
    assert main([*command, "--config", str(folder / "shares.yaml")]) == 2
    assert install_line("sharing") in capsys.readouterr().err


def test_a_profile_in_a_file_is_for_its_owner_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, path = str(folder / "shares.yaml"), folder / "a.share"
    path.write_text("an older one, which everybody may read", encoding="utf-8")
    path.chmod(0o644)
    assert main(["share", "recipient", "add", "analytics", "--config", config, "--output", str(path)]) == 0
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text(encoding="utf-8"))["bearerToken"]
    assert main(["share", "recipient", "add", "analytics", "--config", config, "--output", str(folder / "no" / "a")]) == 2
    assert "LP217" in capsys.readouterr().err
    kept = json.loads((folder / "shares.tokens.json").read_text(encoding="utf-8"))["tokens"]
    assert len(kept) == 1, "a profile that nobody has got is not a token"


@pytest.mark.parametrize("path", ["s3://other/a.parquet", "../a.parquet", "a%ff.parquet"])
def test_a_check_finds_the_files_that_cannot_be_shared(tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    many = [add(f"{number:04}.parquet") for number in range(1500)]
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), *many, add(path)])
    assert main(["serve", "--share", f"x={tmp_path / 't'}", "--check"]) == 3
    said = capsys.readouterr().err
    assert "LP385" in said
    assert "x.default.t" in said


def test_what_cannot_change_while_the_server_runs_is_named(folder: Path) -> None:
    before = read_config(str(folder / "shares.yaml"))
    (folder / "shares.yaml").write_text(
        GOOD.replace("/delta-sharing", "/other").replace("shares: [DEMO]", "shares: []") + "listen: 127.0.0.1:9999\n",
        encoding="utf-8",
    )
    from lakeprune.apps.sharing.server.run import reloaded

    after, waiting = reloaded(before, read_config(str(folder / "shares.yaml")))
    assert waiting == ["endpoint", "listen"]
    assert (after.endpoint, after.port) == (before.endpoint, before.port), "URLs lead to where the server answers"
    assert after.recipients["analytics"].shares == (), "everything else changes"
    assert reloaded(before, before) == (before, [])
    moved = replace(before, endpoint="https://elsewhere.example.com/delta-sharing")
    assert reloaded(before, moved) == (moved, []), "another host before the same path"
