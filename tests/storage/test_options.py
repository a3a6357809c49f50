"""Storage options: delta-rs's names are understood, wrong ones refused before anything is asked, and none breaks the client."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakeprune.errors import LakepruneError, UsageError
from lakeprune.storage.access import Access
from lakeprune.storage.object.client import ObjectClient
from lakeprune.storage.object.location import object_location
from lakeprune.storage.object.options import client_settings
from tests.scope import share_of
from tests.storage.proxy import Proxy
from tests.storage.running import explain
from tests.storage.servers import AZURE_KEY, Server, free_port

S3_NAMES = """aws_access_key_id AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN aws_region AWS_DEFAULT_REGION region access_key_id
    secret_access_key session_token AWS_S3_ALLOW_UNSAFE_RENAME aws_s3_locking_provider DELTA_DYNAMO_TABLE_NAME conditional_put
    aws_copy_if_not_exists AWS_ENDPOINT_URL_DYNAMODB user_agent""".split()
SWITCHES = "aws_allow_http AWS_VIRTUAL_HOSTED_STYLE_REQUEST aws_unsigned_payload AWS_SKIP_SIGNATURE allow_http".split()
AZURE_NAMES = """azure_storage_account_name AZURE_STORAGE_ACCOUNT_KEY azure_storage_access_key account_name account_key
    azure_storage_client_id AZURE_CLIENT_SECRET azure_tenant_id azure_storage_authority_id azure_storage_token bearer_token
    azure_msi_endpoint AZURE_FEDERATED_TOKEN_FILE azure_object_id""".split()
PLACES = {"s3": "s3://lake/t", "azure": "az://lake/t", "gcs": "gs://lake/t"}


def client(location: str, **options: str) -> ObjectClient:
    place = object_location(location)
    return ObjectClient(place, client_settings(place, Access(options, public=True)))


@pytest.mark.parametrize("name", S3_NAMES)
def test_names_of_delta_rs_for_s3(name: str) -> None:
    client("s3://lake/t", **{"access_key_id": "k", "secret_access_key": "s", name: "some-text"})


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", ["true", "false", "TRUE", "1"])
def test_switches_of_delta_rs_for_s3(name: str, value: str) -> None:
    client("s3://lake/t", **{name: value})


@pytest.mark.parametrize("name", AZURE_NAMES)
def test_names_of_delta_rs_for_azure(name: str) -> None:
    client("abfss://lake@acme.dfs.core.windows.net/t", **{name: AZURE_KEY if "key" in name.lower() else "acme"})


def test_names_of_delta_rs_for_gcs(tmp_path: Path) -> None:
    client("gs://lake/t", **dict.fromkeys(["google_bearer_token"], "some"))
    for name in ("google_service_account", "GOOGLE_SERVICE_ACCOUNT_PATH", "service_account", "GOOGLE_APPLICATION_CREDENTIALS"):
        with pytest.raises(UsageError, match="cannot be used"):  # so the name was understood
            client("gs://lake/t", **{name: str(tmp_path / "nothing")})


@pytest.mark.parametrize("place", PLACES.values())
@pytest.mark.parametrize("name", ["aws_secret_acces_key", "nonsense", "bucket", "container_name", ""])
def test_names_that_mean_nothing_are_refused(place: str, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        client(place, **{name: "value-of-it"})
    assert caught.value.code == "LP231"
    assert "value-of-it" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timeout", "soon"),
        ("timeout", "-1s"),
        ("timeout", "0"),
        ("timeout", "2 days"),
        ("max_retries", "many"),
        ("retry_timeout", ""),
    ],
)
def test_durations_and_counts_are_read_strictly(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=option):
        client("s3://lake/t", **{option: value})


def test_a_time_limit_bounds_the_retries_too() -> None:
    place = object_location("s3://lake/t")
    found = client_settings(place, Access({"timeout": "3s"}, public=True))
    assert (found.timeout, found.retry_timeout, found.max_retries) == (3, 6, 4)
    assert found.configuration["connect_timeout"] == "3000ms"


@pytest.mark.parametrize("value", ["key\n", " key", "ke\ny", "kéy"])
def test_a_variable_that_fits_into_no_header_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", value)
    ran = explain("s3://lake/t")
    assert (ran.code, ran.out) == (2, "")
    assert "AWS_ACCESS_KEY_ID" in ran.err


def test_keys_given_are_not_mixed_with_a_token_of_the_environment(
    s3: Server, s3_proxy: Proxy, local_users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-somebody-else")
    ran = explain(s3.upload(local_users, "mixed"), *s3.behind(s3_proxy.port).flags())
    assert ran.code == 0
    assert not any("x-amz-security-token" in request.headers for request in s3_proxy.seen)


NOBODY = f"http://127.0.0.1:{free_port()}"
NAMES = {
    "s3": ["region", "access_key_id", "secret_access_key", "session_token", "endpoint_url", "user_agent"],
    "azure": ["account_name", "account_key", "sas_token", "token", "endpoint", "client_id"],
    "gcs": ["bearer_token", "base_url", "service_account_key"],
}
VALUES = st.one_of(st.text(max_size=20), st.text("ab\n\r\t %/:@?#[]{}\\\"'=&ü", max_size=20), st.just(AZURE_KEY))
BASE = {
    "s3": {"access_key_id": "k", "secret_access_key": "s", "endpoint_url": NOBODY},
    "azure": {"account_name": "acme", "endpoint": f"{NOBODY}/acme", "account_key": AZURE_KEY},
    "gcs": {"bearer_token": "t", "base_url": NOBODY},
}


@settings(max_examples=share_of(150), deadline=None)
@given(
    chosen=st.sampled_from([(kind, name) for kind, names in NAMES.items() for name in names]),
    value=VALUES,
)
@example(("s3", "endpoint_url"), "http://a%zz/")
@example(("s3", "session_token"), "a\nb")
@example(("gcs", "bearer_token"), "a\rb")
def test_no_value_breaks_the_client(chosen: tuple[str, str], value: str) -> None:
    """A wrong one is an error with a code; the client's own way would be to abort on the first request."""
    kind, name = chosen
    place = object_location(PLACES[kind])
    options = {**BASE[kind], "allow_http": "true", "max_retries": "0", "timeout": "200ms", name: value}
    if name in ("token", "sas_token", "client_id"):
        del options["account_key"]
    try:
        found = ObjectClient(place, client_settings(place, Access(options)))
        found.read("_delta_log/_last_checkpoint", 100)
    except LakepruneError as error:
        code = error.code
    else:
        raise AssertionError("nobody listens there")
    assert code in ("LP231", "LP331", "LP332", "LP334")
