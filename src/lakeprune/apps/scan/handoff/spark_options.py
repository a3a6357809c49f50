"""What a Spark session says about reading data files: its credentials for S3, by the names of object stores."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from lakeprune.apps.scan.options import ScanOptions
from lakeprune.engines.spark.session import has_jvm

_ENDPOINT = "aws_endpoint_url"
_NAMES = {
    "fs.s3a.access.key": "aws_access_key_id",
    "fs.s3a.secret.key": "aws_secret_access_key",
    "fs.s3a.session.token": "aws_session_token",
    "fs.s3a.endpoint": _ENDPOINT,
    "fs.s3a.endpoint.region": "aws_region",
}


def options_of(spark: SparkSession) -> ScanOptions:
    """The options of a hand-off that reads files as this session does."""
    found = {name: value for key, name in _NAMES.items() if (value := _setting(spark, key))}
    endpoint = found.get(_ENDPOINT)
    if endpoint is not None:
        # Hadoop takes a host alone, and another setting says whether it is reached through TLS.
        scheme = "http" if (_setting(spark, "fs.s3a.connection.ssl.enabled") or "true").lower() == "false" else "https"
        found[_ENDPOINT] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
        if found[_ENDPOINT].startswith("http://"):
            found["allow_http"] = "true"
    return ScanOptions(data_options=found)


def _setting(spark: SparkSession, key: str) -> str | None:
    stated: Any = spark.conf.get(f"spark.hadoop.{key}", None)
    if stated is None and has_jvm(spark):
        stated = spark._jsparkSession.sessionState().newHadoopConf().get(key)  # noqa: SLF001  # PySpark has no other way
    return None if stated is None else str(stated)
