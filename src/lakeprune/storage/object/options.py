"""How an object store is reached: what the user gave, sorted for the client.

In: flags or Python arguments, with the option names of delta-rs. Out: `ClientSettings`. Options about writing and locking
are accepted and passed over. Values are secrets: nothing here shows one, not even in a `repr`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from lakeprune.errors import TableError, UsageError
from lakeprune.storage.access import Access
from lakeprune.storage.object.location import ObjectLocation, Store

TIMEOUT = 20.0  # seconds for one request
MAX_RETRIES = 4
ENDPOINTS = ("endpoint_url_s3", "endpoint_url", "endpoint", "base_url")
_PREFIXES = {Store.S3: ("aws_",), Store.AZURE: ("azure_storage_", "azure_"), Store.GCS: ("google_",)}
_CREDENTIALS = {
    Store.S3: "access_key_id container_credentials_relative_uri container_credentials_full_uri web_identity_token_file",
    Store.AZURE: "account_key access_key master_key sas_key sas_token token bearer_token client_secret federated_token_file "
    "msi_endpoint identity_endpoint use_azure_cli use_emulator",
    Store.GCS: "service_account service_account_path service_account_key application_credentials bearer_token",
}
# About writing, locking or delta-rs itself: a reader has no use for them.
_PASSED_OVER = re.compile(
    r"(aws_)?(s3_)?allow_unsafe_rename|mount_allow_unsafe_rename|(aws_)?(s3_)?locking_provider|(delta_)?dynamo.*|"
    r"aws_endpoint_url_dynamodb|aws_(iam_role|region|access_key_id|secret_access_key|session_token)_dynamodb|"
    r"(aws_)?(conditional_put|copy_if_not_exists)|aws_s3_(pool_idle|sts_pool_idle|get_internal).*|aws_force_credential_load"
)
# Names of files, and the key of a service account, which is JSON.
_NO_HEADERS = frozenset(
    "service_account service_account_path service_account_key application_credentials federated_token_file "
    "web_identity_token_file container_authorization_token_file".split()
)
_ALSO_IN_HEADERS = ("secret_access_key", "session_token", "region", "default_region", "client_id")
_PLACES = frozenset({"bucket", "bucket_name", "container", "container_name"})
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(ms|s|sec|secs|seconds?|m|min|minutes?|h|hours?)?", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?(?:/[A-Za-z0-9._~/-]*)?", re.ASCII)
_TRUE = frozenset({"1", "true", "yes", "on", "y"})


class ClientSettings(Struct, frozen=True):
    """For the client: the store's own configuration, and how patient to be."""

    configuration: dict[str, str]
    timeout: float
    retry_timeout: float
    max_retries: int

    def __repr__(self) -> str:
        return f"ClientSettings({', '.join(sorted(self.configuration))})"


def client_settings(location: ObjectLocation, access: Access) -> ClientSettings:
    """Everything the client must know. Raises UsageError for an option that cannot be meant, LP334 without credentials."""
    given = dict(_plain(access.storage_options, location.store))
    given.update({name: value for name, value in (("region", access.region), ("profile", access.profile)) if value is not None})
    if access.public:
        given["skip_signature"] = "true"
    if location.store is not Store.S3:
        given.pop("region", None)  # of no use there, and no harm
    given = _with_profile(given, location.store, access)
    for name in given.keys() - _NO_HEADERS:
        given[name] = _header_text(given[name], f"storage option `{name}`")
    if location.account is not None:
        given["account_name"] = location.account
    given = {**_places_in_environment(location.store), **given}
    _check_environment(location.store)
    _check_credentials(given, location, access)
    timeout = _seconds(given.pop("timeout", None), "timeout", TIMEOUT)
    retry_timeout = _seconds(given.pop("retry_timeout", None), "retry_timeout", 2 * timeout)
    retries = _whole_number(given.pop("max_retries", None), "max_retries", MAX_RETRIES)
    given["connect_timeout"] = _milliseconds(_seconds(given.get("connect_timeout"), "connect_timeout", min(5, timeout)))
    given["timeout"] = _milliseconds(timeout)
    for name in ENDPOINTS:
        _check_address(given.get(name), name)
    return ClientSettings(given, timeout, retry_timeout, retries)


