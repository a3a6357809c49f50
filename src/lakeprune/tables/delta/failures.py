"""What a failed query over the log means for the user.

In: the engine's words. Out: a TableError that names the file and line, where they can be found.
"""

from __future__ import annotations

import json
import re

from lakeprune.errors import TableError

_FILE = re.compile(r'in file "([^"]+)"')


def log_failure(message: str, location: str) -> TableError:
    """The error to show when the engine could not read the log of a table."""
    match = _FILE.search(message)
    if match is None:
        return TableError("LP306", "the table's log cannot be read", where=location, why=message)
    place = match[1]
    number = _first_bad_line(place)
    where = place if number is None else f"{place}, line {number}"
    return TableError("LP306", "a line of the log is not readable", where=where, why=message)


def _first_bad_line(place: str) -> int | None:
    """The number of the first line that is no JSON object; engines count differently."""
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
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
