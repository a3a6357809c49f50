"""Every preimage against brute force: a predicate cut right at a function's value, tried on the row and on its neighbours."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.predicate.functions import registry
from lakeprune.predicate.functions.evaluate import evaluate
from lakeprune.predicate.functions.function import NO_CATALYST_FORM, EvaluationFailed, Function
from lakeprune.predicate.functions.registry import MODULES, every_function, functions_in, lookup
from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.read.catalyst.functions import functions_by_class
from lakeprune.predicate.tree import Column, Compare, Expr, In, Literal, Op, Profile
from lakeprune.predicate.walk import columns_of, type_of
from lakeprune.values.types import INTEGER_RANGES, Kind, Scalar
from tests.generator.trees import DATA, RANDOMS, value_of, values
from tests.generator.values import DAY
from tests.predicate.outcomes import check_truths
from tests.scope import share_of

UTC = Profile(now=0)
DOCUMENTED = (Path(__file__).parents[3] / "docs" / "rules" / "functions.md").read_text(encoding="utf-8")
# Spark replaces these before a plan is read: by a cast, a substring, an IF.
REPLACED_BY_THE_OPTIMISER = {"to_date", "to_timestamp", "right", "nullif", "split_part"}


def neighbours(value: Scalar, column: Column) -> list[Scalar]:
    """Values just around one value of a column, where an off-by-one would show."""
    kind = column.type.kind
    if kind is Kind.BOOLEAN:
        return [False, True]
    if isinstance(value, int):
        least, greatest = INTEGER_RANGES[kind]
        is_moment = kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
        steps = (-DAY, -3_600_000_000, -1, 0, 1, 1_000_000, 60_000_000) if is_moment else (-31, -1, 0, 1, 7)
        return [value + step for step in steps if least <= value + step <= greatest]
    if kind is Kind.DOUBLE and isinstance(value, float):
        return [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
    if isinstance(value, Decimal):
        ulp = Decimal(1).scaleb(-column.type.scale)
        return [v for v in (value, value + ulp, value - ulp) if abs(v) < 10**8]
    if isinstance(value, str):
        return [value, value + "a", value[:-1], value + "\U0010ffff"]
    return [value]


@st.composite
def cuts(draw: st.DrawFn) -> tuple[Expr, list[dict[Column, Scalar]], Profile]:
    """A predicate whose literal is the function's own value on a row, and rows around that row."""
    value, profile = draw(values(DATA))
    rng = draw(RANDOMS)
    specs = {spec.bound: spec for spec in DATA}
    start = {c: value_of(specs[c].type, rng, specs[c].pool) for c in columns_of(value)}
    try:
        result = evaluate(value, start, profile)
    except EvaluationFailed:
        result = None
    literal = Literal(result, type_of(value))
    options: list[Expr] = [*(Compare(op, value, literal) for op in Op), In(value, (literal, literal))]
    predicate = draw(st.sampled_from(options))
    rows = [{**start, c: v} for c in start for v in neighbours(start[c], c)]
    return predicate, [start, *rows, dict.fromkeys(start, None)], profile


@settings(max_examples=share_of(1000), deadline=None)
@given(cuts())
def test_a_preimage_has_the_truth_of_the_function_on_every_row(
    case: tuple[Expr, list[dict[Column, Scalar]], Profile],
) -> None:
    predicate, rows, profile = case
    after = normalise(predicate, profile)
    check_truths(predicate, after, rows, profile)


def test_the_index_has_the_names_of_the_records() -> None:
    folder = Path(registry.__file__).parent
    defining = {path.stem for path in folder.glob("*.py") if "\nFUNCTIONS = " in path.read_text(encoding="utf-8")}
    assert set(MODULES) == defining
    for module, names in MODULES.items():
        assert names == tuple(name for function in functions_in(module) for name in function.names)
    every_name = [name for names in MODULES.values() for name in names]
    assert len(set(every_name)) == len(every_name)


@pytest.mark.parametrize("function", every_function(), ids=lambda function: function.name)
def test_a_function_has_names_arity_a_catalyst_form_and_a_value(function: Function) -> None:
    assert all(lookup(name) is function for name in function.names)
    assert function.arity
    assert (function.evaluate is None) != (function.choose is None)
    assert (function.catalyst == NO_CATALYST_FORM) == (function.name in REPLACED_BY_THE_OPTIMISER)
    assert all(functions_by_class()[name] in (function.name, "cast") for name in function.catalyst)
    assert f"| `{function.name}` | yes |" in DOCUMENTED


def test_every_documented_function_has_a_record() -> None:
    documented = re.findall(r"^\| `([^`]+)` \| yes \|", DOCUMENTED, re.MULTILINE)
    assert sorted(documented) == sorted(function.name for function in every_function())
