"""One way to get the files of a table as data, in a process of its own: `python -m bench.plan_worker WAY TABLE`."""

from __future__ import annotations

import sys

DAY = "2024-02-15"


def lakeprune_arrow(table: str, where: str | None) -> int:
    import lakeprune

    return int(lakeprune.plan(table, where).files.num_rows)


def lakeprune_json(table: str, where: str | None) -> int:
    import lakeprune
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import WHOLE

    return sum(len(piece) for piece in rendered(lakeprune.plan(table, where), "json", WHOLE))


def deltalake_actions(table: str, _: str | None) -> int:
    from deltalake import DeltaTable

    return len(DeltaTable(table).get_add_actions(flatten=True))


def deltalake_uris(table: str, where: str | None) -> int:
    from deltalake import DeltaTable

    return len(
        DeltaTable(table).file_uris()
        if where is None
        else DeltaTable(table).file_uris(file_pruning_predicate=[("day", "=", DAY)])
    )


WAYS = {
    "lakeprune-arrow": lakeprune_arrow,
    "lakeprune-json": lakeprune_json,
    "deltalake-actions": deltalake_actions,
    "deltalake-uris": deltalake_uris,
}

if __name__ == "__main__":
    way, _, asked = sys.argv[1].partition(":")
    print(WAYS[way](sys.argv[2], f"day = '{DAY}'" if asked == "filtered" else None))
