"""Statements of Delta that make a table prune better."""

from __future__ import annotations

from lakeprune.formats.delta.indexed_columns import indexing_of
from lakeprune.formats.remedies import Exclusion, Remedies
from lakeprune.predicate.tree import Column
from lakeprune.predicate.write.show import name_text
from lakeprune.values.literals import quote
from lakeprune.values.types import Kind


class DeltaRemedies(Remedies, frozen=True):
    @property
    def target_bytes(self) -> int:
        """`delta.targetFileSize`, where it is set as a number of bytes; OPTIMIZE makes files of 1 GiB otherwise."""
        given = self.facts.configuration.get("delta.targetFileSize", "")
        return max(int(given), 1) if given.isdecimal() else Remedies.target_bytes.__get__(self)

    def cluster_by(self, column: str, where: str | None) -> str:
        if self.facts.features.clustering_columns is not None:
            return f"ALTER TABLE {self.table} CLUSTER BY ({column})"
        return f"{self.compact(where)} ZORDER BY ({column})"

    def compact(self, where: str | None) -> str:
        return f"OPTIMIZE {self.table}" + ("" if where is None else f" WHERE {where}")

    def collect_statistics(self) -> str:
        return f"ANALYZE TABLE {self.table} COMPUTE DELTA STATISTICS"

    def how_to_collect(self, column: Column) -> str:
        if column.type.kind is Kind.BOOLEAN:
            return "Delta Spark keeps no minimum and maximum of a boolean: partition by it, or filter on another column as well"
        return f"{Remedies.how_to_collect(self, column)}; where the engine has the statement (Databricks), compute them in place"

    def exclusion(self, column: Column) -> Exclusion | None:
        indexing, path, name = indexing_of(self.facts), column.path, name_text(column.path)
        if indexing.includes(path):
            return None
        position = indexing.position(path)
        place = f"{name} is not listed" if position is None else f"{name} is leaf column {position}"
        property_, value = map(quote, indexing.including(path, name))
        statement = f"ALTER TABLE {self.table} SET TBLPROPERTIES ({property_} = {value})"
        return Exclusion(indexing.setting, position, f"the table says {indexing.setting}, and {place}", statement)

    @property
    def nan_advice(self) -> str:
        return "if every writer keeps NaN in the maximum, as Delta Spark does, say --nan-policy spark-writers"

    def purge_deleted_rows(self) -> str:
        return f"REORG TABLE {self.table} APPLY (PURGE)"
