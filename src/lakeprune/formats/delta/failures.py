"""What a failed query over the log means for the user.

In: the engine's words. Out: a TableError that names the file and line, where they can be found.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lakeprune.errors import TableError
from lakeprune.formats.snapshot import in_short
from lakeprune.storage.storage import Storage


def log_failure(message: str, storage: Storage, paths: Sequence[str]) -> TableError:
    """The error to show when the engine could not read these JSON files of a table's log, given by the engine's paths."""
    why = in_short(storage.with_places(message))
    fix = "restore the log from a copy, or explain an older version with --at-version"
    for path in paths:
        number = _first_bad_line(path)
        if number is not None:
            where = f"{storage.with_places(path)}, line {number}"
            return TableError("LP306", "a line of the log is not readable", where=where, why=why, fix=fix)
    return TableError("LP306", "the table's log cannot be read", where=storage.location, why=why, fix=fix)


def _first_bad_line(place: str) -> int | None:
    """The number of the first line that is not a JSON object; engines count differently."""
    try:
        with open(place, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not _is_object(line):
                    return number
    except OSError:
        return None
    return None


def _is_object(line: bytes) -> bool:
    try:
        action = json.loads(line.decode())
        json.dumps(action, ensure_ascii=False).encode()  # half of a surrogate pair is not text
        return isinstance(action, dict)
    except (ValueError, RecursionError):
        return False
