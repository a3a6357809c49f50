"""Ask a real Spark what predicates mean, row by row, and keep its answers in tests/predicate/spark_answers.json.

Run by hand, not by any target: it needs Java 17 and pyspark, which are no dependencies of this project.

    python -m venv spark && spark/bin/pip install pyspark==4.1.4
    spark/bin/python -m tools.record_spark_answers            # all tables, or only those named: ... date timestamp

Each predicate of tools/spark_battery.py is a column of a SELECT over a table of literals, in three zones, with ANSI mode on
and off. An answer is a text with one letter per row: T, F, N (NULL), e (an error on this row) or ? (no
boolean); "-" when Spark refuses the predicate itself. tests/predicate/test_spark_answers.py replays them without Spark.
"""

from __future__ import annotations

import json
import logging
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.spark_battery import TABLES, predicates

ANSWERS = Path(__file__).parent.parent / "tests" / "predicate" / "spark_answers.json"
ZONES = ("UTC", "America/St_Johns", "Europe/Berlin")
MODES = [(zone, ansi) for zone in ZONES for ansi in (True, False)]
ZONED = frozenset({"string", "date", "timestamp", "timestamp_ntz", "mixed", "clock", "words"})  # zones mean nothing to the others
BATCH = 25
REFUSED = "-"


class Session:
    """One Spark session, and the ways to ask it."""

    def __init__(self) -> None:
        sql = import_module("pyspark.sql")
        self._failure: type[Exception] = import_module("pyspark.errors").PySparkException
        self._functions: Any = import_module("pyspark.sql.functions")
        self._column: Any = import_module("pyspark.sql.classic.column").Column
        builder: Any = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        self._spark: Any = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        self._spark.sparkContext.setLogLevel("OFF")
        logging.disable(logging.CRITICAL)  # pyspark logs every failed query with its stack trace
        self.version: str = self._spark.version

    def set_mode(self, zone: str, *, ansi: bool) -> None:
        self._spark.conf.set("spark.sql.session.timeZone", zone)
        self._spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
        for name, (columns, rows) in TABLES.items():
            values = ", ".join(f"({', '.join([str(n), *map(literal, row, columns.values())])})" for n, row in enumerate(rows))
            self._spark.sql(f"SELECT * FROM VALUES {values} AS t(row_index, {', '.join(columns)})").createOrReplaceTempView(name)

    def answers(self, table: str, texts: list[str]) -> list[str]:
        """The answers to a batch of predicates; when Spark refuses one of them, the halves are asked."""
        try:
            return self._ask(table, texts)
        except self._failure:
            if len(texts) == 1:
                return [REFUSED]
        half = len(texts) // 2
        return [*self.answers(table, texts[:half]), *self.answers(table, texts[half:])]

    def _ask(self, table: str, texts: list[str]) -> list[str]:
        """Two columns per predicate: its value and whether it is NULL. Where it fails, both are NULL."""
        columns = [self._tried(f"(\n{text}\n){test}") for text in texts for test in ("", " IS NULL")]
        rows = self._spark.table(table).select("row_index", *columns).collect()
        return ["".join(_letter(*row[2 * n + 1 : 2 * n + 3]) for row in sorted(rows, key=_first)) for n in range(len(texts))]

    def _tried(self, text: str) -> Any:
        """The expression inside Spark's own TryEval, which is NULL where its argument raises."""
        jvm = self._spark._jvm  # noqa: SLF001  # Python has no other way to TryEval
        bridge = jvm.org.apache.spark.sql.classic.ExpressionUtils
        inside = bridge.expression(self._functions.expr(text)._jc)  # noqa: SLF001
        return self._column(bridge.column(jvm.org.apache.spark.sql.catalyst.expressions.TryEval(inside)))


def _first(row: Any) -> int:
    return int(row[0])


def _letter(value: object, is_null: bool | None) -> str:
    if value is not None:
        return {True: "T", False: "F"}.get(value, "?") if isinstance(value, bool) else "?"
    return "N" if is_null else "e"


def literal(value: object, type_: str) -> str:
    """SQL for a canonical value that depends on no zone and no escape."""
    if value is None:
        return f"CAST(NULL AS {type_})"
    match type_:
        case "string":
            return f"CAST(X'{str(value).encode().hex()}' AS STRING)"
        case "binary":
            return f"X'{value}'"
        case "date":
            return f"date_from_unix_date({value})"
        case "timestamp":
            return f"timestamp_micros({value})"
        case "timestamp_ntz":
            return (
                f"(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, CAST({value} / 1000000BD AS DECIMAL(18,6))))"
            )
        case _:
            return f"CAST('{value}' AS {type_})"


def record(session: Session, names: list[str]) -> dict[str, Any]:
    """The answers of these tables: per predicate one text where every mode agrees, one per mode where not."""
    asked: dict[str, list[str]] = {name: [] for name in names}
    for table, text in predicates():
        if table in asked:
            asked[table].append(text)
    found: dict[tuple[str, str], list[str]] = {}
    for zone, ansi in MODES:
        session.set_mode(zone, ansi=ansi)
        for table, texts in asked.items():
            if zone == ZONES[0] or table in ZONED:
                _ask_all(session, table, texts, found)
            print(zone, "ANSI" if ansi else "plain", table, file=sys.stderr, flush=True)
    return {
        "spark": session.version,
        "modes": MODES,
        "tables": {
            name: {
                "columns": columns,
                "rows": rows,
                "answers": {text: _folded(found[name, text]) for text in asked[name]},
            }
            for name, (columns, rows) in TABLES.items()
            if name in asked
        },
    }


def _ask_all(session: Session, table: str, texts: list[str], found: dict[tuple[str, str], list[str]]) -> None:
    """One mode's answers added to `found`; what both modes of the first zone refuse is refused in every zone."""
    hopeless = {text for text in texts if found.get((table, text), [])[:2] == [REFUSED, REFUSED]}
    hopeful = [text for text in texts if text not in hopeless]
    for start in range(0, len(hopeful), BATCH):
        batch = hopeful[start : start + BATCH]
        for text, answer in zip(batch, session.answers(table, batch), strict=True):
            found.setdefault((table, text), []).append(answer)
    for text in hopeless:
        found[table, text].append(REFUSED)


def _folded(answers: list[str]) -> str | list[str]:
    """One text when all modes agree; the first two modes alone when the zones agree with them."""
    if len(set(answers)) == 1:
        return answers[0]
    return answers[:2] if answers == answers[:2] * (len(answers) // 2) else answers


def written(answers: object) -> str:
    """JSON with one predicate to a line."""
    return json.dumps(answers, ensure_ascii=True, indent=0, separators=(",", ":")) + "\n"


def main(names: list[str]) -> None:
    """Record all tables, or only those named, and leave the answers about the others as they are."""
    found = record(Session(), names or list(TABLES))
    if names:
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))["tables"]
        both = {**kept, **found["tables"]}
        found["tables"] = {name: both[name] for name in TABLES if name in both}
    ANSWERS.write_text(written(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
