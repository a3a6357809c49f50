"""What a data file has, as its table says it is.

In: an Arrow array with the file's own type and names. Out: the same values in the shape of the table: physical names become
logical ones, narrower types are widened, fields that the file does not have are NULL. A value that does not fit is `DoesNotFit`,
never rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeprune.apps.scan.handoff.shape import Leaf, ListOf, MapOf, Member, Nothing, Shape, StructOf, arrow_of
from lakeprune.values.types import Kind

Array = Any  # of pyarrow, which ships no types
_FIELD_ID = b"PARQUET:field_id"


class DoesNotFit(Exception):
    """Why values of a file cannot be values of a column."""


def conformed(array: Array, shape: Shape, *, by_id: bool) -> Array:
    """The array in the shape of the table."""
    import pyarrow as pa

    if array.type == arrow_of(shape):
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), arrow_of(shape))
    match shape:
        case Nothing():
            return pa.nulls(len(array))
        case Leaf():
            return _leaf(array, shape)
        case StructOf(members):
            return _struct(array, members, by_id=by_id)
        case ListOf(element):
            offsets, values = _unrolled(array, pa.types.is_list(array.type) or pa.types.is_large_list(array.type))
            return pa.ListArray.from_arrays(offsets, conformed(values, element, by_id=by_id), type=arrow_of(shape))
        case MapOf(key, value):
            is_map = pa.types.is_map(array.type)
            offsets, entries = _unrolled(_as_list(array) if is_map else array, is_map)
            keys, items = (conformed(part, side, by_id=by_id) for part, side in zip(entries.flatten(), (key, value), strict=True))
            return pa.MapArray.from_arrays(offsets, keys, items, type=arrow_of(shape))


def found_in(fields: Sequence[Any], member: Member, *, by_id: bool) -> int | None:
    """Where a file has a column, among the fields of its schema or of a struct; None when it was added later.

    By name as Spark does: as written, else without case. Two columns that differ only in case are distinguished by it.
    """
    if by_id:
        ids = [None if field.metadata is None else field.metadata.get(_FIELD_ID) for field in fields]
        wanted = str(member.field_id).encode()
        same = [place for place, number in enumerate(ids) if number == wanted and member.field_id is not None]
    else:
        names = [field.name for field in fields]
        same = [place for place, name in enumerate(names) if name == member.physical]
        same = same or [place for place, name in enumerate(names) if name.lower() == member.physical.lower()]
    if len(same) > 1:
        raise DoesNotFit(f"the file has {len(same)} columns that are `{member.name}`")
    return same[0] if same else None


def has_ids(fields: Sequence[Any]) -> bool:
    """Whether some column of a file has an id."""
    return any(field.metadata is not None and _FIELD_ID in field.metadata for field in fields)


def _struct(array: Array, members: Sequence[Member], *, by_id: bool) -> Array:
    import pyarrow as pa

    if not pa.types.is_struct(array.type):
        raise DoesNotFit(f"{array.type} is not a struct")
    children, fields = array.flatten(), list(array.type)
    parts = []
    for member in members:
        place = found_in(fields, member, by_id=by_id)
        target = arrow_of(member.shape)
        parts.append(pa.nulls(len(array), target) if place is None else conformed(children[place], member.shape, by_id=by_id))
    made = [pa.field(member.name, arrow_of(member.shape)) for member in members]
    return pa.StructArray.from_arrays(parts, fields=made, mask=array.is_null())


def _unrolled(array: Array, is_several: bool) -> tuple[Array, Array]:
    """Offsets, NULL where the list is, and the values of all lists one after another."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_several:
        raise DoesNotFit(f"{array.type} is not a list or a map")
    lengths = pc.fill_null(pc.list_value_length(array).cast(pa.int32()), 0)
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    is_null = pa.concat_arrays([array.is_null(), pa.array([False])])
    return pc.if_else(is_null, pa.scalar(None, pa.int32()), offsets), array.flatten()


def _as_list(array: Array) -> Array:
    """A map as a list of keys and values: Arrow neither counts nor unrolls the entries of maps."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_null = pa.concat_arrays([array.is_null(), pa.array([False])])
    offsets = pc.if_else(is_null, pa.scalar(None, pa.int32()), array.offsets)
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"]))


def _leaf(array: Array, shape: Leaf) -> Array:
    import pyarrow as pa

    target, kind = arrow_of(shape), shape.type.kind
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_fixed_size_binary(array.type) and kind is Kind.STRING:
        raise DoesNotFit("the file has UUIDs, whose text only Spark writes")
    if pa.types.is_timestamp(array.type) and kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        if kind is Kind.TIMESTAMP_NTZ and array.type.tz is not None:
            raise DoesNotFit("the file has moments where the table has times without a zone")
        # A moment without a zone (INT96, or written without one) is in UTC: that is how Spark reads it.
        array = _cast(array, pa.timestamp("us", tz=array.type.tz))
        return array.view(target)
    return _cast(array, target)


def _cast(array: Array, target: Any) -> Array:
    import pyarrow as pa

    try:
        return array.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DoesNotFit(f"the file has {array.type}, the table {target}: {str(error).splitlines()[0]}") from error
