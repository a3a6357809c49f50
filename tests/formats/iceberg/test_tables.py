"""Iceberg folders as users have them: which file is the table, what is refused and how, snapshots, deletes, copies."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, manifest, write_table
from tests.golden import GOLDEN

_COLUMNS = [column(1, "id", "long"), column(2, "name", "string"), column(3, "p", "int")]
_BY_P = {0: (SpecField(3, "identity", "p", 1000, "int"),)}


def entry(path: str, low: int, high: int, **more: Any) -> Entry:
    metrics: dict[str, dict[int, Any]] = {
        "value_counts": {1: 10},
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(low, "long")},
        "upper_bounds": {1: encoded(high, "long")},
    }
    return Entry(path, 10, metrics=metrics, **more)


def kept(table: Path | str, where: str | None, **options: Any) -> list[str]:
    return sorted(
        file.path
        for file in lakeprune.explain(table, where, **{"nan_policy": "strict", **options}).files
        if file.verdict.value != "DROP"
    )


def simple(root: Path, **layout: Any) -> Path:
    return write_table(root, _COLUMNS, [entry("a", 0, 9), entry("b", 10, 19)], None, Layout(**layout))


def test_metrics_drop_files(tmp_path: Path) -> None:
    simple(tmp_path)
    assert kept(tmp_path, "id >= 10") == ["b"]
    assert kept(tmp_path, "id IS NULL") == []
    assert kept(tmp_path, "name = 'x'") == ["a", "b"]


def test_columns_are_found_by_field_id_whatever_they_are_called_now(tmp_path: Path) -> None:
    """A renamed column keeps its metrics, and a new column of the old name has none of them."""
    columns = [column(1, "key", "long"), column(9, "id", "long")]
    write_table(tmp_path, columns, [entry("a", 0, 9), entry("b", 10, 19)])
    assert kept(tmp_path, "key >= 10") == ["b"]
    assert kept(tmp_path, "id >= 10") == ["a", "b"]


def test_identity_partitions_are_exact(tmp_path: Path) -> None:
    entries = [entry("a", 0, 9, tuple={1000: 1}), entry("b", 0, 9, tuple={1000: 2}), entry("c", 0, 9, tuple={1000: None})]
    write_table(tmp_path, _COLUMNS, entries, _BY_P)
    report = lakeprune.explain(tmp_path, "p % 2 = 0")
    assert report.facts.partition_columns == ("p",)
    assert kept(tmp_path, "p % 2 = 0") == ["b"]
    assert kept(tmp_path, "p IS NULL") == ["c"]
    assert kept(tmp_path, "p = 1 AND id > 5") == ["a"]


def test_a_spec_that_came_later_says_nothing_about_older_files(tmp_path: Path) -> None:
    """T50: `p` is a partition column of the current spec only."""
    specs = {0: (), 1: (SpecField(3, "identity", "p", 1000, "int"),)}
    entries = [entry("old", 0, 9), entry("new", 0, 9, spec=1, tuple={1000: 1})]
    write_table(tmp_path, _COLUMNS, entries, specs)
    assert "old" in kept(tmp_path, "p = 2")


def test_entries_that_are_deleted_are_gone(tmp_path: Path) -> None:
    entries = [entry("a", 0, 9, status=0), entry("b", 0, 9, status=2), entry("c", 0, 9, status=1)]
    write_table(tmp_path, _COLUMNS, entries)
    assert kept(tmp_path, None) == ["a", "c"]


def test_a_path_that_is_live_twice_is_kept_twice_and_noted(tmp_path: Path) -> None:
    """T92."""
    write_table(tmp_path, _COLUMNS, [entry("a", 0, 9), entry("a", 10, 19)])
    report = lakeprune.explain(tmp_path, "id >= 0")
    assert len(list(report.files)) == 2
    assert "1 live path stands in the manifests more than once" in report.to_text()


def test_an_empty_table_has_no_files(tmp_path: Path) -> None:
    simple(tmp_path, changes={"current-snapshot-id": -1, "snapshots": [], "snapshot-log": []})
    report = lakeprune.explain(tmp_path, "id > 5")
    assert list(report.files) == []
    assert "nothing was ever written" in report.to_text()


class TestWhichFile:
    """T91."""

    def test_the_version_hint_is_followed(self, tmp_path: Path) -> None:
        place = simple(tmp_path)
        place.rename(place.with_name("v3.metadata.json"))
        (place.parent / "v2.metadata.json").write_text("damaged")
        (place.parent / "version-hint.text").write_text("3\n")
        assert kept(tmp_path, None) == ["a", "b"]

    def test_a_stale_hint_is_overtaken_by_later_versions(self, tmp_path: Path) -> None:
        place = simple(tmp_path)
        shutil.copy(place, place.with_name("v2.metadata.json"))
        place.write_text("damaged")
        (place.parent / "version-hint.text").write_text("1")
        assert kept(tmp_path, None) == ["a", "b"]

    @pytest.mark.parametrize("hint", ["9", "\xff", "../../x", ""])
    def test_a_hint_that_leads_nowhere_is_ignored(self, tmp_path: Path, hint: str) -> None:
        place = simple(tmp_path)
        (place.parent / "version-hint.text").write_text(hint, encoding="latin-1")
        assert kept(tmp_path, None) == ["a", "b"]

    @pytest.mark.parametrize(
        "name", ["v10.metadata.json", "v10.gz.metadata.json", "00010-ab.gz.metadata.json", "00010-ab.metadata.json"]
    )
    def test_the_newest_version_is_by_number_not_by_name(self, tmp_path: Path, name: str) -> None:
        place = simple(tmp_path)
        data = place.read_bytes()
        place.with_name(name).write_bytes(gzip.compress(data) if ".gz" in name else data)
        place.rename(place.with_name("v9.metadata.json")).write_text("damaged")
        assert kept(tmp_path, None) == ["a", "b"]

    def test_two_newest_files_cannot_be_told_apart(self, tmp_path: Path) -> None:
        place = simple(tmp_path)
        for name in ("00002-a.metadata.json", "00002-b.metadata.json"):
            shutil.copy(place, place.with_name(name))
        with pytest.raises(lakeprune.TableError, match="2 metadata files of version 2") as caught:
            lakeprune.explain(tmp_path)
        assert caught.value.code == "LP361"
        assert kept(place.with_name("00002-a.metadata.json"), None) == ["a", "b"]

    def test_a_copied_table_is_read_where_it_is(self, tmp_path: Path) -> None:
        simple(tmp_path / "old")
        shutil.move(tmp_path / "old", tmp_path / "new")
        assert kept(tmp_path / "new", "id < 5") == ["a"]
        assert kept(tmp_path / "new/metadata/v1.metadata.json", "id < 5") == ["a"]

    def test_paths_below_the_location_are_shown_below_it(self, tmp_path: Path) -> None:
        paths = [f"{tmp_path}/data/a.parquet", f"file:{tmp_path}/data/b.parquet", "s3://elsewhere/c.parquet"]
        write_table(tmp_path, _COLUMNS, [entry(path, 0, 9) for path in paths])
        assert kept(tmp_path, None) == ["data/a.parquet", "data/b.parquet", "s3://elsewhere/c.parquet"]


class TestRefusals:
    def refusal(self, table: Path) -> lakeprune.LakepruneError:
        with pytest.raises(lakeprune.TableError) as caught:
            list(lakeprune.explain(table, "id > 5").files)
        assert caught.value.exit_code == 3
        return caught.value

    def test_format_version_4(self, tmp_path: Path) -> None:
        simple(tmp_path, version=4)
        error = self.refusal(tmp_path)
        assert (error.code, error.what) == ("LP310", "the table has format version 4 of Iceberg")

    def test_an_encrypted_manifest_list(self, tmp_path: Path) -> None:
        place = simple(tmp_path)
        metadata = json.loads(place.read_text())
        metadata["snapshots"][0]["key-id"] = "key-1"
        place.write_text(json.dumps(metadata))
        assert "encrypted" in self.refusal(tmp_path).what

    def test_an_encrypted_manifest(self, tmp_path: Path) -> None:
        simple(tmp_path, key=b"wrapped")
        error = self.refusal(tmp_path)
        assert (error.code, error.what) == ("LP310", "a manifest is encrypted")
        assert str(error.where).endswith("0-0-m0.avro")

    def test_an_unknown_codec(self, tmp_path: Path) -> None:
        simple(tmp_path, codec="null")
        place = tmp_path / "metadata/0-0-m0.avro"
        place.write_bytes(place.read_bytes().replace(b"avro.codec\x08null", b"avro.codec\x08lz44"))
        assert (self.refusal(tmp_path).code, self.refusal(tmp_path).what) == ("LP366", "a manifest is compressed with lz44")

    @pytest.mark.parametrize("name", ["0-0-m0.avro", "snap-7.avro"])
    def test_a_missing_file(self, tmp_path: Path, name: str) -> None:
        simple(tmp_path)
        (tmp_path / "metadata" / name).unlink()
        error = self.refusal(tmp_path)
        assert error.code == "LP365"
        assert name in str(error.where)

    @pytest.mark.parametrize("name", ["0-0-m0.avro", "snap-7.avro"])
    def test_a_file_that_is_cut_off(self, tmp_path: Path, name: str) -> None:
        simple(tmp_path)
        place = tmp_path / "metadata" / name
        place.write_bytes(place.read_bytes()[:-30])
        assert self.refusal(tmp_path).code == "LP365"

    def test_a_manifest_with_fewer_entries_than_its_list_records(self, tmp_path: Path) -> None:
        """A file that lost its last block is sound Avro: only the counts show the loss."""
        simple(tmp_path)
        (tmp_path / "metadata/0-0-m0.avro").write_bytes(manifest([entry("a", 0, 9)], ()))
        assert "1 live entries, and its list records 2" in str(self.refusal(tmp_path))

    @pytest.mark.parametrize(
        "text", ["", "{}", "[1]", '{"format-version": "2"}', '{"format-version": 2, "snapshots": 5}', "\xff\xfe", "[" * 9999]
    )
    def test_metadata_that_is_not_metadata(self, tmp_path: Path, text: str) -> None:
        place = simple(tmp_path)
        place.write_text(text, encoding="latin-1")
        assert self.refusal(tmp_path).code == "LP362"

    @pytest.mark.parametrize("declared", [{}, {"fields": 5}, {"fields": [{"id": "x"}]}, {"fields": [{"id": 1, "name": "a"}]}])
    def test_a_schema_that_is_not_a_schema(self, tmp_path: Path, declared: Any) -> None:
        simple(tmp_path, changes={"schemas": [{"schema-id": 0, **declared}]})
        assert self.refusal(tmp_path).code == "LP362"

    def test_a_spec_that_is_not_there(self, tmp_path: Path) -> None:
        simple(tmp_path, changes={"partition-specs": [{"spec-id": 5, "fields": []}]})
        assert "no partition spec 0" in self.refusal(tmp_path).what

    def test_gzip_that_is_cut_off(self, tmp_path: Path) -> None:
        place = simple(tmp_path)
        place.with_name("v2.gz.metadata.json").write_bytes(gzip.compress(place.read_bytes())[:-20])
        assert self.refusal(tmp_path).code == "LP362"


class TestSnapshots:
    def two(self, root: Path) -> None:
        """Snapshot 7 with both files; snapshot 3, an hour earlier, with one manifest of its own and an older schema."""
        place = simple(root)
        older = write_table(root / "older", _COLUMNS, [entry("old", 0, 9)])
        metadata = json.loads(place.read_text())
        (old,) = json.loads(older.read_text())["snapshots"]
        metadata["snapshots"].insert(0, {**old, "snapshot-id": 3, "timestamp-ms": 500, "schema-id": 1})
        metadata["snapshot-log"].insert(0, {"snapshot-id": 3, "timestamp-ms": 500})
        metadata["schemas"].append({"schema-id": 1, "type": "struct", "fields": [column(1, "key", "long")]})
        place.write_text(json.dumps(metadata))

    def test_by_id_with_the_schema_of_its_time(self, tmp_path: Path) -> None:
        self.two(tmp_path)
        assert kept(tmp_path, "key < 100", version=3) == ["old"]
        assert kept(tmp_path, "id < 100") == ["a", "b"]

    def test_by_time(self, tmp_path: Path) -> None:
        self.two(tmp_path)
        assert kept(tmp_path, None, timestamp="1970-01-01T00:00:00.7Z") == ["old"]
        assert kept(tmp_path, None, timestamp="1970-01-01T00:00:01Z") == ["a", "b"]

    @pytest.mark.parametrize(("options", "code"), [({"version": 4}, "LP312"), ({"timestamp": "1970-01-01T00:00:00Z"}, "LP313")])
    def test_snapshots_that_are_not_there(self, tmp_path: Path, options: dict[str, Any], code: str) -> None:
        self.two(tmp_path)
        with pytest.raises(lakeprune.TableError) as caught:
            lakeprune.explain(tmp_path, **options)
        assert caught.value.code == code

    def test_an_expired_snapshot_of_the_log(self, tmp_path: Path) -> None:
        simple(
            tmp_path,
            changes={"snapshot-log": [{"snapshot-id": 2, "timestamp-ms": 100}, {"snapshot-id": 7, "timestamp-ms": 1000}]},
        )
        with pytest.raises(lakeprune.TableError, match="snapshot 2 does not exist"):
            lakeprune.explain(tmp_path, timestamp="1970-01-01T00:00:00.5Z")


class TestDeletes:
    """T66, T87, T88: which delete files apply, as far as live rows go."""

    def live(self, root: Path, entries: Sequence[Entry], specs: Any = None) -> dict[str, int | None]:
        write_table(root, _COLUMNS, entries, specs, Layout(3, sequence=5))
        report = lakeprune.explain(root, "id >= 0")
        return {file.path: file.live_rows for file in report.files}

    data = entry("d", 0, 9, sequence=2, tuple={1000: 1})
    vector = Entry("x.puffin", 4, content=1, format="PUFFIN", referenced="d", tuple={1000: 1})
    position = Entry("pos", 3, content=1, tuple={1000: 1})
    equality = Entry("eq", 3, content=2, equality_ids=[1], tuple={1000: 1})

    @pytest.mark.parametrize(
        ("delete", "rows"),
        [
            (vector, 6),
            (replace(vector, sequence=2), 6),  # of the same commit
            (replace(vector, sequence=1), 10),  # older than the data
            (replace(vector, referenced="another"), 10),
            (position, None),
            (replace(position, sequence=2), None),
            (replace(position, sequence=1), 10),
            (replace(position, tuple={1000: 2}), 10),  # of another partition
            (replace(position, referenced="d"), None),
            (replace(position, referenced="another"), 10),
            (equality, None),
            (replace(equality, sequence=2), 10),  # not newer than the data
            (replace(equality, tuple={1000: 2}), 10),
        ],
    )  # fmt: skip
    def test_scope(self, tmp_path: Path, delete: Entry, rows: int | None) -> None:
        assert self.live(tmp_path, [self.data, delete], _BY_P) == {"d": rows}

    def test_equality_deletes_of_an_unpartitioned_spec_are_global(self, tmp_path: Path) -> None:
        specs = {0: _BY_P[0], 1: ()}
        assert self.live(tmp_path, [self.data, replace(self.equality, spec=1, tuple={})], specs) == {"d": None}
        assert self.live(tmp_path, [self.data, replace(self.position, spec=1, tuple={})], specs) == {"d": 10}

    def test_a_spec_whose_fields_were_all_dropped_is_unpartitioned(self, tmp_path: Path) -> None:
        """Its fields are void, and Iceberg's own reader applies its equality deletes to every file (T66)."""
        void = (replace(_BY_P[0][0], transform="void"),)
        delete = replace(self.equality, spec=1, tuple={1000: None})
        assert self.live(tmp_path, [self.data, delete], {0: _BY_P[0], 1: void}) == {"d": None}
        other = (*void, replace(_BY_P[0][0], field_id=1001, name="q"))
        assert self.live(tmp_path, [self.data, delete], {0: _BY_P[0], 1: other}) == {"d": 10}

    def test_two_vectors_of_one_file_leave_its_rows_unknown(self, tmp_path: Path) -> None:
        assert self.live(tmp_path, [self.data, self.vector, replace(self.vector, path="y.puffin")], _BY_P) == {"d": None}

    def test_a_vector_replaces_older_position_deletes(self, tmp_path: Path) -> None:
        assert self.live(tmp_path, [self.data, self.position, self.vector], _BY_P) == {"d": 6}

    def test_vectors_share_a_puffin_file(self, tmp_path: Path) -> None:
        other = replace(self.data, path="e")
        vectors = [self.vector, replace(self.vector, referenced="e", rows=1)]
        assert self.live(tmp_path, [self.data, other, *vectors], _BY_P) == {"d": 6, "e": 9}

    def test_a_file_whose_rows_are_all_deleted_is_dropped(self, tmp_path: Path) -> None:
        write_table(tmp_path, _COLUMNS, [self.data, replace(self.vector, rows=10)], _BY_P, Layout(3, sequence=5))
        assert kept(tmp_path, "id >= 0") == []
        write_table(tmp_path, _COLUMNS, [self.data, replace(self.position, rows=10)], _BY_P, Layout(3, sequence=5))
        assert kept(tmp_path, "id >= 0") == ["d"]


