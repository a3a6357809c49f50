"""The live files of a snapshot as Spark reads them: SQL over the entries that Iceberg's own runtime takes out of the manifests.

In: `ManifestEntries`. Out: a FROM item with the same columns as files.py makes in this process. Nothing comes to the driver:
values are decoded, deletes are joined and paths are shortened where the entries are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.engines.engine import Engine, EngineError, ManifestEntries
from lakeprune.errors import TableError
from lakeprune.formats.iceberg.files import Asked, Specs
from lakeprune.formats.iceberg.locate import Paths, shown_sql
from lakeprune.formats.iceberg.manifest_list import DATA, DELETES, Manifest
from lakeprune.formats.iceberg.metadata import SnapshotEntry, TableMetadata
from lakeprune.formats.iceberg.metrics_sql import Raw
from lakeprune.formats.iceberg.spark_bounds import decoded_sql
from lakeprune.formats.iceberg.spark_deletes import deleted_rows
from lakeprune.formats.iceberg.specs import SpecField, is_unpartitioned, specs_of
from lakeprune.formats.iceberg.transforms import fields_of, keeps_type, raw_name, value_type
from lakeprune.formats.snapshot import in_short
from lakeprune.predicate.tree import Column
from lakeprune.values.types import DataType, Family, Kind

_SHOWN_AS = {Kind.DATE: ("date",), Kind.TIMESTAMP: ("timestamp",), Kind.TIMESTAMP_NTZ: ("timestamp_ntz",)}
_BY_FAMILY: dict[Family | None, tuple[str, ...]] = {
    Family.INTEGER: ("integer", "long"),
    Family.REAL: ("float", "double"),
    Family.DECIMAL: ("decimal",),
    Family.BOOLEAN: ("boolean",),
    Family.TEXT: ("string",),
    Family.BYTES: ("binary",),
}
_WHAT, _FIX = "the table's manifests cannot be read by spark", "explain the table without --engine spark"
_NO_EXPONENT = 6  # decimal places: Java writes smaller numbers with an exponent
_COUNTS = ("date", "integer", "long")


class SparkEntries(Struct, frozen=True):
    entries: ManifestEntries
    paths: Paths
    manifests: Sequence[Manifest]
    specs: Specs
    types: Mapping[int, DataType]  # of columns, by field id

    def table(self, engine: Engine, asked: Asked, times: Mapping[int, int]) -> str:
        """A FROM item with a row per live file."""
        dialect = engine.dialect
        items = [
            "file_size_in_bytes AS size",
            "CASE WHEN record_count >= 0 THEN record_count END AS rows",
            "deleted",
            "coalesce(deleted <> 0, TRUE) AS has_deletes",
        ]
        for column in asked.metrics:
            items += self._metrics(column)
        for column in dict.fromkeys((*asked.values, *asked.texts)):
            items += self._identity(column)
        items += ["spec_id AS spec"] if asked.lifted else []
        tuples = {
            raw_name(spec, field): (field, seen.type) for seen in asked.lifted for spec, field in fields_of(seen, self.specs)
        }
        for name, (field, source) in tuples.items():
            known = self._is_known(field, source)
            value = f"p{field.field_id}" if known else f"CAST(NULL AS {value_type(field, source)})"
            items += [f"CAST({value} AS {value_type(field, source)}) AS {name}", f"{str(known).upper()} AS {name}_known"]
        if asked.paths:
            items += [
                f"{shown_sql(dialect, 'file_path', self.paths.location)} AS path",
                f"{self._partition(dialect)} AS partition",
            ]
        if asked.times:
            items.append(f"{_time(times)} AS modified")
        return f"(SELECT {', '.join(items)} FROM {self._live(engine)})"

    def repeated_paths(self) -> int:
        """Not looked for: it would need every path once more."""
        return 0

    def check_counted(self, files: int, location: str) -> None:
        """LP365 when there are fewer live files than the manifest list records."""
        recorded = sum(manifest.files or 0 for manifest in self.manifests if manifest.content == DATA)
        if files < recorded:
            why = f"Iceberg's runtime finds {files:,} live entries, and the manifest list records {recorded:,}"
            fix = "restore it, or explain another snapshot with --at-version"
            raise TableError("LP365", "a manifest cannot be read", where=location, why=why, fix=fix)

    def _live(self, engine: Engine) -> str:
        live = f"(SELECT * FROM {self.entries.source} WHERE status <> 2)"
        if all(manifest.content != DELETES for manifest in self.manifests):
            return f"(SELECT *, CAST(0 AS BIGINT) AS deleted FROM {live} WHERE coalesce(content, 0) = 0)"
        unpartitioned = [spec for spec, fields in self.specs.items() if is_unpartitioned(fields)]
        return deleted_rows(engine, live, self.entries.types, unpartitioned)

    def _metrics(self, column: Column) -> list[str]:
        number = int(column.physical[-1])
        raw = Raw.of(number)
        bounds = ((raw.lo, "lower_bounds"), (raw.hi, "upper_bounds"))
        counts = ((raw.values, "value_counts"), (raw.nulls, "null_value_counts"), (raw.nans, "nan_value_counts"))
        found = [
            f"CAST({decoded_sql(f'{kind}[{number}]', column.type)} AS {carrier(column.type)}) AS {name}" for name, kind in bounds
        ]
        return [*found, *(f"{kind}[{number}] AS {name}" for name, kind in counts)]

    def _identity(self, column: Column) -> list[str]:
        """The partition value of a column in each file, by the spec of the file."""
        source = int(column.physical[-1])
        fields = {
            spec: field
            for spec, several in self.specs.items()
            for field in several
            if field.is_identity and field.source_id == source and self._is_known(field, column.type)
        }
        name, kind = f"v{source}", carrier(column.type)
        values = {spec: f"p{field.field_id}" for spec, field in fields.items()}
        value = _by_spec({spec: f"CAST({each} AS {kind})" for spec, each in values.items()}, f"CAST(NULL AS {kind})")
        text = _by_spec({spec: _text(each, column.type) for spec, each in values.items()}, "CAST(NULL AS STRING)")
        known = _by_spec(dict.fromkeys(fields, "TRUE"), "FALSE")
        return [f"{value} AS {name}", f"{text} AS {name}_text", f"{known} AS {name}_known"]

    def _is_known(self, field: SpecField, source: DataType) -> bool:
        """Whether the runtime shows the field, and takes its values for what the column's type says."""
        shown = self.entries.types.get(field.field_id)
        if not keeps_type(field):
            return shown in _COUNTS
        return shown in _SHOWN_AS.get(source.kind, _BY_FAMILY.get(source.family, ()))

    def _partition(self, dialect: Dialect) -> str:
        """The partition of each file as JSON text."""
        texts = {
            spec: dialect.json_object([(field.name, self._shown(field)) for field in fields]) if fields else "'{}'"
            for spec, fields in self.specs.items()
        }
        return _by_spec(texts, "'{}'")

    def _shown(self, field: SpecField) -> str:
        """The value as a report shows it, like `tuples.shown`."""
        shown, value = self.entries.types.get(field.field_id), f"p{field.field_id}"
        source = self.types.get(field.source_id or 0)
        if shown is None:
            return "CAST(NULL AS STRING)"
        match field.transform.lower():
            case "month":
                return _printed("'%04d-%02d'", value, f"1970 + floor({value} / 12)", f"pmod({value}, 12) + 1")
            case "year":
                return _printed("'%04d'", value, f"1970 + {value}")
            case "hour":
                return _printed("'%s-%02d'", value, _day(f"floor({value} / 24)"), f"pmod({value}, 24)")
            case "day":
                return _day(value)
            case "identity" if shown == "date":
                return _day(value)
        return _text(value, source if keeps_type(field) and source is not None else DataType(Kind.LONG))


