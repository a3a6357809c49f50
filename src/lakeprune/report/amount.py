"""How much: files, bytes and live rows, added up, and shares of them.

Rows are those of the files that tell; `files_without_rows` counts the files that do not. A share is never shown as 100 % while
something is left, nor as 0 % when something is gone: rounding must not hide the one file that matters.
"""

from __future__ import annotations

from msgspec import Struct

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


class Amount(Struct, frozen=True):
    """Files, bytes and live rows. `rows` counts the files that record theirs, `files_without_rows` those that do not."""

    files: int = 0
    bytes: int = 0
    rows: int = 0
    files_without_rows: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.files + other.files,
            self.bytes + other.bytes,
            self.rows + other.rows,
            self.files_without_rows + other.files_without_rows,
        )

    def __sub__(self, other: Amount) -> Amount:
        return Amount(
            self.files - other.files,
            self.bytes - other.bytes,
            self.rows - other.rows,
            self.files_without_rows - other.files_without_rows,
        )


NOTHING = Amount()


def percent(part: int, whole: int) -> float:
    """`part` of `whole` in percent, to four decimals; 0 of 0 is 0.

    >>> percent(5, 6), percent(999_999_999, 1_000_000_000), percent(0, 0)
    (83.3333, 99.9999, 0.0)
    """
    if whole <= 0 or part <= 0:
        return 0.0
    if part >= whole:
        return 100.0
    return min(max(round(100 * part / whole, 4), 0.0001), 99.9999)


def percent_text(part: int, whole: int) -> str:
    """The share for readers.

    >>> percent_text(4, 6), percent_text(999_999, 1_000_000), percent_text(1, 1000)
    ('67%', '>99%', '<1%')
    """
    share = percent(part, whole)
    if share > 99 and part < whole:
        return ">99%"
    if share < 1 and part > 0:
        return "<1%"
    return f"{share:.0f}%"


def files_text(count: int) -> str:
    """
    >>> files_text(1), files_text(2)
    ('1 file', '2 files')
    """
    return "1 file" if count == 1 else f"{count} files"


def size_text(size: int) -> str:
    """Bytes for readers, in powers of 1000.

    >>> size_text(778), size_text(1_100), size_text(2_500_000_000)
    ('778 B', '1.1 KB', '2.5 GB')
    """
    number, unit = float(size), 0
    while abs(number) >= 999.95 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{size} B" if unit == 0 else f"{number:.1f} {_UNITS[unit]}"


def amount_text(amount: Amount) -> str:
    """
    >>> amount_text(Amount(2, 5000, 10))
    '2 files (5.0 KB)'
    """
    return f"{files_text(amount.files)} ({size_text(amount.bytes)})"
