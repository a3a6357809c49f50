"""How PyIceberg reaches an object store, as our storage options.

In: the properties of a FileIO and a location. Out: access options: the storage options of that store under delta-rs's names, and
like PyIceberg whatever credentials the machine offers. Values may be secrets: nothing here shows one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_S3 = {
    "aws_endpoint_url": ("s3.endpoint",),
    "aws_access_key_id": ("s3.access-key-id", "client.access-key-id"),
    "aws_secret_access_key": ("s3.secret-access-key", "client.secret-access-key"),
    "aws_session_token": ("s3.session-token", "client.session-token"),
    "aws_region": ("s3.region", "client.region"),
    "aws_virtual_hosted_style_request": ("s3.force-virtual-addressing",),
    "aws_skip_signature": ("s3.anonymous",),
    "connect_timeout": ("s3.connect-timeout",),
    "timeout": ("s3.request-timeout",),
    "proxy_url": ("s3.proxy-uri",),
}
_AZURE = {
    "azure_storage_account_name": ("adls.account-name",),
    "azure_storage_account_key": ("adls.account-key",),
    "azure_storage_sas_token": ("adls.sas-token",),
    "azure_storage_token": ("adls.token",),
    "azure_storage_tenant_id": ("adls.tenant-id",),
    "azure_storage_client_id": ("adls.client-id",),
    "azure_storage_client_secret": ("adls.client-secret",),
    "azure_skip_signature": ("adls.anon",),
}
_GCS = {"google_bearer_token": ("gcs.oauth2.token",), "google_base_url": ("gcs.service.host",)}
_Names = Mapping[str, tuple[str, ...]]  # of an option: the properties that mean it, the first one wins
_BY_SCHEME: dict[str, _Names] = {"s3": _S3, "s3a": _S3, "s3n": _S3, "abfs": _AZURE, "abfss": _AZURE, "gs": _GCS, "gcs": _GCS}
_PROFILES = ("s3.profile-name", "client.profile-name")
_ENDPOINTS = ("aws_endpoint_url", "google_base_url")


def access_of(location: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The access options for this location.

    >>> access_of("s3://lake/t/v1.metadata.json", {"s3.endpoint": "http://localhost:9000"})["storage_options"]
    {'aws_endpoint_url': 'http://localhost:9000', 'allow_http': 'true'}
    """
    names: _Names = _BY_SCHEME.get(location.partition("://")[0].lower(), {})
    given = {name: str(value) for name, value in properties.items() if value is not None and value != ""}
    options = {
        ours: found for ours, theirs in names.items() if (found := next((given[each] for each in theirs if each in given), None))
    }
    if any(options.get(name, "").startswith("http://") for name in _ENDPOINTS):
        options["allow_http"] = "true"  # PyIceberg needs no permission for it
    profile = next((given[name] for name in _PROFILES if name in given), None) if names is _S3 else None
    return {"storage_options": options, "env_creds": True, **({} if profile is None else {"profile": profile})}
