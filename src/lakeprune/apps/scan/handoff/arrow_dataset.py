"""The rows of a plan as a dataset of pyarrow, which every library that knows datasets can scan, as often as it likes.

In: a plan. Out: a `pyarrow.dataset.Dataset`. Projections reach the files; a filter of whoever scans is applied to the rows, by
pyarrow's own rules. A `FileSystemDataset` of the same files would give deleted rows back and would not find renamed columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.files import check_arrow

check_arrow()

import pyarrow as pa  # noqa: E402  # refused with its reason above where it is missing
import pyarrow.dataset as ds  # noqa: E402

from lakeprune.apps.scan.handoff.reader import RowReader  # noqa: E402
from lakeprune.apps.scan.handoff.record import remember  # noqa: E402

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions
    from lakeprune.errors import LakepruneError


def hand_off(plan: ScanPlan, *, options: ScanOptions) -> Any:
    """A dataset of the rows."""
    dataset = ScanDataset(RowReader(plan, options))
    remember(plan, "arrow dataset", "a dataset that reads each file through lakeprune", options)
    return dataset


class ScanDataset(ds.Dataset):  # type: ignore[misc]  # pyarrow ships no types
    """A dataset with one fragment. What `Dataset` offers beside `scanner` (to_table, head, count_rows, ...) is built on it."""

    def __new__(cls, reader: RowReader) -> ScanDataset:  # noqa: ARG004, PYI034  # pyarrow's own constructor refuses
        made: ScanDataset = ds.Dataset.__new__(cls)
        return made

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader

    @property
    def failure(self) -> LakepruneError | None:
        """What ended the last scan before its end."""
        return self._reader.failure

    def __reduce__(self) -> Any:
        raise TypeError("the dataset of a plan cannot be pickled: send the plan (plan.to_json()) and open it there")

    @property
    def schema(self) -> Any:
        return self._reader.output.schema

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:  # noqa: A002  # pyarrow's own name
        return _scanner(self._reader, columns, filter, options)

    def get_fragments(self, filter: Any = None) -> Iterator[Any]:  # noqa: A002, ARG002  # the scanner applies it
        return iter([ScanFragment(self._reader)])


class ScanFragment(ds.Fragment):  # type: ignore[misc]  # pyarrow ships no types
    def __new__(cls, reader: RowReader) -> ScanFragment:  # noqa: ARG004, PYI034  # pyarrow's own constructor refuses
        made: ScanFragment = ds.Fragment.__new__(cls)
        return made

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader

    @property
    def physical_schema(self) -> Any:
        return self._reader.output.schema

    def scanner(self, schema: Any = None, columns: Any = None, filter: Any = None, **options: Any) -> Any:  # noqa: A002, ARG002
        return _scanner(self._reader, columns, filter, options)


def _scanner(reader: RowReader, columns: Any, filter_: Any, options: dict[str, Any]) -> Any:
    """A scan of these columns. The columns of a filter cannot be asked of it, so with one every column is read."""
    known = {name: options[name] for name in ("batch_size", "use_threads", "memory_pool") if name in options}
    wanted = _names(columns) if filter_ is None else None
    schema = reader.output.schema
    read = schema if wanted is None else pa.schema([field for field in schema if field.name in wanted])
    batches = pa.RecordBatchReader.from_batches(read, reader.batches(None if wanted is None else read.names))
    return ds.Scanner.from_batches(batches, columns=columns, filter=filter_, **known)


def _names(columns: Any) -> Sequence[str] | None:
    """The columns of a projection by names; None for one by expressions, or an empty one, whose rows are still counted."""
    is_named = isinstance(columns, list | tuple) and columns and all(isinstance(name, str) for name in columns)
    return list(columns) if is_named else None
