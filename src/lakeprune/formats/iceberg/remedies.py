"""Statements of Iceberg's Spark procedures and DDL that make a table prune better.

A location does not say what a catalog calls the table: the last two folders are taken for its namespace and name, and `catalog`
stands for the catalog. A column whose metrics are missing gets them in two steps: the property, then the files written anew.
"""

from __future__ import annotations

import re
from typing import Any

from lakeprune.formats.iceberg.metrics_modes import DEFAULT_LENGTH, mode_of, property_of
from lakeprune.formats.remedies import LackingMetrics, Remedies
from lakeprune.predicate.tree import Column
from lakeprune.predicate.write.show import name_text
from lakeprune.values.literals import quote
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import TIME_KINDS, Family, Kind

_TARGET = "write.target-file-size-bytes"
_METADATA_FILE = re.compile(r"/metadata/[^/]*\.json$")
_REWRITE_ALL = "'rewrite-all', 'true'"
_LONGER = 64  # characters: enough for keys, UUIDs and most paths
_UNITS = {"years": 365.0, "months": 30.0, "days": 1.0}  # in days
_WIDEST = (1 << 31) - 1


class IcebergRemedies(Remedies, frozen=True):
    @property
    def name(self) -> str:
        """The table as procedures take it, without its catalog."""
        folders = [part for part in _METADATA_FILE.sub("", self.facts.location).split("/") if part]
        return name_text(tuple(part.removesuffix(".db") for part in folders[-2:]))

    @property
    def table(self) -> str:
        return f"catalog.{self.name}"

    @property
    def target_bytes(self) -> int:
        """512 MiB unless the table says otherwise."""
        given = self.facts.configuration.get(_TARGET, "")
        return max(int(given), 1) if given.isdecimal() else 512 << 20

    def cluster_by(self, column: str, where: str | None) -> str:
        return self._rewrite(where, f"strategy => 'sort', sort_order => {quote(column)}", _REWRITE_ALL)

    def compact(self, where: str | None) -> str:
        return self._rewrite(where, "", "'min-input-files', '2'")

    def purge_deleted_rows(self) -> str:
        return self._rewrite(None, "", "'delete-file-threshold', '1'")

    def rewrite_manifests(self) -> str:
        return f"CALL catalog.system.rewrite_manifests(table => {quote(self.name)})"

    @property
    def nan_advice(self) -> str:
        return "Iceberg's writers count NaN: files that are written anew have the counts"

    @property
    def deletes_are(self) -> str:
        return "deletes"

    def lacking(self, column: Column, *, counts: bool) -> LackingMetrics:
        mode = mode_of(self.facts, column)
        name = name_text(column.path)
        if mode.has_counts if counts else mode.has_bounds:
            why = f"the table's settings have them collected ({mode.name}), so these files are older or of another writer"
            return LackingMetrics("older_files", mode.setting, None, why, self._rewrite(None, "", _REWRITE_ALL))
        if mode.position is not None:
            most = mode.setting.rpartition(" ")[2]
            cause = "beyond_first_columns"
            why = f"{name} is column {mode.position}, and metrics are collected of the first {most} ({mode.setting})"
        else:
            cause, why = "metrics_mode", f"the table says {mode.setting}"
        return LackingMetrics(cause, mode.setting, mode.position, why, self._collect(column, "truncate(16)"))

    def longer_bounds(self, column: Column) -> LackingMetrics:
        mode = mode_of(self.facts, column)
        if (length := mode.length) is None:  # files of earlier settings have the default
            why = f"the table's settings have them recorded whole ({mode.setting}), so these files are older or of another writer"
            return LackingMetrics("older_files", mode.setting, None, why, self._rewrite(None, "", _REWRITE_ALL), DEFAULT_LENGTH)
        why = f"bounds of text have {length} characters ({mode.setting or 'the default'})"
        longer = f"truncate({_LONGER})" if length < _LONGER else "full"
        return LackingMetrics("truncation", mode.setting, None, why, self._collect(column, longer), length)

    def partition_by_range(self, column: Column, low: Any, high: Any, partitions: int) -> str | None:
        transform = _range_transform(column, low, high, partitions)
        if transform is None:
            return None
        added = f"ALTER TABLE {self.table} ADD PARTITION FIELD {transform}"
        return f"{added}; {self._rewrite(None, '', _REWRITE_ALL)}"

    def _collect(self, column: Column, mode: str) -> str:
        setting = f"ALTER TABLE {self.table} SET TBLPROPERTIES ({quote(property_of(column))} = {quote(mode)})"
        return f"{setting}; {self._rewrite(None, '', _REWRITE_ALL)}"

    def _rewrite(self, where: str | None, more: str, options: str) -> str:
        parts = [f"table => {quote(self.name)}", more, "" if where is None else f"where => {quote(where)}"]
        parts.append(f"options => map({options})")
        return f"CALL catalog.system.rewrite_data_files({', '.join(part for part in parts if part)})"


def _range_transform(column: Column, low: Any, high: Any, partitions: int) -> str | None:
    """A transform by which a range of the column finds its partitions; None without known ends."""
    name, type_ = name_text(column.path), column.type
    if type_.family is Family.TEXT:
        return f"truncate(1, {name})"
    if low is None or high is None:
        return None
    if type_.kind in TIME_KINDS:
        days = float(high - low) / (1 if type_.kind is Kind.DATE else DAY)
        unit = next((unit for unit, length in _UNITS.items() if days >= partitions * length), "hours")
        return f"{'days' if type_.kind is Kind.DATE and unit == 'hours' else unit}({name})"
    if type_.family not in (Family.INTEGER, Family.DECIMAL):
        return None
    span = int((high - low) * 10**type_.scale)  # in units of the last digit, as the width of a decimal is
    width = 10 ** len(str(max(span, 1) // partitions))
    return f"truncate({width}, {name})" if width <= _WIDEST else None
