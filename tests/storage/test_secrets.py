"""Secrets are in no output, message, traceback, document or file, whatever goes wrong."""

from __future__ import annotations

import traceback
from functools import partial
from pathlib import Path

import pytest

import lakeprune
from lakeprune.storage.access import Access
from lakeprune.storage.object.location import object_location
from lakeprune.storage.object.options import client_settings
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.running import Ran, explain
from tests.storage.servers import AZURE_KEY, Server

HIDDEN = "hush-hush+0123/456789="
SAS = "sv=2021-12-02&sig=hush-hush%2B0123%2F456789%3D&sp=rl"
OPTIONS = {
    "s3": {"aws_access_key_id": "AKIAHUSHHUSH", "aws_secret_access_key": HIDDEN, "aws_session_token": f"token-{HIDDEN}"},
    "azure": {"azure_storage_account_key": AZURE_KEY},
    "gcs": {"google_bearer_token": HIDDEN},
}
WAYS = [Fate.SERVE, Fate.FORBIDDEN, Fate.UNAVAILABLE, Fate.STALL, Fate.RESET, Fate.CUT_BODY]


def _always(fate: Fate, _: Request) -> Fate:
    return fate


def _hidden(text: str) -> bool:
    return not any(secret in text for secret in (HIDDEN, "hush-hush", "HUSHHUSH", AZURE_KEY, AZURE_KEY[:20], "sig="))


@pytest.mark.parametrize("fate", WAYS)
def test_no_secret_is_shown_or_kept(server: Server, proxy: Proxy, local_users: Path, tmp_path: Path, fate: Fate) -> None:
    url = server.upload(local_users, "secrets")
    proxy.rule = lambda _: fate
    options = {**server.behind(proxy.port).options, **OPTIONS[server.kind], "timeout": "300ms", "max_retries": "1"}
    flags = [part for name, value in options.items() for part in ("--option", f"{name}={value}")]
    forms = (["--format", "json"], ["--format", "html"], ["--verbose"])
    for form in forms if fate is Fate.SERVE else forms[:1]:  # an error is the same in every form
        ran = explain(url, "-w", "age > 40", *form, *flags)
        assert ran.code == (0 if fate is Fate.SERVE else 3), ran.err
        assert _hidden(ran.out + ran.err)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(_hidden(str(path)) and _hidden(path.read_bytes().decode("latin-1")) for path in kept)
    assert bool(kept) == (fate is Fate.SERVE)


@pytest.mark.parametrize("server", ["azure"], indirect=True)
def test_a_sas_token_is_never_shown(server: Server, proxy: Proxy) -> None:
    """It is part of every address the client asks for, so the client's own words would show it."""
    options = {name: value for name, value in server.behind(proxy.port).options.items() if name not in server.credentials}
    for fate in WAYS:
        proxy.rule = partial(_always, fate)
        with pytest.raises(lakeprune.TableError) as caught:
            lakeprune.explain(
                server.url("t"), storage_options={**options, "sas_token": SAS, "timeout": "200ms", "max_retries": "0"}
            )
        assert _hidden("".join(traceback.format_exception(caught.value)))
    assert any("sig=" in request.path for request in proxy.seen), "the token was in use"


def test_the_server_repeating_a_secret_is_not_repeated(s3: Server, s3_proxy: Proxy) -> None:
    """S3 answers a wrong signature with the key and what was signed."""
    words: list[str] = []

    def remember(request: Request) -> Fate:
        words.append(request.headers["authorization"])
        return Fate.FORBIDDEN

    s3_proxy.rule = remember
    ran = explain(s3.url("t"), *s3.behind(s3_proxy.port).flags(**OPTIONS["s3"]))
    assert ran.code == 3
    assert words
    assert not any(word in ran.err for word in words[0].replace(",", " ").split() if len(word) > 16)


@pytest.mark.parametrize(
    "location",
    [
        f"s3://AKIAHUSHHUSH:{HIDDEN.replace('/', '%2F')}@lake/users",
        f"s3://lake/users?X-Amz-Signature={HIDDEN}",
        f"az://lake/users?{SAS}",
        f"abfss://lake:{HIDDEN.replace('/', '')}@acme.dfs.core.windows.net/users",
        f"abfss://lake@acme.dfs.core.windows.net/users?{SAS}",
        f"https://acme.blob.core.windows.net/lake/users?{SAS}",
        f"https://user:{HIDDEN.replace('/', '')}@host/users",
        f"gs://lake/users#{HIDDEN}",
        f"s3://AKIAHUSHHUSH:{HIDDEN}@lake/users",
        f"s3://AKIAHUSHHUSH:{HIDDEN}",
    ],
)
def test_a_location_with_a_secret_is_refused_without_repeating_it(location: str) -> None:
    for arguments in ([location], [location, "-w", "x = 1"], [location, "extra"], ["t", location], ["t", "-w", location]):
        ran = explain(*arguments)
        assert ran.code in (2, 3)
        assert ran.out == ""
        if arguments != ["t", "-w", location]:  # a predicate is shown, whatever is written into it
            assert _hidden(ran.err)
    with pytest.raises(lakeprune.LakepruneError) as caught:
        lakeprune.explain(location)
    assert _hidden("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize(
    "flags",
    [
        ["--optoin", f"aws_secret_access_key={HIDDEN}"],
        [f"--optoin=aws_secret_access_key={HIDDEN}"],
        ["--option", f"={HIDDEN}"],
        ["--option", HIDDEN.rstrip("=")],
        ["--option", f"aws_secret_acces_key={HIDDEN}"],
        ["--option", f"timeout={HIDDEN}"],
        ["--option", f"max_retries={HIDDEN}"],
        ["--option", f"aws_endpoint_url={HIDDEN}"],
        ["--option", f"aws_endpoint_url=http://user:{HIDDEN.replace('/', '')}@host"],
        ["--option", f"allow_http={HIDDEN}", "--option", "aws_access_key_id=x"],
        ["--option", f"aws_secret_access_key={HIDDEN}", "--option", "aws_access_key_id=x", "--option", f"bucket={HIDDEN}"],
    ],
)
def test_a_wrong_flag_is_refused_without_repeating_its_value(flags: list[str]) -> None:
    ran: Ran = explain("s3://lake/users", "--public", *flags)
    assert (ran.code, ran.out) == (2, "")
    assert _hidden(ran.err)


def test_what_holds_secrets_does_not_show_them() -> None:
    access = Access({"aws_access_key_id": "AKIAHUSHHUSH", "aws_secret_access_key": HIDDEN})
    settings = client_settings(object_location("s3://lake/users"), access)
    assert HIDDEN in settings.configuration.values()
    assert _hidden(repr(access) + repr(settings) + str(access))
