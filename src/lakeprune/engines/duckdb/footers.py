"""The footers of Parquet files in DuckDB's SQL.

In: a list of paths as SQL. Out: FROM items that engines/engine.py describes. DuckDB is the reader that shows every fact the rules
need: which bounds are exact, which are deprecated, the order of each column, counts of NaN.
"""

from __future__ import annotations

from lakeprune.engines.engine import Footers, ReadFooters

_TYPE_ORDER = "ColumnOrder(TYPE_ORDER=TypeDefinedOrder())"  # as DuckDB prints the one order that bounds can be read by


# What Spark adds to files whose early days are of the Julian calendar, beside its version: before 3.0.0 all are.
_MARKS = "('org.apache.spark.legacyDateTime', 'org.apache.spark.legacyINT96')"
_VERSION = "org.apache.spark.version"


def lazily(paths: str) -> Footers:
    """Each part is read when a query asks for it."""
    elements = f"CAST(to_json(list({_element('')} ORDER BY column_id)) AS VARCHAR) AS elements"
    schemas = f"SELECT file_name, {elements} FROM parquet_schema({paths}) GROUP BY file_name"
    chunks = (
        "SELECT m.file_name AS file, path_in_schema AS column_path, row_group_num_rows AS rows, num_values, "
        "stats_min_value AS min_text, stats_max_value AS max_text, max_is_exact AS is_max_exact, "
        "stats_null_count AS nulls, stats_nan_count AS nans, "
        f"coalesce(f.column_orders[column_id + 1] = '{_TYPE_ORDER}', FALSE) AS has_type_order, f.created_by AS created_by "
        f"FROM parquet_metadata({paths}) AS m JOIN parquet_file_metadata({paths}) AS f ON m.file_name = f.file_name"
    )
    files = f"SELECT file_name AS file, num_rows AS rows FROM parquet_file_metadata({paths})"
    distinct = f"SELECT elements, min(file_name) AS file FROM ({schemas}) GROUP BY elements"
    julian = f"SELECT DISTINCT file_name AS file FROM parquet_kv_metadata({paths}) WHERE {_is_mark('')}"
    return Footers(f"({files})", f"({julian})", f"({distinct})", f"({chunks})")


def whole_sql(paths: str) -> str:
    """A row per chunk, and what is recorded of its file beside the first; a file without chunks has a row, too.

    All of a footer costs as much to read as its chunks alone, but the structures that hold it would fill memory.
    """
    about = "{rows: facts.num_rows, created_by: facts.created_by, schema: parquet_schema, marks: parquet_kv_metadata}"
    # Of lists that are unnested side by side the shorter one is filled up with NULL.
    lists = f"unnest(parquet_metadata) AS m, unnest([{about}]) AS about"
    first = (
        "CASE WHEN m.dictionary_page_offset > 0 THEN least(m.dictionary_page_offset, m.data_page_offset) "
        "ELSE m.data_page_offset END"
    )
    return (
        "SELECT file, about, m.row_group_id AS row_group, m.column_id AS leaf, m.row_group_num_rows AS rows, "
        "m.num_values AS num_values, m.stats_min_value AS min_text, m.stats_max_value AS max_text, "
        "m.max_is_exact AS is_max_exact, m.stats_min AS old_min_text, m.stats_max AS old_max_text, "
        "m.stats_null_count AS nulls, m.stats_nan_count AS nans, "
        f"coalesce(orders[m.column_id + 1] = '{_TYPE_ORDER}', FALSE) AS has_type_order, "
        f"{first} AS start_byte, {first} + m.total_compressed_size AS end_byte, m.bloom_filter_offset IS NOT NULL AS has_bloom, "
        "m.bloom_filter_offset AS bloom_start, m.bloom_filter_offset + m.bloom_filter_length AS bloom_end, "
        "m.path_in_schema AS column_path "
        "FROM (SELECT facts.file_name AS file, facts.column_orders AS orders, "
        f"{lists} FROM (SELECT *, parquet_file_metadata[1] AS facts FROM parquet_full_metadata({paths})))"
    )


def files_sql(whole: str) -> str:
    """A row per file of that table. The reader gives one file at a time: all of them at once cost a fraction."""
    elements = f"CAST(to_json(list_transform(about.schema, lambda e: {_element('e.')})) AS VARCHAR)"
    is_julian = f"coalesce(len(list_filter(about.marks, lambda e: {_is_mark('e.')})) > 0, FALSE)"
    facts = "about.rows AS rows, about.created_by AS created_by"
    return f"SELECT file, {facts}, {elements} AS elements, {is_julian} AS is_julian FROM {whole} WHERE about IS NOT NULL"


def over(whole: str, files: str) -> ReadFooters:
    """The parts of these tables."""
    return ReadFooters(files, f"(SELECT * EXCLUDE (about) FROM {whole} WHERE leaf IS NOT NULL)", (whole, files))


def _is_mark(prefix: str) -> str:
    """Whether an entry of a file's key-value metadata says so. Spark itself compares versions as text."""
    key, value = (f"CAST({prefix}{name} AS VARCHAR)" for name in ("key", "value"))
    return f"({key} IN {_MARKS} OR ({key} = '{_VERSION}' AND {value} < '3.0.0'))"


def _element(prefix: str) -> str:
    """An `Element` from the row, or the struct, of one."""
    names = ("type", "logical_type", "converted_type", "duckdb_type", "name", "repetition_type", "num_children", "field_id")
    kind, logical, converted, shown, name, repetition, children, field_id = (prefix + each for each in names)
    # A timestamp with a converted type alone is an instant; DuckDB calls it TIMESTAMP. INT96 has no order.
    type_name = (
        f"CASE WHEN {kind} = 'INT96' THEN 'INT96' WHEN {logical} IS NULL AND {converted} LIKE 'TIMESTAMP%' "
        f"THEN 'TIMESTAMP WITH TIME ZONE' WHEN {shown} = 'VARCHAR' THEN 'STRING' WHEN {shown} = 'BLOB' THEN 'BINARY' "
        f"ELSE upper({shown}) END"
    )
    return (
        f"{{name: {name}, physical_type: {kind}, type_name: {type_name}, repetition: {repetition}, children: {children}, "
        f"field_id: {field_id}}}"
    )
