"""Python: real signatures, numbers under the document's names, gates as values, pickling, Arrow, notebooks, comparing."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import lakeprune
import lakeprune.spark
from lakeprune.apps.explain.opening import Options
from lakeprune.report.document import WHOLE
from lakeprune.report.explanation import Explanation
from lakeprune.report.model import FileReport
from lakeprune.testing import assert_prunes
from tests.builders import delta
from tests.builders.iceberg import flights

WHERE = "country = 'DE' AND age > 40"
FUNCTIONS: list[Callable[..., Any]] = [
    lakeprune.explain,
    lakeprune.explain_many,
    lakeprune.diff,
    lakeprune.verify,
    lakeprune.audit,
    lakeprune.update,
    lakeprune.delete,
    lakeprune.merge,
    lakeprune.spark.explain,
    assert_prunes,
]
NOT_ATTRIBUTES = {  # fields that Python has as richer values, or under the name of what they are
    "assertions", "clauses", "analysis", "credits", "stats", "table_features", "catalog", "notes", "result", "explain", "fetched",
    "files_truncated", "clauses_counted_at", "engines", "row_groups", "files_without_rows", "files_without_bytes",
    "total_rows_at_most", "final_rows_at_most", "phases", "files",
}  # fmt: skip


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("api") / "users")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_a_signature_names_every_option_and_help_describes_it(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    assert not [name for name, one in parameters.items() if one.kind is inspect.Parameter.VAR_KEYWORD]
    described = (function.__doc__ or "").partition("Options:")[2]
    optional = [name for name, one in parameters.items() if name not in inspect.signature(inspect.unwrap(function)).parameters]
    assert optional
    assert [name for name in optional if f"    {name}: " not in described] == []


def test_explain_names_all_of_its_options() -> None:
    assert set(Options.__annotations__) <= set(inspect.signature(lakeprune.explain).parameters)


def test_an_option_that_is_none_was_not_given(users: Path) -> None:
    nothing: Any = dict.fromkeys(Options.__annotations__)
    assert lakeprune.explain(users, WHERE, **nothing).kept_files == lakeprune.explain(users, WHERE).kept_files


def test_importing_lakeprune_still_costs_nothing() -> None:
    program = "import sys, lakeprune; print(sorted({'msgspec', 'typing', 'inspect', 'duckdb', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, cwd="src")
    assert done.stdout.strip() == "[]"


def test_numbers_have_the_names_of_the_document(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    document = report.to_struct(WHOLE)
    names = [field.name for field in msgspec.structs.fields(Explanation) if field.name not in NOT_ATTRIBUTES]
    assert len(names) > 15
    for name in names:
        assert getattr(report, name) == getattr(document, name), name
    assert (report.kept_files, report.pruning_pct) == (document.final_files, document.total_pruning_pct)
    assert all(hasattr(report, name) or name in ("analysis", "credits", "stats", "table_features", "catalog", "notes", "result",
               "explain", "fetched", "files_truncated", "clauses_counted_at", "files_without_rows", "files_without_bytes",
               "total_rows_at_most", "final_rows_at_most") for name in NOT_ATTRIBUTES)  # fmt: skip


def test_fields_of_a_file_have_the_names_of_the_document() -> None:
    assert [field.name for field in msgspec.structs.fields(FileReport)] == [
        field.encode_name for field in msgspec.structs.fields(FileReport)
    ]


def test_kept_and_dropped_are_the_two_halves_of_the_files(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    assert {file.path for file in report.kept} | {file.path for file in report.dropped} == {file.path for file in report.files}
    assert len(report.kept) == report.kept_files == 1
    assert len(report.dropped) == report.dropped_files == 5
    assert all(file.kept for file in report.kept)
    assert not any(file.kept for file in report.dropped)


def test_without_a_predicate_every_file_is_kept(users: Path) -> None:
    report = lakeprune.explain(users)
    assert (len(report.kept), report.dropped) == (6, [])


def test_a_listing_is_sorted_by_size_and_finds_one_file(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    sizes = [file.size_bytes for file in report.listing(sort="size")]
    assert sizes == sorted(sizes, reverse=True)
    assert [file.size_bytes for file in report.listing(2, sort="size")] == sizes[:2]
    path = report.kept[0].path
    for name in (path, path.rpartition("/")[2]):
        assert [file.path for file in report.listing(file=name)] == [path]
    for name in (path[1:], "%", "nothing", ""):
        with pytest.raises(lakeprune.UsageError, match="LP260"):
            next(report.listing(file=name))
    with pytest.raises(lakeprune.UsageError, match="give one of all, kept, dropped"):
        report.listing(which="some")


def test_gates_are_values_until_somebody_checks(users: Path) -> None:
    good, bad = (lakeprune.explain(users, WHERE, min_pruning=least) for least in (80, 90))
    assert good
    assert good.check() is good
    assert not bad
    with pytest.raises(lakeprune.GateFailed, match=r"1 gate failed: total pruning 83\.3% is below threshold 90\.0%") as found:
        bad.check()
    assert found.value.exit_code == 1
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(lakeprune.explain(users, WHERE))


@pytest.mark.parametrize("options", [{}, {"row_groups": True}, {"explain_why": True, "min_pruning": 80}])
def test_a_pickled_report_says_the_same(users: Path, options: Any) -> None:
    for where in (WHERE, None) if not options else (WHERE,):
        report = lakeprune.explain(users, where, **options)
        again = pickle.loads(pickle.dumps(report))  # noqa: S301  # our own
        assert again.to_text(verbose=True) == report.to_text(verbose=True)
        assert again.to_json(verbose=True) == report.to_json(verbose=True)
        assert again.to_html() == report.to_html()
        assert pickle.loads(pickle.dumps(again)).files == report.files  # noqa: S301


def test_a_pickled_report_on_an_iceberg_table_says_the_same(tmp_path: Path) -> None:
    table = flights(tmp_path / "flights")
    column = lakeprune.explain(table).facts.schema.fields[0].name
    report = lakeprune.explain(table, f"{column} IS NOT NULL")
    assert pickle.loads(pickle.dumps(report)).to_json(verbose=True) == report.to_json(verbose=True)  # noqa: S301


def test_a_pickled_report_has_no_storage_options(users: Path) -> None:
    report = lakeprune.explain(users, WHERE, storage_options={"aws_secret_access_key": "TOPSECRET"})
    assert b"TOPSECRET" not in pickle.dumps(report)


def test_another_process_lists_the_files(users: Path, tmp_path: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    (tmp_path / "report").write_bytes(pickle.dumps(report))
    program = "import pickle; print(len(pickle.load(open('report', 'rb')).kept))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_arrow_has_the_columns_of_the_document_and_pandas_and_polars_read_it(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    table = report.to_arrow()
    fields = [field.name for field in msgspec.structs.fields(FileReport) if field.name != "row_groups"]
    assert table.column_names == fields
    frame = table.to_pandas()
    assert frame[frame.kept].path.tolist() == [file.path for file in report.kept]
    assert dict(frame.partition_values[0]) == report.files[0].partition_values
    polar = pl.from_arrow(table)
    assert isinstance(polar, pl.DataFrame)
    assert polar["size_bytes"].sum() == report.total_bytes
    assert report.to_arrow(which="kept").num_rows == 1


def test_a_notebook_shows_the_diagnoses_and_escapes_them(users: Path) -> None:
    report = lakeprune.explain(users, "age + 1 > 40 AND name != '<b>'", explain_why=True)
    shown = report._repr_html_()
    assert report.diagnoses
    assert all(diagnosis.code in shown for diagnosis in report.diagnoses[:5])
    assert "<b>" not in shown
    assert "ENGINE_DIFFERS" not in lakeprune.explain(users, "age + 1 > 40")._repr_html_()


def test_many_reports_are_one_table_in_a_notebook_and_are_checked_together(users: Path) -> None:
    reports = lakeprune.explain_many(users, ["age > 40", "age > 90"], max_files=3)
    assert reports._repr_html_().count("<tr>") == 3
    assert reports.check() is reports
    assert reports.passed
    with pytest.raises(lakeprune.GateFailed):
        lakeprune.explain_many(users, ["age > 90", "age > 0"], max_files=3).check()


def test_two_reports_and_two_versions_are_compared(users: Path) -> None:
    before, after = (lakeprune.explain(users, "age > 40", version=version) for version in (3, 5))
    change = lakeprune.diff(before, after)
    document = change.to_dict()
    assert document["total_files"] == {"before": 4, "after": 6}
    assert document["final_files"] == {"before": before.kept_files, "after": after.kept_files}
    assert document["version"] == {"before": 3, "after": 5}
    assert lakeprune.diff(3, 5, table=users, where="age > 40").to_dict()["final_files"] == document["final_files"]
    assert "Version:     3 -> 5" in str(change)
    assert not change.is_worse, "half of the files each, and shares of bytes that differ by less than a tenth of a percent"
    assert re.search(r"bytes to read  [\d.]+ KB \(50\.\d% pruned\) -> ", str(change))
    assert not lakeprune.diff(after, after).is_worse
    assert lakeprune.diff(lakeprune.explain(users, WHERE), lakeprune.explain(users)).is_worse


def test_diff_refuses_what_it_cannot_compare(users: Path) -> None:
    report = lakeprune.explain(users, "age > 40")
    for arguments, options in (((report, 3), {}), ((3, 5), {}), ((report, report), {"table": users})):
        odd: Any = options
        with pytest.raises(lakeprune.UsageError, match="LP261"):
            lakeprune.diff(*arguments, **odd)


def test_assert_prunes_passes_or_says_why(users: Path) -> None:
    assert assert_prunes(users, WHERE, min_pruning=80).kept_files == 1
    with pytest.raises(AssertionError) as found:
        assert_prunes(users, "age + 1 > 40")
    message = str(found.value)
    assert "below threshold 90.0%" in message
    assert "Metadata allows 3 of 6 files" in message
    assert "Delta Spark 4.4 reads 6 files" in message
    assert "[ENGINE_DIFFERS]" in message
    with pytest.raises(AssertionError, match="below the demanded 1"):
        assert_prunes(users, "country = 'de'")
    assert assert_prunes(users, "age > 40", max_files=3).kept_files == 3