def _printed(form: str, value: str, *parts: str) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN printf({form}, {', '.join(parts)}) END"


def _day(value: str) -> str:
    return f"CAST(date_from_unix_date(CAST({value} AS INT)) AS STRING)"


def _text(value: str, data_type: DataType) -> str:
    """The value as `tuples.value_of` reads it."""
    match data_type.family:
        case Family.BYTES:
            return f"lower(hex({value}))"
        case Family.DECIMAL if data_type.scale > _NO_EXPONENT:
            form = "MI" + "9" * (38 - data_type.scale) + "." + "0" * data_type.scale
            return f"regexp_replace(replace(to_char({value}, '{form}'), ' ', ''), '^(-?)[.]', '$10.')"
        case Family.REAL:
            names = "WHEN 'NaN' THEN 'nan' WHEN 'Infinity' THEN 'inf' WHEN '-Infinity' THEN '-inf'"
            return f"CASE CAST({value} AS STRING) {names} ELSE CAST({value} AS STRING) END"
        case _:
            return f"CAST({value} AS STRING)"


def _by_spec(values: Mapping[int, str], otherwise: str) -> str:
    if not values:
        return otherwise
    return "CASE spec_id " + " ".join(f"WHEN {spec} THEN {value}" for spec, value in values.items()) + f" ELSE {otherwise} END"


def _time(times: Mapping[int, int]) -> str:
    if not times:
        return "CAST(NULL AS BIGINT)"
    pairs = ", ".join(f"{snapshot}L, {moment}L" for snapshot, moment in times.items())
    return f"try_element_at(map({pairs}), snapshot_id)"


def entries_by_engine(
    engine: Engine, paths: Paths, path: str, metadata: TableMetadata, snapshot: SnapshotEntry, columns: Mapping[int, DataType]
) -> ManifestEntries:
    """The entries that the engine itself reads, from the metadata file at `path`.

    `columns` are those of the current schema: a runtime knows no other.
    It looks for what is recorded where it is recorded, so a table that was copied is refused.
    """
    specs = sorted(spec.spec_id for spec in metadata.partition_specs) or [metadata.default_spec_id]
    fields = _partition_fields(specs_of(metadata, specs, metadata.schema(None)).values(), columns)
    if not all(map(paths.is_where_recorded, [snapshot.manifest_list] if snapshot.manifest_list else snapshot.manifests)):
        why = f"the table was copied: its metadata records {metadata.location}, where Iceberg's runtime would look for manifests"
        raise TableError("LP364", _WHAT, where=paths.storage.location, why=why, fix=_FIX)
    try:
        found = engine.manifest_entries(paths.place(path), snapshot.snapshot_id, fields)
    except EngineError as error:
        raise not_shown(error, paths.storage.location) from error
    assert found is not None, "an engine that takes no columns reads entries itself"
    return found


def not_shown(error: EngineError, location: str) -> TableError:
    """Iceberg's runtime cannot read the manifests, which the embedded engine may."""
    return TableError("LP364", _WHAT, where=location, why=in_short(str(error)), fix=_FIX)


def _partition_fields(specs: Iterable[Sequence[SpecField]], columns: Mapping[int, DataType]) -> dict[int, str]:
    """The partition fields that Iceberg's metadata tables show for these specs, the oldest first: id and name, in their order.

    A field whose column was dropped is not shown; of several names the newest is.
    """
    found: dict[int, str] = {}
    for fields in specs:
        found |= {field.field_id: field.name for field in fields if field.source_id in columns}
    return dict(sorted(found.items()))
