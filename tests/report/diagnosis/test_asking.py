"""Asking why: from the command line and from Python, in text and JSON, at no cost to those who do not ask."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import lakeprune
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import Row
from lakeprune.report.model import Diagnosis
from tests.builders.delta import add, metadata, protocol, statistics, users, users_flat, write_log
from tests.report.diagnosis.asking import explained
from tools.generate_schema import target

HOSTILE = "a`b\x1b[31m <i>\n"


def test_text_and_json_tell_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lakeprune.cli.main import main

    table = str(users_flat(tmp_path / "flat"))
    where = "age != 30 AND lower(name) = 'x'"
    assert main(["explain", table, "-w", where, "--explain-why", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(target("explain").read_text(encoding="utf-8")))
    assert main(["explain", table, "-w", where, "--explain-why"]) == 0
    text = capsys.readouterr().out
    assert [entry["code"] for entry in document["explain"]] == ["OPAQUE_EXPRESSION", "SMALL_FILES", "EXCLUDES_LITTLE"]
    for entry in document["explain"]:
        assert f"[{entry['code']}] {entry['severity']}: {entry['message']}" in text
        assert entry["suggestion"] in text
        assert entry["rewrite"] is None or entry["rewrite"] in text


def test_who_does_not_ask_gets_no_diagnoses_and_pays_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = users_flat(tmp_path / "flat")
    asked: list[str] = []
    plain = DuckDBEngine.query

    def query(self: DuckDBEngine, sql: str) -> list[Row]:
        asked.append(sql)
        return plain(self, sql)

    monkeypatch.setattr(DuckDBEngine, "query", query)
    report = lakeprune.explain(table, "age = 30")
    assert report.diagnoses is None
    assert "explain" not in report.to_dict()
    assert len(asked) == 1
    explained(table, "age = 30")
    assert len(asked) > 2


def test_who_does_not_ask_does_not_import_the_diagnoses(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    code = (
        'import sys, lakeprune; lakeprune.explain(sys.argv[1], "age > 40").to_text()\n'
        "print([name for name in sys.modules if 'diagnosis' in name or 'sargable' in name or 'overlap' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(table)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_predicate_there_is_nothing_to_say(tmp_path: Path) -> None:
    report = lakeprune.explain(users(tmp_path / "users"), explain_why=True)
    assert report.diagnoses == ()
    assert "Why:" not in report.to_text()


def test_an_empty_table_is_diagnosed_without_a_fuss(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[protocol(), metadata({"x": "long", "p": "integer", "f": "double"}, ["p"])]])
    for where in ("x = 5", "p = 1 OR x = 3", "lower(CAST(x AS STRING)) = 'a'", "f > 1", "x IN (1, 2) AND f IS NULL"):
        for diagnosis in explained(table, where).diagnoses or ():
            assert diagnosis.code in ("UNSPLITTABLE_OR", "OPAQUE_EXPRESSION")


def test_many_predicates_are_each_diagnosed(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    wheres = ["age > 5 AND age < 3", "country = 'DE' AND age > 40", "country = 'DE' OR age IN (18, 65)"]
    together = lakeprune.explain_many(table, wheres, explain_why=True)
    assert [report.diagnoses for report in together] == [explained(table, where).diagnoses for where in wheres]


def test_warnings_come_first(tmp_path: Path) -> None:
    found = explained(users(tmp_path / "users"), "1 = 1 AND (country = 'DE' OR age IN (18, 65))").diagnoses or ()
    assert [d.severity.value for d in found] == sorted((d.severity.value for d in found), reverse=True)
    assert len(found) == 3


def hostile(tmp_path: Path) -> Path:
    columns = {HOSTILE: "double", f"{HOSTILE}2": "string", f"p{HOSTILE}": "string"}
    files = [
        add(f"{i}", partition={f"p{HOSTILE}": f"v{HOSTILE}{i}"}, stats=statistics(9, **{HOSTILE: (0.0, 9.0, 0)}))
        for i in range(3)
    ]
    return write_log(tmp_path / "t`x", [[protocol(), metadata(columns, [f"p{HOSTILE}"]), *files]])


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    name = f"`{HOSTILE.replace('`', '``')}`"
    other, partition = f"`{HOSTILE.replace('`', '``')}2`", f"`p{HOSTILE.replace('`', '``')}`"
    where = f"{name} = 5 AND lower({other}) = 'x' AND ({partition} = 'a' OR {name} > 3) AND {name} > 7 AND {other} > 'b'"
    report = explained(hostile(tmp_path), where)
    assert len(report.diagnoses or ()) >= 4
    text = report.to_text()
    assert "\x1b" not in text
    assert all(line.isprintable() for line in text.split("\n"))
    jsonschema.validate(report.to_dict(), json.loads(target("explain").read_text(encoding="utf-8")))


def test_names_in_a_rewrite_are_quoted_so_that_it_reads_back(tmp_path: Path) -> None:
    columns = {"order": "long", "odd`name": "timestamp"}
    stats = {
        "numRecords": 1,
        "minValues": {"odd`name": "2024-05-01T00:00:00.000Z"},
        "maxValues": {"odd`name": "2024-05-01T00:00:00.000Z"},
    }
    files = [add("a", stats=stats)]
    table = write_log(tmp_path / "t", [[protocol(), metadata(columns), *files]])
    found = [d for d in explained(table, "date_format(`odd``name`, 'yyyy') = '2023'").diagnoses or () if d.rewrite]
    assert found[0].rewrite == "`odd``name` >= '2023-01-01' AND `odd``name` < '2024-01-01'"
    assert lakeprune.explain(table, found[0].rewrite).numbers.kept.files == 0


def test_a_very_long_clause_is_cut_in_the_message_only(tmp_path: Path) -> None:
    names = ", ".join(f"'user-{i:04}'" for i in range(15))
    (found,) = [d for d in explained(users_flat(tmp_path / "flat"), f"lower(name) IN ({names})").diagnoses or ()
                if d.code == "OPAQUE_EXPRESSION"]  # fmt: skip
    assert found.clause is not None
    assert len(found.clause) > 150
    assert "user-0014" in found.clause
    assert "user-0014" not in found.message


def test_a_list_of_thousands_is_diagnosed(tmp_path: Path) -> None:
    numbers = ", ".join(str(3 * i) for i in range(5000))
    found = explained(users_flat(tmp_path / "flat"), f"age IN ({numbers})").diagnoses
    assert found is not None
    assert all(isinstance(diagnosis, Diagnosis) for diagnosis in found)
