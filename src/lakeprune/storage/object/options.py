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
from lakeprune.storage.object.option_values import check_address, header_text, seconds, whole_number

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
_IN_ENVIRONMENT = {Store.S3: ("AWS_",), Store.AZURE: ("AZURE_STORAGE_", "AZURE_"), Store.GCS: ("GOOGLE_",)}
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
        given[name] = header_text(given[name], f"storage option `{name}`")
    if location.account is not None:
        given["account_name"] = location.account
    given = {**_places_in_environment(location.store), **given}
    _check_environment(location.store)
    _check_credentials(given, location, access)
    timeout = seconds(given.pop("timeout", None), "timeout", TIMEOUT)
    retry_timeout = seconds(given.pop("retry_timeout", None), "retry_timeout", 2 * timeout)
    retries = whole_number(given.pop("max_retries", None), "max_retries", MAX_RETRIES)
    given["connect_timeout"] = _milliseconds(seconds(given.get("connect_timeout"), "connect_timeout", min(5, timeout)))
    given["timeout"] = _milliseconds(timeout)
    for name in ENDPOINTS:
        check_address(given.get(name), name)
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


def _places_in_environment(store: Store) -> dict[str, str]:
    """Where the environment says the store is. The client would look itself, but the cache and the checks must know too."""
    found = {}
    for name in (*ENDPOINTS, "account_name"):
        for prefix in _IN_ENVIRONMENT[store]:
            if value := os.environ.get(prefix + name.upper()):
                found[name] = value
    return found


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
    prefixes = _IN_ENVIRONMENT[store]
    variables = [prefix + name.upper() for name in [*names, "skip_signature"] for prefix in prefixes]
    if any(os.environ.get(variable) for variable in variables) or (store is Store.GCS and os.path.exists(_gcloud_file())):
        return
    raise TableError(
        "LP334",
        f"there are no credentials for {location.shown}",
        fix="give them with --option, in the environment, with --profile (S3), with --env-creds for what this machine offers, "
        "or use --public for a store that asks for none",
    )


def _gcloud_file() -> str:
    return os.path.join(os.path.expanduser("~"), ".config", "gcloud", "application_default_credentials.json")


def _check_environment(store: Store) -> None:
    """The client takes these variables as they are."""
    for name in {*_CREDENTIALS[store].split(), *_ALSO_IN_HEADERS} - _NO_HEADERS:
        for variable in (prefix + name.upper() for prefix in _IN_ENVIRONMENT[store]):
            value = os.environ.get(variable, "")
            if header_text(value, f"the environment variable {variable}") != value:
                raise UsageError("LP231", f"the value of {variable} has white space around it", fix="remove it")


def _milliseconds(value: float) -> str:
    return f"{max(1, round(value * 1000))}ms"


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() in _TRUE
