"""What a location may be: a folder, a glob, a file, with Hive folders; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lakeprune
from lakeprune.cli.main import main
from lakeprune.formats.parquet import hive
from tests.builders.delta import write_log
from tests.formats.parquet.files import verdicts, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "t/year=2023/month=03/a.parquet", {"id": [1, 2]})
    write(tmp_path / "t/year=2024/month=11/b.parquet", {"id": [3, 4]})
    write(tmp_path / "t/year=__HIVE_DEFAULT_PARTITION__/month=12/c.parquet", {"id": [5, None]})
    return tmp_path / "t"


A, B, C = "year=2023/month=03/a.parquet", "year=2024/month=11/b.parquet", "year=__HIVE_DEFAULT_PARTITION__/month=12/c.parquet"


def test_folder(folder: Path) -> None:
    assert verdicts(folder, "id > 2") == {A: "DROP", B: "FULL", C: "KEEP"}
    assert verdicts(folder, "year = 2023") == {A: "FULL", B: "DROP", C: "DROP"}
    assert verdicts(folder, "year IS NULL") == {A: "DROP", B: "DROP", C: "FULL"}
    assert verdicts(folder, "month = 3 OR id IS NULL") == {A: "FULL", B: "DROP", C: "KEEP"}
    assert verdicts(folder, "year % 2 = 0") == {A: "DROP", B: "FULL", C: "DROP"}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("year=202*/**/*.parquet", {A, B}), ("**/*.parquet", {A, B, C}), ("year=202?", {A, B}), ("*/month=11/*", {B})],
)
def test_glob(folder: Path, pattern: str, found: set[str]) -> None:
    assert verdicts(f"{folder}/{pattern}", "id > 0").keys() == found


def test_glob_without_a_match(folder: Path) -> None:
    with pytest.raises(lakeprune.TableError, match="no file matches") as caught:
        lakeprune.explain(f"{folder}/*.parq")
    assert caught.value.code == "LP301"


def test_file(folder: Path) -> None:
    assert verdicts(folder / A, "id = 2") == {"a.parquet": "KEEP"}
    assert verdicts(folder / A, "id = 3") == {"a.parquet": "DROP"}


def test_odd_names_of_folders(tmp_path: Path) -> None:
    names = ["New York", "a%2Fb", "50%", "%C3%A9", "", 'it\'s "x"']
    for number, name in enumerate(names):
        write(tmp_path / f"t/city={name}/{number}.parquet", {"id": [number]})

    def kept(where: str) -> set[int]:
        return {int(path[-9]) for path, word in verdicts(tmp_path / "t", where).items() if word != "DROP"}

    assert kept("city = 'New York'") == {0, 3, 4}  # what readers decode differently is unknown
    assert kept("city = 'a/b'") == {1, 3, 4}
    assert kept("city = '50%'") == {2, 3, 4}
    assert kept("city = 'it''s \"x\"'") == {3, 4, 5}
    assert kept("city IS NULL") == {3, 4}


@pytest.mark.parametrize(
    ("texts", "where", "kept"),
    [
        (["1", "02"], "p = 2", {"02"}),
        (["1", "30000000000"], "p > 5", {"30000000000"}),
        (["2024-01-05", "2024-02-05"], "p < '2024-02-01'", {"2024-01-05"}),
        (["2024-01-05", "2024-02-30"], "p < '2024-02-01'", {"2024-01-05"}),
        (["1", "x"], "p = '1'", {"1"}),
        (["2024-01", "2024-02"], "p = '2024-02'", {"2024-02"}),
        (["2024-01", "2024-02"], "p < '2024-01-01'", {"2024-01"}),  # text to Spark, too
        (["2024-1-5", "2024-01-06"], "p = '2024-1-5'", {"2024-1-5"}),
        (["10.5", "x"], "p > '9'", {"x"}),
    ],
)
def test_types_of_partition_columns(tmp_path: Path, texts: list[str], where: str, kept: set[str]) -> None:
    for text in texts:
        write(tmp_path / f"p={text}/f.parquet", {"id": [1]})
    assert {path.split("/")[0][2:] for path, word in verdicts(tmp_path, where).items() if word == "FULL"} == kept


# values | a condition that Spark finds satisfied, and a comparison of texts does not
GUESSED = [
    (["10.5"], "p > '9'"),
    (["9", "10.5"], "p > '9'"),
    (["1e3"], "p = '1000'"),
    (["+5"], "p = '5'"),
    (["99999999999999999999"], "p = '099999999999999999999'"),
    (["2024-01-01 10%3A00%3A00"], "p > '2024-01-01T00:00:00'"),
    (["2024-01-01 10%3A00%3A00"], "p = '2024-01-01 10:00:00.0'"),
    (["2024-01-01", "2024-01-02 10%3A00%3A00"], "p > '2024-01-02T00:00:00'"),
]


@pytest.mark.parametrize(("texts", "where"), GUESSED)
def test_values_that_spark_takes_for_numbers_or_times_are_not_compared_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], where: str
) -> None:
    """T97, and its negative control."""
    for text in texts:
        write(tmp_path / f"p={text}/f.parquet", {"id": [1]})
    assert set(verdicts(tmp_path, where).values()) == {"KEEP"}
    (clause,) = lakeprune.explain(tmp_path, where).clauses
    assert "numbers or times" in str(clause)
    assert set(verdicts(tmp_path, "p IS NULL").values()) == {"DROP"}
    monkeypatch.setattr(hive, "_is_ambiguous", lambda _texts: False)
    assert "DROP" in verdicts(tmp_path, where)[f"p={texts[-1]}/f.parquet"]


def test_a_folder_shadows_the_column_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "x=1/f.parquet", {"x": [5]})
    assert verdicts(tmp_path, "x = 1") == {"x=1/f.parquet": "FULL"}


def test_a_file_outside_the_partition_folders_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "p=1/f.parquet", {"id": [1]})
    write(tmp_path / "g.parquet", {"id": [1]})
    assert verdicts(tmp_path, "p = 2") == {"p=1/f.parquet": "DROP", "g.parquet": "KEEP"}


def test_hidden_and_other_files(tmp_path: Path) -> None:
    write(tmp_path / "f.parquet", {"id": [1]})
    for name in ("_SUCCESS", ".f.parquet.crc", "_temporary/x.parquet", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    report = lakeprune.explain(tmp_path, "id = 1")
    assert [file.path for file in report.files] == ["f.parquet"]
    assert [note.code for note in report.facts.notes] == ["other_files_ignored"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1junkPAR1", b"x" * 1000])
def test_broken_footer(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.parquet", {"id": [1]})
    (tmp_path / "b.parquet").write_bytes(content)
    assert main(["explain", str(tmp_path), "-w", "id = 1"]) == 3
    message = capsys.readouterr().err
    assert "error[LP306]" in message
    assert str(tmp_path / "b.parquet") in message


def test_truncated_file(tmp_path: Path) -> None:
    place = write(tmp_path / "a.parquet", {"id": [1]})
    place.write_bytes(place.read_bytes()[:-20])
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(place)
    assert (caught.value.code, caught.value.where) == ("LP306", str(place))


def test_empty_folder_is_reported_as_before(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(lakeprune.TableError, match="not a Delta table: it has no _delta_log") as caught:
        lakeprune.explain(tmp_path)
    assert caught.value.code == "LP305"


def test_folder_above_a_delta_table(tmp_path: Path) -> None:
    write_log(tmp_path / "table", [])
    (tmp_path / "table/_delta_log").mkdir(parents=True, exist_ok=True)
    write(tmp_path / "table/f.parquet", {"id": [1]})
    with pytest.raises(lakeprune.TableError, match="contains a Delta table") as caught:
        lakeprune.explain(tmp_path)
    assert caught.value.code == "LP351"


def test_folder_of_an_iceberg_table(tmp_path: Path) -> None:
    write(tmp_path / "flights/data/f.parquet", {"id": [1]})
    (tmp_path / "flights/metadata").mkdir()
    (tmp_path / "flights/metadata/v1.metadata.json").write_text("{}")
    with pytest.raises(lakeprune.TableError, match="contains an Iceberg table"):
        lakeprune.explain(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "table"), [("metadata/v1.metadata.json", "an Iceberg table"), ("_delta_log/0.json", "a Delta table")]
)
def test_a_folder_inside_a_table_may_hold_files_that_are_deleted(tmp_path: Path, metadata: str, table: str) -> None:
    write(tmp_path / "flights/data/day=1/f.parquet", {"id": [1]})
    (tmp_path / "flights" / metadata).parent.mkdir()
    (tmp_path / "flights" / metadata).write_text("{}")
    with pytest.raises(lakeprune.TableError, match=f"lies inside {table}") as caught:
        lakeprune.explain(tmp_path / "flights/data")
    assert caught.value.code == "LP351"
    assert lakeprune.explain(tmp_path / "flights/data/day=1/*.parquet").numbers.total.files == 1


def test_there_is_one_version(folder: Path) -> None:
    with pytest.raises(lakeprune.TableError, match="one version") as caught:
        lakeprune.explain(folder, version=3)
    assert caught.value.code == "LP312"


def test_links_that_lead_back_are_not_followed(folder: Path) -> None:
    (folder / "year=2023/loop").symlink_to(folder)
    assert len(verdicts(folder, "id > 0")) == 3


def test_every_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["-w", "id > 2 AND year = 2024"]
    assert main(["explain", str(folder), *where, "-v", "--explain-why"]) == 0
    text = capsys.readouterr().out
    assert f"\n\nParquet files: {folder}\nPredicate:" in text
    assert "Data skipping (Parquet footers)" in text
    assert "Version" not in text
    assert main(["explain", str(folder), *where, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"]) == ("parquet", None)
    assert main(["explain", str(folder), *where, "--format", "html"]) == 0
    assert "Parquet files" in capsys.readouterr().out
