"""Tables that are cut off, flipped or far too large: exit 3 or an answer, never another exception, a hang or fewer files."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.cli.main import main
from lakeprune.formats.iceberg import metadata
from lakeprune.formats.iceberg.avro import container
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE

_FLIPS = 400 if IS_WHOLE else 40
_FILES = ("v1.metadata.json", "snap-7.avro", "0-0-m0.avro", "0-1-m0.avro")
_GOLDEN = sorted({place.parent.parent for place in (GOLDEN / "iceberg").glob("**/metadata/*.metadata.json")})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    metrics: dict[str, dict[int, Any]] = {
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(0, "long")},
        "upper_bounds": {1: encoded(9, "long")},
    }
    entries = [Entry(f"f{n}", 10, tuple={1000: n}, metrics=metrics, sequence=1) for n in range(8)]
    entries.append(Entry("d", 1, content=1, tuple={1000: 3}))
    spec = [SpecField(1, "truncate[10]", "id_trunc", 1000, "long")]
    write_table(tmp_path, [column(1, "id", "long")], entries, {0: spec}, Layout(codec="null", sequence=3))
    return tmp_path


def outcome(table: Path, where: str | None = "id > 3") -> int | str:
    """The number of files, or the code of the error."""
    try:
        return len(list(lakeprune.explain(table, where, nan_policy="strict").files))
    except lakeprune.TableError as error:
        return error.code if error.exit_code == 3 else f"exit code {error.exit_code}"


def flipped(data: bytes, chance: random.Random) -> Iterator[bytes]:
    for _ in range(_FLIPS):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        yield bytes(broken)


@pytest.mark.parametrize("name", _FILES)
def test_a_file_that_is_cut_off_anywhere_is_refused(table: Path, name: str) -> None:
    place = table / "metadata" / name
    data = place.read_bytes()
    for length in sorted({*range(0, len(data), max(1, len(data) // _FLIPS)), len(data) - 1}):
        place.write_bytes(data[:length])
        assert str(outcome(table)).startswith("LP36"), length


@pytest.mark.parametrize("name", _FILES)
def test_a_flipped_bit_is_refused_or_loses_no_file(table: Path, name: str) -> None:
    """There is no checksum: a number that became another number is read as that. Files do not vanish by it unless it says so:
    a status or a count that was flipped into a valid one."""
    place = table / "metadata" / name
    data = place.read_bytes()
    found = [_after(table, place, broken) for broken in flipped(data, random.Random(name))]
    refused = [each for each in found if isinstance(each, str)]
    assert refused
    assert all(each.startswith(("LP3", "LP102")) for each in refused)


def _after(table: Path, place: Path, content: bytes) -> int | str:
    place.write_bytes(content)
    try:
        return outcome(table)
    except lakeprune.PredicateError as error:  # the column has another name or type now
        return error.code


@pytest.mark.golden
@pytest.mark.skipif(not _GOLDEN, reason="the golden tables are not beside the project")
@pytest.mark.parametrize("golden", _GOLDEN, ids=lambda path: path.name)
def test_damaged_golden_tables_end_in_errors_of_the_table(golden: Path, tmp_path: Path) -> None:
    chance = random.Random(golden.name)
    shutil.copytree(golden / "metadata", tmp_path / "t/metadata")
    names = sorted(place for place in (tmp_path / "t/metadata").iterdir() if place.suffix in (".json", ".avro", ".gz"))
    for place in chance.sample(names, min(6 if IS_WHOLE else 2, len(names))):
        data = place.read_bytes()
        for content in (data[: len(data) // 2], b"", *(next(flipped(data, chance)) for _ in range(20 if IS_WHOLE else 3))):
            place.write_bytes(content)
            assert not str(outcome(tmp_path / "t", None)).startswith("exit code")
        place.write_bytes(data)


class TestTooLarge:
    def test_metadata_that_unpacks_to_more_than_the_limit(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place = table / "metadata/v1.metadata.json"
        place.with_name("v2.gz.metadata.json").write_bytes(gzip.compress(b" " * 100_000 + place.read_bytes()))
        assert outcome(table) == 8
        monkeypatch.setattr(metadata, "LARGEST", 50_000)
        assert outcome(table) == "LP362"

    def test_metadata_that_is_larger_than_the_limit(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metadata, "LARGEST", 500)
        assert outcome(table) == "LP362"

    def test_a_manifest_that_is_larger_than_the_limit(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(container, "LARGEST_FILE", 500)
        assert outcome(table) == "LP365"

    def test_a_schema_nested_without_end(self, table: Path) -> None:
        place = table / "metadata/v1.metadata.json"
        inner: Any = "long"
        for number in range(150):
            inner = {"type": "struct", "fields": [column(number + 10, "x", inner)]}
        document = json.loads(place.read_text())
        document["schemas"][0]["fields"].append(column(5, "deep", inner))
        place.write_text(json.dumps(document))
        assert outcome(table) == "LP362"

    def test_numbers_beyond_all_ranges(self, table: Path) -> None:
        place = table / "metadata/v1.metadata.json"
        text = place.read_text()
        for old, new in (('"snapshot-id": 7', '"snapshot-id": 1e400'), ('"spec-id": 0', '"spec-id": 99999999999999999999')):
            place.write_text(text.replace(old, new))
            assert outcome(table) == "LP362"


def test_the_command_ends_with_exit_code_3_and_an_empty_stdout(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = table / "metadata/0-0-m0.avro"
    place.write_bytes(place.read_bytes()[:-40])
    assert main(["explain", str(table), "-w", "id > 3"]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error[LP365] a manifest cannot be read")
    assert all(f"  {part}: " in shown.err for part in ("where", "why", "fix"))


def _ids(schema: Any) -> Iterator[int]:
    """Every field id in a schema of Avro."""
    if isinstance(schema, dict):
        yield from (schema["field-id"],) if "field-id" in schema else ()
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from _ids(each)


@pytest.mark.parametrize("name", ["snap-7.avro", "0-0-m0.avro"])
def test_a_field_that_the_writer_does_not_have_drops_no_file(table: Path, name: str) -> None:
    """A file without a tuple is not one whose tuple is NULL, and an entry without a path or a status is damaged."""
    place = table / "metadata" / name
    data = place.read_bytes()
    ids = sorted(set(_ids(json.loads(container.read_header(data).schema))))
    assert len(ids) > 10
    for number in ids:
        place.write_bytes(_renumbered(data, number))
        with suppress(lakeprune.TableError):
            for report in lakeprune.explain_many(table, ["id >= 0", "id IS NOT NULL"], nan_policy="strict"):
                assert report.numbers.kept.files >= 8, (number, report.predicate)


def _renumbered(data: bytes, number: int) -> bytes:
    """The file with another id instead of this one, of the same length."""
    other = str(number)[:-1] + ("7" if number % 10 != 7 else "8") if number > 99 else "8"
    return data.replace(f'"field-id": {number}}}'.encode(), f'"field-id": {other}}}'.encode())