class TestManifestsNamedInTheMetadata:
    """As the first writers of version 1 did: no manifest list, and the spec in the header of each manifest."""

    by_x = SpecField(1, "identity", "x", 1000, "long")
    by_both = (by_x, SpecField(2, "identity", "y", 1001, "long"))

    def written(self, root: Path, spec: bytes, default: int) -> Path:
        place = write_table(root, [column(1, "x", "long"), column(2, "y", "long")], [], {0: (self.by_x,), 1: self.by_both})
        named = root / "metadata/m.avro"
        named.write_bytes(manifest([Entry("f", 10, tuple={1000: 5})], (self.by_x,), more={"partition-spec-id": spec}))
        document = json.loads(place.read_text()) | {"format-version": 1, "default-spec-id": default}
        del document["snapshots"][0]["manifest-list"]
        document["snapshots"][0]["manifests"] = [str(named)]
        place.write_text(json.dumps(document))
        return root

    @pytest.mark.parametrize("default", [0, 1])
    def test_each_is_judged_by_its_own_spec(self, tmp_path: Path, default: int) -> None:
        root = self.written(tmp_path, b"0", default)
        assert {where: kept(root, where) for where in ("x = 5", "x = 6", "y = 7", "y IS NULL")} == {
            "x = 5": ["f"], "x = 6": [], "y = 7": ["f"], "y IS NULL": ["f"],
        }  # fmt: skip

    def test_a_spec_that_the_metadata_does_not_have_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(lakeprune.TableError, match="partition spec 5") as problem:
            kept(self.written(tmp_path, b"5", 0), "x = 5")
        assert (problem.value.code, problem.value.exit_code) == ("LP365", 3)


