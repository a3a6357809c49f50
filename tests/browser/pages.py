"""The pages that the browser opens: a small table, one large enough for bins, one whose names are attacks, and empty ones."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow as pa
from msgspec.structs import replace
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyiceberg.types import IntegerType, NestedField, StringType

import lakeprune
from lakeprune.report.model import Diagnosis, Report, Severity
from tests.builders import delta

ATTACK = "</script><img src=x onerror=\"window.broken=1\"><svg onload='window.broken=1'>&amp;"
USERS = "country = 'DE' AND age > 40"


def users(folder: Path) -> Report:
    return lakeprune.explain(delta.users(folder / "users"), USERS, min_pruning=90, max_files=3)


def why(folder: Path) -> Report:
    """Metadata and Delta Spark disagree, two diagnoses, a gate that fails."""
    return lakeprune.explain(delta.users(folder / "why"), "age + 1 > 41", explain_why=True, min_pruning=90)


def many(folder: Path) -> Report:
    """2,500 files of 50 days, some without statistics: above the limit of drawing each."""
    columns = {"day": "date", "id": "long", "at": "timestamp", "kind": "string", "price": "double"}
    adds = []
    for n in range(2500):
        day = f"2024-{1 + n // 50 // 28:02d}-{1 + n // 50 % 28:02d}"
        low, high = f"{day}T{n % 24:02d}:00:00.000Z", f"{day}T{n % 24:02d}:59:59.999Z"
        kind = ("click", "order", "view")[n % 3]
        stats = delta.statistics(
            100, id=(n * 10, n * 10 + 400, 0), at=(low, high, 0), kind=(kind, kind, 0), price=(n % 7, n % 90 + 7, 1)
        )
        path = f"day={day}/part-{n:05d}-c000.snappy.parquet"
        adds.append(delta.add(path, size=1_000_000 + n, partition={"day": day}, stats=None if n % 100 == 7 else stats))
    table = delta.write_log(folder / "many", [[delta.protocol(), delta.metadata(columns, ["day"]), *adds]])
    return lakeprune.explain(table, "day >= '2024-01-20' AND id BETWEEN 9000 AND 14000 AND kind = 'order' AND price > 5")


def hostile(folder: Path) -> Report:
    """Column, partition, file and folder names, values and the predicate: all of them markup."""
    columns = {ATTACK: "string", f"p{ATTACK}": "string", "x": "long"}
    stats = delta.statistics(5, **{ATTACK: (ATTACK, ATTACK + "z", 0), "x": (1, 9, 0)})
    adds = [
        delta.add(f"{ATTACK}-{n}.parquet".replace("/", "%2F"), partition={f"p{ATTACK}": f"{ATTACK}{n}"}, stats=stats)
        for n in range(3)
    ]
    place = folder / ATTACK.replace("/", "∕")
    table = delta.write_log(place, [[delta.protocol(), delta.metadata(columns, [f"p{ATTACK}"]), *adds]])
    text = ATTACK.replace("'", "\\'")
    report = lakeprune.explain(table, f"`{ATTACK}` >= '{text}' AND `p{ATTACK}` != '{text}' AND rand(x) < 0.5")
    return replace(report, diagnoses=(Diagnosis(ATTACK, Severity.WARNING, ATTACK, ATTACK, ATTACK, {}, ATTACK, ATTACK),))


def nothing(folder: Path) -> Report:
    table = delta.write_log(folder / "nothing", [[delta.protocol(), delta.metadata({"x": "long"})]])
    return lakeprune.explain(table, "x > 3")


def no_predicate(folder: Path) -> Report:
    return lakeprune.explain(delta.users(folder / "everything"))


def no_statistics(folder: Path) -> Report:
    actions = [delta.protocol(), delta.metadata({"x": "long"}), delta.add("a.parquet"), delta.add("b.parquet")]
    return lakeprune.explain(delta.write_log(folder / "bare", [actions]), "x > 3")


def levels(folder: Path) -> Report:
    """Three commits of an Iceberg table, with a manifest, a file and ten row groups each."""
    schema = Schema(NestedField(1, "id", IntegerType(), required=False), NestedField(2, "name", StringType(), required=False))
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform("truncate[100]"), "id_trunc"))
    with closing(SqlCatalog("tests", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")) as catalog:
        catalog.create_namespace("db")
        properties = {"write.parquet.row-group-limit": "10", "write.metadata.metrics.default": "none"}
        table = catalog.create_table("db.t", schema, partition_spec=spec, properties=properties)
        for start in (0, 100, 200):
            numbers = range(start, start + 100)
            table.append(pa.table({"id": pa.array(numbers, pa.int32()), "name": [f"n{number:03}" for number in numbers]}))
    where = "id BETWEEN 105 AND 118 AND name > 'n110'"
    return lakeprune.explain(table.location().removeprefix("file://"), where, row_groups=True)


PAGES = {page.__name__: page for page in (users, why, many, hostile, nothing, no_predicate, no_statistics, levels)}