def _plain(options: Mapping[str, Any], store: Store) -> Mapping[str, str]:
    """Options by their short names: AWS_REGION, aws_region and region are one."""
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        what = "the storage options are not a mapping of names to text"
        raise UsageError("LP231", what, fix='give {"aws_region": "eu-west-1"}')
    found = {}
    for key, value in options.items():
        name = key.strip().lower()
        if _PASSED_OVER.fullmatch(name):
            continue
        if not isinstance(value, str | int | bool):
            raise UsageError("LP231", f"storage option `{key}` is of type {type(value).__name__}", fix="give text")
        prefix = next((prefix for prefix in _PREFIXES[store] if name.startswith(prefix)), "")
        short = name.removeprefix(prefix)
        if short in _PLACES:
            raise UsageError("LP231", f"storage option `{key}` is not taken", fix="the location names the bucket or container")
        found[short] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _variables(name: str, store: Store) -> list[str]:
    """What an option is called in the environment."""
    return [(prefix + name).upper() for prefix in _PREFIXES[store]]


def _places_in_environment(store: Store) -> dict[str, str]:
    """Where the environment says the store is. The client would look itself, but the cache and the checks must know too."""
    names = [(name, variable) for name in (*ENDPOINTS, "account_name") for variable in _variables(name, store)]
    return {name: value for name, variable in names if (value := os.environ.get(variable))}


def _with_profile(given: dict[str, str], store: Store, access: Access) -> dict[str, str]:
    profile = given.pop("profile", None)
    if store is not Store.S3:
        if profile is not None:
            raise UsageError("LP233", "--profile is about S3", fix="leave it out")
        return given
    from lakeprune.storage.object.aws_profile import profile_options

    if profile is not None:
        return {**profile_options(profile, must_exist=True), **given}
    if access.env_creds and "access_key_id" not in given and not os.environ.get("AWS_ACCESS_KEY_ID"):
        named = os.environ.get("AWS_PROFILE")
        return {**profile_options(named or "default", must_exist=named is not None), **given}
    return given


def _check_credentials(given: Mapping[str, str], location: ObjectLocation, access: Access) -> None:
    """A client without credentials asks the machine's metadata service, slow where there is none: only if asked to."""
    store = location.store
    names = _CREDENTIALS[store].split()
    if access.env_creds or _is_true(given.get("skip_signature")) or any(given.get(name) for name in names):
        return
    variables = [variable for name in (*names, "skip_signature") for variable in _variables(name, store)]
    gcloud = os.path.join(os.path.expanduser("~"), ".config", "gcloud", "application_default_credentials.json")
    if any(os.environ.get(variable) for variable in variables) or (store is Store.GCS and os.path.exists(gcloud)):
        return
    fix = (
        "give them with --option, in the environment, with --profile (S3), with --env-creds for what this machine offers, "
        "or use --public for a store that asks for none"
    )
    raise TableError("LP334", f"there are no credentials for {location.shown}", fix=fix)


def _check_environment(store: Store) -> None:
    """The client takes these variables as they are."""
    for name in {*_CREDENTIALS[store].split(), *_ALSO_IN_HEADERS} - _NO_HEADERS:
        for variable in _variables(name, store):
            value = os.environ.get(variable, "")
            if _header_text(value, f"the environment variable {variable}") != value:
                raise UsageError("LP231", f"the value of {variable} has white space around it", fix="remove it")


def _milliseconds(value: float) -> str:
    return f"{max(1, round(value * 1000))}ms"


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() in _TRUE


def _header_text(value: str, what: str) -> str:
    """The value without white space around it. What no header can carry is refused: the client would fail hard on it.

    >>> _header_text(" eu-west-1\\n", "the region")
    'eu-west-1'
    """
    stripped = value.strip()
    if not (stripped.isascii() and stripped.isprintable()):
        fix = "give it on one line, in plain letters, digits and signs"
        raise UsageError("LP231", f"{what} contains a character that no request can carry", fix=fix)
    return stripped


def _check_address(url: str | None, name: str) -> None:
    """The client takes any text for an address and fails hard on the first request, so a wrong one is refused here."""
    if url is None:
        return
    match = _ADDRESS.fullmatch(url)
    if match is None or int(match["port"] or 1) > 65_535:
        fix = "give http(s)://HOST[:PORT], without credentials"
        raise UsageError("LP231", f"storage option `{name}` is not a usable address", fix=fix)


def _seconds(text: str | None, name: str, default: float) -> float:
    """A duration as delta-rs takes it; a bare number is seconds.

    >>> [_seconds(text, "timeout", 20) for text in ("500ms", "2m", "7", None)]
    [0.5, 120.0, 7.0, 20]
    """
    if text is None:
        return default
    match = _DURATION.fullmatch(text)
    value = 0.0 if match is None else float(match[1]) * _UNITS["ms" if match[2] == "ms" else (match[2] or "s")[0]]
    if not 0 < value <= 86_400:
        raise UsageError("LP231", f"storage option `{name}` is not a duration up to a day", fix="write 30s, 500ms or 2m")
    return value


def _whole_number(text: str | None, name: str, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise UsageError("LP231", f"storage option `{name}` is not a number below 1000", fix="write 3")
    return int(text)
