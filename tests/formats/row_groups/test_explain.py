"""`--row-groups` as a user meets it: what is left, where it lies, who gets the credit, and what is never read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from demo.delta_log import add, deletion_vector, featured, statistics
from lakeprune.cli.main import main
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.row_groups.snapshot import RowGroupSnapshot
from lakeprune.programs import row_groups
from tests.formats.row_groups.delta import delta_of, files, groups

COLUMNS = {"country": "string", "x": "long", "y": "long"}


def parts(root: Path) -> Path:
    """Two partitions of 100 rows in ten row groups: x counts up, y counts down."""
    root.mkdir()
    actions = []
    for number, country in enumerate(["DE", "FR"]):
        first = 100 * number
        rows = pa.table({"x": list(range(first, first + 100)), "y": list(range(first + 99, first - 1, -1))})
        pq.write_table(rows, root / f"{country}.parquet", row_group_size=10)
        stats = statistics(100, x=(first, first + 99, 0), y=(first, first + 99, 0))
        size = (root / f"{country}.parquet").stat().st_size
        actions.append(add(f"{country}.parquet", stats, size=size, partition={"country": country}))
    return delta_of(root, COLUMNS, actions, partition_by=["country"])


def test_an_or_of_a_partition_leg_and_a_data_leg_prunes_row_groups(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    found = files(table, "country = 'DE' OR x = 155")
    left = {path: [group.id for group in file.row_groups if group.kept] for path, file in found.items()}  # type: ignore[union-attr]
    assert left == {"DE.parquet": list(range(10)), "FR.parquet": [5]}
    assert {group.credit for group in found["FR.parquet"].row_groups if not group.kept} == {"joint"}  # type: ignore[union-attr]


def test_row_groups_are_listed_with_their_bytes_as_the_footer_has_them(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    document = lakeprune.explain(table, "x = 42", row_groups=True).to_dict(verbose=True)
    (kept,) = [file for file in document["files"] if file["kept"]]
    (left,) = [group for group in kept["row_groups"] if group["kept"]]
    metadata = pq.ParquetFile(table / "DE.parquet").metadata.row_group(4)
    chunks = [metadata.column(number) for number in range(metadata.num_columns)]
    starts = [min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset))) for chunk in chunks]
    assert (left["id"], left["start"], left["rows"]) == (4, min(starts), 10)
    assert left["end"] == max(start + chunk.total_compressed_size for start, chunk in zip(starts, chunks, strict=True))
    assert left["bytes"] == sum(chunk.total_compressed_size for chunk in chunks)
    assert left["needed_bytes"] == chunks[0].total_compressed_size
    assert (left["verdict"], left["clause"], left["reason"]) == ("KEEP", "x = 42", "RANGES_OVERLAP")
    dropped = [group for group in kept["row_groups"] if not group["kept"]]
    assert {(group["credit"], group["clause"]) for group in dropped} == {("row_group", "x = 42")}
    assert "row_groups" not in next(file for file in document["files"] if not file["kept"])


def test_a_file_that_loses_all_row_groups_is_dropped_and_credited_to_them(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    report = lakeprune.explain(table, "x < 20 AND y < 20", row_groups=True)
    numbers = report.numbers
    assert (numbers.kept.files, numbers.credits["statistics"].files, numbers.credits["row_group"].files) == (0, 1, 1)
    assert sum(amount.files for amount in numbers.credits.values()) + numbers.kept.files == numbers.total.files
    assert numbers.empty.files == 0
    phase = report.phases[-1]
    assert (phase.name, phase.input_files, phase.output_files) == ("Row-group pruning", 1, 0)
    assert (phase.input_containers, phase.output_containers) == (10, 0)
    assert report.row_groups is not None
    assert (report.row_groups.total.row_groups, report.row_groups.kept.row_groups, report.row_groups.files_dropped) == (10, 0, 1)
    assert (report.summary.row_groups_total, report.summary.row_groups_kept) == (10, 0)
    lost = {file.path: (file.credit, file.pruned_by) for file in report.files}
    assert lost["DE.parquet"] == ("row_group", "Row-group pruning")
    assert "dropped by its row groups: none of 10 row groups is left" in report.to_text(verbose=True)


def test_credits_and_kept_row_groups_are_all_of_them(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    for where in ("x = 42", "x < 20 AND y < 20", "country = 'DE' OR x = 155", "x > 10 AND y > 10", "x IS NULL"):
        found = lakeprune.explain(table, where, row_groups=True).row_groups
        assert found is not None
        credited = sum(amount.row_groups for amount in found.credits.values())
        assert credited + found.kept.row_groups == found.total.row_groups
        assert found.total.row_groups == 10 * found.footers_read == 10 * found.files


def test_only_footers_of_files_that_are_left_are_read_and_no_page(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    before = lakeprune.explain(table, "x = 42", row_groups=True).to_dict(verbose=True)
    place = table / "DE.parquet"
    content = bytearray(place.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    content[4:-footer] = b"\xff" * (len(content) - footer - 4)  # every page
    place.write_bytes(content)
    (table / "FR.parquet").unlink()
    after = lakeprune.explain(table, "x = 42", row_groups=True).to_dict(verbose=True)
    assert (after["row_groups"], after["files"]) == (before["row_groups"], before["files"])
    with pytest.raises(TableError, match="the footer of a data file cannot be read") as problem:
        lakeprune.explain(table, "x = 142", row_groups=True)
    assert problem.value.where == "FR.parquet"


def test_without_row_groups_no_data_file_is_opened_and_the_document_has_no_trace_of_them(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    for path in table.glob("*.parquet"):
        path.unlink()
    report = lakeprune.explain(table, "x = 42")
    document = report.to_dict(verbose=True)
    assert report.row_groups is None
    assert (document["summary"]["row_groups_total"], document["summary"]["row_groups_kept"]) == (None, None)
    del document["summary"], document["table"]
    assert "row_group" not in json.dumps(document)


def test_several_predicates_have_the_numbers_that_each_has_alone(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    wheres = ["x = 42", "x = 142", "x < 20 AND y < 20", "country = 'FR'", "x > 1000"]
    together = [report.row_groups for report in lakeprune.explain_many(table, wheres, row_groups=True)]
    assert together == [lakeprune.explain(table, where, row_groups=True).row_groups for where in wheres]


def test_a_sample_reads_so_many_footers_keeps_the_others_and_says_so(tmp_path: Path) -> None:
    table = parts(tmp_path / "t")
    asked: list[tuple[int, int]] = []
    report = lakeprune.explain(
        table, "x % 7 = 0 AND y < 5", row_groups=True, sample=1, footer_progress=lambda *counts: asked.append(counts)
    )
    whole = lakeprune.explain(table, "x > 50 AND x < 160", row_groups=True, sample=2)
    assert (asked[0], asked[-1]) == ((0, 1), (1, 1))
    sampled = lakeprune.explain(table, "x IN (42, 142) AND y IN (42, 142)", row_groups=True, sample=1)
    found = sampled.row_groups
    assert found is not None
    assert (found.files, found.footers_read, found.is_sample) == (2, 1, True)
    assert (found.total.row_groups, sampled.numbers.kept.files, found.files_dropped) == (10, 1, 1)
    assert (sampled.summary.row_groups_total, sampled.summary.row_groups_kept) == (None, None)
    assert [note.code for note in sampled.facts.notes] == ["row_groups_sampled"]
    assert "in 1 file, a sample of 2" in sampled.to_text()
    assert whole.row_groups is not None
    assert not whole.row_groups.is_sample
    assert report.row_groups is not None


def test_full_row_groups_with_deleted_rows_do_not_count_them(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    pq.write_table(pa.table({"x": list(range(20))}), root / "f.parquet", row_group_size=10)
    stats = {**statistics(20, x=(0, 19, 0)), "tightBounds": False}
    delta_of(root, {"x": "long"}, [add("f.parquet", stats, dv=deletion_vector(3))], head=featured("deletionVectors"))
    report = lakeprune.explain(root, "x < 10", row_groups=True)
    assert groups(root, "x < 10") == "FD"
    assert report.row_groups is not None
    assert (report.row_groups.full.row_groups, report.row_groups.full.rows) == (1, 0)
    assert report.row_groups.full.row_groups_without_rows == 1
    assert "1 of them with deleted rows that are not counted" in report.to_text()


def test_a_file_that_is_not_parquet_is_kept_with_a_note(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    (root / "f.parquet").write_bytes(b"PAR1" + b"\0" * 50 + b"PARE")  # an encrypted footer ends so
    pq.write_table(pa.table({"x": [1]}), root / "g.parquet")
    delta_of(root, {"x": "long"}, [add("f.parquet"), add("g.parquet")])
    report = lakeprune.explain(root, "x = 2", row_groups=True)
    assert [file.path for file in report.files if file.kept] == ["f.parquet"]
    (note,) = report.facts.notes
    assert note.code == "footers_not_read"
    assert "1 file kept" in note.message


@pytest.mark.parametrize("left", [100, 4, 3, 0])
def test_a_truncated_data_file_is_an_error(tmp_path: Path, left: int) -> None:
    root = tmp_path / "t"
    root.mkdir()
    pq.write_table(pa.table({"x": list(range(100))}), root / "f.parquet")
    pq.write_table(pa.table({"x": [1]}), root / "g.parquet")
    (root / "f.parquet").write_bytes((root / "f.parquet").read_bytes()[:left])
    delta_of(root, {"x": "long"}, [add("f.parquet"), add("g.parquet")])
    with pytest.raises(TableError) as error:
        lakeprune.explain(root, "x = 2", row_groups=True)
    assert (error.value.code, error.value.where) == ("LP306", "f.parquet")
    assert lakeprune.explain(root, "x = 2").kept_files == 2  # without --row-groups no data file is opened


def test_a_file_without_row_groups_has_nothing_to_read(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), root / "f.parquet")
    delta_of(root, {"x": "long"}, [add("f.parquet")])
    assert files(root, "x = 2")["f.parquet"].credit == "row_group"


def test_paths_with_escapes_and_outside_of_the_table_are_found(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    pq.write_table(pa.table({"x": [1]}), root / "a b%.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "far.parquet")
    far = (tmp_path / "far.parquet").as_uri()
    delta_of(root, {"x": "long"}, [add("a%20b%25.parquet"), add(far)])
    assert {file.credit for file in files(root, "x = 2").values()} == {"row_group"}


def test_the_command_says_up_front_how_many_footers_it_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = parts(tmp_path / "t")
    assert main(["explain", str(table), "-w", "x = 42 OR x = 142", "--row-groups", "-v"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "reading 2 footers\n"
    metadata = pq.ParquetFile(table / "DE.parquet").metadata.row_group(4)
    assert f"row groups 1 of 10: 4 [{metadata.column(0).dictionary_page_offset}, " in shown.out
    assert "Phase 3: Row-group pruning" in shown.out or "Phase 2: Row-group pruning" in shown.out
    assert "row groups:    20 -> 2 (90% pruned), in 2 files" in shown.out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"sample": 3}, "LP257"),
        ({"row_groups": True, "where": None}, "LP258"),
        ({"row_groups": True, "sample": 0}, "LP218"),
        ({"row_groups": True, "sample": 10**30}, "LP218"),
    ],
)
def test_what_does_not_make_sense_is_a_usage_error(tmp_path: Path, options: dict[str, object], code: str) -> None:
    where = options.pop("where", "x = 1")
    with pytest.raises(UsageError) as problem:
        lakeprune.explain(parts(tmp_path / "t"), where, **options)  # type: ignore[arg-type]
    assert problem.value.code == code


def test_a_page_and_a_notebook_can_be_made_of_a_report_with_row_groups(tmp_path: Path) -> None:
    report = lakeprune.explain(parts(tmp_path / "t"), "x < 20 AND y < 20", row_groups=True, explain_why=True)
    assert "row-group pruning" in report.to_html()
    assert report._repr_html_()


def test_files_of_one_of_many_reports_judge_that_predicate_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking each of many reports for its files costs one predicate each, not all of them each time."""
    table = parts(tmp_path / "t")
    wheres = [f"x = {10 * number + 5}" for number in range(6)]
    alone = [lakeprune.explain(table, where, row_groups=True).files for where in wheres]
    judged: list[int] = []
    original = row_groups._Batch.judge

    def counted(self: row_groups._Batch, snapshot: RowGroupSnapshot) -> None:
        judged.append(len(self.plans))
        original(self, snapshot)

    monkeypatch.setattr(row_groups._Batch, "judge", counted)
    reports = lakeprune.explain_many(table, wheres, row_groups=True)
    assert [report.files for report in reports] == alone
    assert judged == [6, 1, 1, 1, 1, 1, 1]


def test_a_sample_of_many_predicates_is_one_sample(tmp_path: Path) -> None:
    """The files of a sample are chosen among those that some predicate keeps: a listing shows the footers that were counted."""
    table = parts(tmp_path / "t")
    for report in lakeprune.explain_many(table, ["x = 42", "x = 142"], row_groups=True, sample=1):
        assert report.row_groups is not None
        listed = [file for file in report.files if isinstance(file.row_groups, list)]
        assert len(listed) == report.row_groups.footers_read