def test_columns_that_are_not_understood_are_opaque_and_the_rest_is_read(tmp_path: Path) -> None:
    types = {4: "variant", 5: "geometry(srid:3857)", 6: "unknown", 7: "timestamp_ns", 8: "uuid", 9: "time", 10: "fixed[16]"}
    columns = [*_COLUMNS, *(column(number, f"c{number}", type_) for number, type_ in types.items())]
    write_table(tmp_path, columns, [entry("a", 0, 9), entry("b", 10, 19)], None, Layout(3))
    assert kept(tmp_path, "id > 15 AND c7 > '2024-01-01' AND c8 = 'x' AND _row_id = 3") == ["b"]
    report = lakeprune.explain(tmp_path, "year(c7) = 2024 AND c8 = 'x' AND _row_id = 3 AND c4 IS NOT NULL")
    assert all(reason in report.to_text() for reason in ("nanoseconds", "UUIDs", "row lineage"))


@pytest.mark.golden
@pytest.mark.skipif(not (GOLDEN / "iceberg").is_dir(), reason="the golden tables are not beside the project")
def test_every_golden_table_opens_or_is_refused_with_a_reason() -> None:
    tables = sorted({place.parent.parent for place in (GOLDEN / "iceberg").glob("**/metadata/*.metadata.json")})
    counts = {str(table.relative_to(GOLDEN / "iceberg")): len(list(lakeprune.explain(table).files)) for table in tables}
    assert len(counts) == 25
    assert {name for name, count in counts.items() if not count} == {"custom_write_paths"}  # nothing was ever written to it
    with pytest.raises(lakeprune.TableError, match="format-version"):
        lakeprune.explain(GOLDEN / "iceberg/bad_data/bad_iceberg_metadata.json")
