"""Who is asking: wrong keys, none at all, profiles, the environment, public stores, deltalake's own options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable

import lakeprune
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.running import explain
from tests.storage.servers import Server, s3_server

WRONG = {
    "s3": {"aws_access_key_id": "wrong", "aws_secret_access_key": "wrong-too"},
    "azure": {"azure_storage_account_key": "d3Jvbmc="},
    "gcs": {"google_bearer_token": "wrong"},
}
RIGHT = {"s3": "testing/", "azure": "SharedKey devstoreaccount1:", "gcs": "Bearer testing-token"}


@pytest.fixture
def strict(server: Server, proxy: Proxy) -> Server:
    """A server that looks at credentials. Azurite does; for the other two the proxy before them does."""
    if server.kind == "azure":
        return server

    def known_only(request: Request) -> Fate:
        return Fate.SERVE if RIGHT[server.kind] in request.headers.get("authorization", "") else Fate.FORBIDDEN

    proxy.rule = known_only
    return server.behind(proxy.port)


def test_wrong_credentials_are_refused_by_the_store(server: Server, strict: Server, local_users: Path) -> None:
    url = server.upload(local_users, "wrong")
    assert explain(url, *strict.flags()).code == 0
    ran = explain(url, "--no-cache", *strict.flags(**WRONG[server.kind]))
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP332]" in ran.err
    assert "HTTP 403" in ran.err
    assert "may list and read the table's metadata" in ran.err


def test_no_credentials_are_noticed_before_anything_is_asked(server: Server, proxy: Proxy) -> None:
    bare = {name: value for name, value in server.behind(proxy.port).options.items() if name not in server.credentials}
    flags = [part for name, value in bare.items() for part in ("--option", f"{name}={value}")]
    ran = explain(server.url("users"), *flags)
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP334]" in ran.err
    for way in ("--option", "--env-creds", "--profile", "--public"):
        assert way in ran.err
    assert not proxy.seen


def test_public_asks_without_credentials(s3: Server, s3_proxy: Proxy, local_users: Path) -> None:
    url = s3.upload(local_users, "public")
    s3.make_public(f"public/_delta_log/{file.name}" for file in (local_users / "_delta_log").iterdir())
    address = f"http://127.0.0.1:{s3_proxy.port}"
    ran = explain(url, "--public", "--option", f"endpoint_url={address}", "--option", "ALLOW_HTTP=true")
    assert (ran.code, ran.err) == (0, "")
    assert all("authorization" not in {name.lower() for name in request.headers} for request in s3_proxy.seen)


PROFILE_WAYS = [["--profile", "lake"], ["--option", "aws_profile=lake"], ["--env-creds"]]


@pytest.mark.parametrize("way", PROFILE_WAYS)
def test_a_profile_gives_keys_and_region(
    s3: Server, s3_proxy: Proxy, local_users: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: list[str]
) -> None:
    url = s3.upload(local_users, "profile")
    files = _aws_files(tmp_path, monkeypatch)
    files["credentials"].write_text("[lake]\naws_access_key_id = PROFILED\naws_secret_access_key = s3cr3t%of+profile\n")
    files["config"].write_text(f"[profile lake]\nregion = eu-south-2\nendpoint_url = http://127.0.0.1:{s3_proxy.port}\n")
    monkeypatch.setenv("AWS_PROFILE", "lake")
    ran = explain(url, "--option", "allow_http=true", *way)
    assert (ran.code, ran.err) == (0, "")
    assert all("PROFILED/" in request.headers["authorization"] for request in s3_proxy.seen)
    assert all("/eu-south-2/s3/" in request.headers["authorization"] for request in s3_proxy.seen)


def test_an_option_wins_over_the_environment_and_region_over_both(
    s3: Server, s3_proxy: Proxy, local_users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = s3.upload(local_users, "wins")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-environment")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3_proxy.port}")
    assert explain(url, "--option", "allow_http=true").code == 0
    assert "ENVIRONMENT/" in s3_proxy.seen[-1].headers["authorization"]
    assert "/eu-north-1/" in s3_proxy.seen[-1].headers["authorization"]
    assert explain(url, *s3.behind(s3_proxy.port).flags(), "--region", "eu-west-3").code == 0
    assert "testing/" in s3_proxy.seen[-1].headers["authorization"]
    assert "/eu-west-3/" in s3_proxy.seen[-1].headers["authorization"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "does not exist"),
        ("[profile lake]\nregion = eu-west-1\n", "has no keys"),
        ("[profile lake]\nsso_session = corp\n", "signs in by sso_session"),
        ("[profile lake]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = y\n", "signs in by role_arn"),
        ("region = outside any section\n", "cannot be read"),
    ],
)
def test_a_profile_that_cannot_serve_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, words: str
) -> None:
    _aws_files(tmp_path, monkeypatch)["config"].write_text(content)
    ran = explain("s3://lake/users", "--profile", "lake")
    assert (ran.code, ran.out) == (2, "")
    assert "error[LP233]" in ran.err
    assert words in ran.err


def test_a_deltalake_table_brings_its_own_options(s3: Server, local_users: Path) -> None:
    url = s3.upload(local_users, "own")
    table = DeltaTable(url, version=3, storage_options=s3.options)
    report = lakeprune.explain(table, "age > 40")
    assert (report.facts.version, report.numbers.total.files) == (3, 4)


def test_temporary_credentials_reach_the_store(s3: Server, s3_proxy: Proxy, local_users: Path) -> None:
    url, token = s3.upload(local_users, "temporary"), "of-a-session"
    assert explain(url, *s3.behind(s3_proxy.port).flags(AWS_SESSION_TOKEN=token)).code == 0
    assert s3_proxy.seen[-1].headers["x-amz-security-token"] == token


@pytest.fixture
def judging_s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """moto, checking every key and signature."""
    monkeypatch.setenv("INITIAL_NO_AUTH_ACTION_COUNT", "1")
    with s3_server() as running:
        yield running


def test_s3_itself_refuses_a_key_it_does_not_know(judging_s3: Server) -> None:
    ran = explain(judging_s3.url("users"), *judging_s3.flags())
    assert (ran.code, ran.out) == (3, "")
    assert "HTTP 403 InvalidAccessKeyId" in ran.err


def _aws_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    files = {"credentials": tmp_path / "credentials", "config": tmp_path / "config"}
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(files["credentials"]))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(files["config"]))
    return files
