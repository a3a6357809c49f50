"""How much: files, bytes and live rows, added up, and shares of them.

Rows are those of the files that tell, `files_without_rows` counts the files that do not; so with bytes and `files_without_bytes`,
the files in manifests that were not read: what is not known is never counted as 0 silently. Where deletes are not counted,
the physical rows are an upper bound of the live ones. A share is never shown as 100 % while something is left, nor as 0 % when
something is gone: rounding must not hide the one file that matters.
"""

from __future__ import annotations

from operator import add, sub

from msgspec import Struct
from msgspec.structs import astuple

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


class Amount(Struct, frozen=True):
    """Files, bytes and live rows. `rows` and `bytes` count the files whose own are known, `files_without_*` the others."""

    files: int = 0
    bytes: int = 0
    rows: int = 0
    files_without_rows: int = 0
    files_without_bytes: int = 0
    files_with_bounded_rows: int = 0  # those of files_without_rows whose live rows have an upper bound
    bounded_rows: int = 0  # what those have at most

    @property
    def rows_at_most(self) -> int | None:
        """The live rows, or an upper bound of them; None where some files have neither."""
        is_bounded = self.files_without_rows == self.files_with_bounded_rows
        return self.rows + self.bounded_rows if is_bounded else None

    def __add__(self, other: Amount) -> Amount:
        return Amount(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: Amount) -> Amount:
        return Amount(*map(sub, astuple(self), astuple(other)))


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


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def files_text(count: int) -> str:
    return counted(count, "file")


def size_text(size: int) -> str:
    """Bytes for readers, in powers of 1000.

    >>> size_text(778), size_text(1_100), size_text(2_500_000_000)
    ('778 B', '1.1 KB', '2.5 GB')
    """
    number, unit = float(size), 0
    while abs(number) >= 999.95 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{size} B" if unit == 0 else f"{number:.1f} {_UNITS[unit]}"


def bytes_text(amount: Amount) -> str:
    """The bytes for readers, as a lower bound where some are not known.

    >>> bytes_text(Amount(2, 5000)), bytes_text(Amount(3, 5000, 0, 0, 1)), bytes_text(Amount(1, 0, 0, 0, 1))
    ('5.0 KB', 'at least 5.0 KB', 'unknown')
    """
    if amount.files_without_bytes and not amount.bytes:
        return "unknown"
    return f"{'at least ' if amount.files_without_bytes else ''}{size_text(amount.bytes)}"


def rows_text(amount: Amount) -> str:
    """The live rows for readers, as an upper bound where deletes are not counted.

    >>> rows_text(Amount(2, 0, 10)), rows_text(Amount(2, 0, 10, 1, 0, 1, 5)), rows_text(Amount(3, 0, 10, 2, 0, 1, 5))
    ('10', 'at most 15', '10')
    """
    most = amount.rows_at_most
    return f"{amount.rows:,}" if most is None or not amount.files_without_rows else f"at most {most:,}"


def unsure_rows_text(amount: Amount) -> str:
    """Why live rows are not known exactly; nothing where they are.

    >>> unsure_rows_text(Amount(3, 0, 10, 2)), unsure_rows_text(Amount(3, 0, 10, 1, 0, 1, 5)), unsure_rows_text(Amount(1, 0, 10))
    ('without 2 files of unknown length', 'deletes of 1 file are not counted', '')
    """
    if amount.rows_at_most is None:
        return f"without {files_text(amount.files_without_rows)} of unknown length"
    return f"deletes of {files_text(amount.files_without_rows)} are not counted" if amount.files_without_rows else ""


def unread_text(amount: Amount) -> str:
    """Why bytes are not known.

    >>> unread_text(Amount(3, 5000, 0, 0, 120))
    '120 files in manifests that were not read'
    """
    return f"{files_text(amount.files_without_bytes)} in manifests that were not read"


def bytes_pruned(total: Amount, kept: Amount) -> float:
    """The share of bytes that is pruned, in percent; a lower bound where the bytes of dropped files are not known.

    >>> bytes_pruned(Amount(4, 100), Amount(1, 25)), bytes_pruned(Amount(4, 100, 0, 0, 2), Amount(1, 50))
    (75.0, 50.0)
    >>> bytes_pruned(Amount(4, 0, 0, 0, 4), Amount())
    100.0
    """
    if total.files_without_bytes and not kept.files:
        return 100.0
    return percent(total.bytes - kept.bytes, total.bytes)


def amount_text(amount: Amount) -> str:
    """
    >>> amount_text(Amount(2, 5000, 10))
    '2 files (5.0 KB)'
    """
    return f"{files_text(amount.files)} ({bytes_text(amount)})"
