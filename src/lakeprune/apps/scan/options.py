"""How the rows of a plan are handed over: one small record for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ScanOptions(Struct, frozen=True):
    file_column: str | None = None  # the name of a column with the file that a row comes from
    pushdown: bool = True  # the reader gets the filter; otherwise rows come unfiltered, and the caller applies it
    # Of Arrow, so outside Spark:
    dictionary_partitions: bool = False  # partition columns as dictionaries
    view_types: bool = False  # text and bytes as views
    data_options: Mapping[str, str] = MappingProxyType({})  # how data files are reached, where that differs from the metadata

    @classmethod
    def from_spark(cls, spark: SparkSession) -> ScanOptions:
        """What a session says about reading."""
        from importlib import import_module

        options: ScanOptions = import_module("lakeprune.apps.scan.handoff.spark_options").options_of(spark)
        return options


def checked(options: ScanOptions) -> ScanOptions:
    """The options; LP284 for what is none."""
    if not isinstance(options, ScanOptions):
        what = f"a {type(options).__name__} is not the options of a hand-off"
        raise UsageError("LP284", what, fix='give lakeprune.ScanOptions(file_column="file")')
    if options.file_column is not None and (not isinstance(options.file_column, str) or not options.file_column):
        raise UsageError("LP284", f"`file_column` is {options.file_column!r}", fix="give it the name of a column")
    return options
