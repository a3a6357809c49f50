"""Both hint parsers take anything: a share of the inputs of `make soundness`, and texts that Hypothesis makes up."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.apps.sharing.hints.ask import ask_hints
from lakeprune.planning.planner import Planner
from tests.scope import share_of
from tests.soundness.sharing.fuzz import check, planner, try_batch

_SHARED = cache(planner)


def _asked() -> Planner:
    return _SHARED()


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_no_mutated_hint_raises(seed: int) -> None:
    try_batch(_asked(), seed)


def test_many_inputs_are_used_and_many_are_not() -> None:
    used = try_batch(_asked(), 0, 400)
    assert 40 < used < 360


@settings(max_examples=share_of(300))
@given(st.lists(st.text(max_size=60), max_size=3), st.none() | st.text(max_size=200))
def test_no_text_raises(sql: list[str], json: str | None) -> None:
    check(ask_hints(_asked(), sql, json))


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
_DOCUMENTS = st.recursive(
    _LEAVES, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=4)
)


@settings(max_examples=share_of(200))
@given(_DOCUMENTS)
def test_no_json_document_raises(document: object) -> None:
    import json

    check(ask_hints(_asked(), [], json.dumps(document)))
