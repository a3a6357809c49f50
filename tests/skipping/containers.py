"""One container, judged by both engines: the reference in plain Python and the printed SQL on DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
from pyspark.sql import SparkSession

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.duckdb.dialect import DuckDBDialect
from lakeprune.engines.reference import Container, Domain, holds
from lakeprune.engines.spark.dialect import SparkDialect
from lakeprune.formats.relation import Needs, relation_of
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.plan import Bit
from lakeprune.values.types import Family

CARRIERS = {
    Family.BOOLEAN: "BOOLEAN",
    Family.INTEGER: "BIGINT",
    Family.REAL: "DOUBLE",
    Family.TEXT: "STRING",
    Family.BYTES: "BINARY",
}


class SqlEngine:
    """Prints facts and asks DuckDB about one-row relations."""

    def __init__(self) -> None:
        self._dialect: Dialect = DuckDBDialect()
        self._connection = duckdb.connect(config={"threads": 1})

    def judge(self, bits: Sequence[Bit], domains: Mapping[Seen, Domain]) -> list[bool]:
        """Each bit as DuckDB sees it."""
        asked = ", ".join(self._asked(bits, domains))
        row = self._connection.execute(f"SELECT {asked} FROM (SELECT {self.relation(domains)})").fetchone()
        assert row is not None
        assert set(row) <= {0, 1}, "a bit is set or it is not"
        return [value == 1 for value in row]

    def _asked(self, bits: Sequence[Bit], domains: Mapping[Seen, Domain]) -> list[str]:
        printer = FactPrinter(self._dialect, relation_of(Needs(tuple(domains))), {})
        return [printer.bit(bit, 1) for bit in bits]

    def relation(self, domains: Mapping[Seen, Domain]) -> str:
        return ", ".join(part for k, (column, domain) in enumerate(domains.items()) for part in self._columns(k, column, domain))

    def _columns(self, k: int, column: Seen, domain: Domain) -> list[str]:
        family = column.type.family
        assert family is not None
        carrier = CARRIERS.get(family) or f"DECIMAL(38,{column.type.scale})"
        made = []
        for side, value in (("lo", domain.lo), ("hi", domain.hi)):
            text = "NULL" if value is None else self._dialect.literal(value, family)
            made.append(f"CAST({text} AS {carrier}) AS c{k}_{side}")
        flags = {
            "truncated": domain.truncated,
            "no_null": domain.no_null,
            "all_null": domain.all_null,
            "nan_free": domain.nan_free,
            "counted": domain.counted,
            "has_nan": domain.has_nan,
        }
        return made + [f"{str(flag).upper()} AS c{k}_{name}" for name, flag in flags.items()]


class SparkSqlEngine(SqlEngine):
    """The same on Spark: all containers in one query, since a query costs a good part of a second there."""

    def __init__(self, spark: SparkSession) -> None:
        self._dialect = SparkDialect()
        self._spark = spark

    def judge_all(self, asked: Sequence[tuple[Sequence[Bit], Mapping[Seen, Domain]]]) -> list[list[bool]]:
        selects = [
            f"SELECT {n} AS n, {', '.join(self._asked(bits, domains))} FROM (SELECT {self.relation(domains)})"
            for n, (bits, domains) in enumerate(asked)
        ]
        rows = self._spark.sql(" UNION ALL ".join(selects)).collect()
        assert all(set(row[1:]) <= {0, 1} for row in rows), "a bit is set or it is not"
        return [[value == 1 for value in row[1:]] for row in sorted(rows, key=lambda row: int(row[0]))]


def judge_by_reference(bits: Sequence[Bit], domains: Mapping[Seen, Domain]) -> list[bool]:
    return [holds(bit.fact, Container(domains, {}), bit.lift) for bit in bits]
