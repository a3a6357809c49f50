"""What verify says, in every form: valid against the published schemas, loud when rows disagree, honest after a sample."""

from __future__ import annotations

import json
from math import comb
from random import Random
from typing import Any

import jsonschema
import pytest

from lakeprune.apps.verify.model import Audit, Sampled, SparkPlan, Truth, Verification, share_of
from lakeprune.errors import UsageError
from tests.builders.engine import ENGINE
from tests.builders.verifications import audit, fault, unsound, verification
from tests.render.test_html import outline
from tools.generate_schema import target

HOSTILE = "<script>alert(1)</script>\x1b[31m&\"'.parquet"
PART = Sampled(0.5, files=5, checked=2)
FOUND = [
    verification(),
    verification(truth=Truth(6, 24, 0, 0, 0, 1), spark=SparkPlan("Delta Spark", 2, None), slack=()),
    verification(sampled=PART, audit=audit(sampled=PART)),
    unsound(count=150, audit=audit(fault(), fault(column=None))),
    unsound(HOSTILE, audit=audit(fault(HOSTILE, HOSTILE, HOSTILE))),
    audit(),
    audit(fault(HOSTILE), sampled=PART),
]


def schema_of(found: Verification | Audit) -> Any:
    return json.loads(target("verify" if isinstance(found, Verification) else "audit").read_text(encoding="utf-8"))


@pytest.mark.parametrize("found", FOUND)
def test_every_document_is_valid(found: Verification | Audit) -> None:
    whole = json.loads(found.to_json())
    jsonschema.validate(whole, schema_of(found))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**whole, "surprise": 1}, schema_of(found))
    assert whole["result"] == ("pass" if found.passed else "fail")


@pytest.mark.parametrize("found", FOUND)
def test_every_page_is_well_formed_self_contained_and_escaped(found: Verification | Audit) -> None:
    seen = outline(found.to_html())
    assert not [
        value for tag, names in seen.tags for value in (names.get("src"), names.get("href")) if (value or "#")[0] not in "#d"
    ]
    assert sum(tag == "script" for tag, _ in seen.tags) == 1
    fragment = outline(found._repr_html_())
    assert not any(tag == "script" for tag, _ in fragment.tags)
    assert "\x1b" not in found.to_html() + found._repr_html_() + found.to_text()


@pytest.mark.parametrize("found", FOUND)
def test_the_outcome_stands_before_any_number(found: Verification | Audit) -> None:
    for page in (found.to_html(), found._repr_html_()):
        seen = outline(page)
        frames = [names["class"] for tag, names in seen.tags if "verdict" in (names.get("class") or "").split()]
        assert ("verdict fail" in frames) is not found.passed
        first_table = next((i for i, (tag, _) in enumerate(seen.tags) if tag == "table"), len(seen.tags))
        framed = next(i for i, (_, names) in enumerate(seen.tags) if "verdict" in (names.get("class") or "").split())
        assert framed < first_table
    if isinstance(found, Verification) and not found.is_sound:
        assert "✗ FAILED" in found.to_html()
        assert "UNSOUND" in found.to_html()
        assert "UNSOUND" in found._repr_html_()


def test_files_beyond_the_limit_are_counted() -> None:
    assert "... and 149 more" in unsound(count=150).to_text()
    assert '<data value="149">149</data> more' in unsound(count=150).to_html()


def test_a_sample_claims_nothing_about_what_it_did_not_see() -> None:
    found = verification(sampled=PART, truth=Truth(3, 12, 2, 1, 750, 0))
    assert (found.efficiency, found.read_amplification, found.is_complete) == (None, None, False)
    text = found.to_text()
    assert "12 live, 2 match in the 3 files that were checked" in text
    assert "2 of 5 dropped files were checked" in text
    assert "Nothing is proven about the other 3" in text
    assert "missed it with probability 60.0%" in text
    assert "sound." not in text
    assert "Efficiency" not in text
    assert found.to_dict()["sample"]["probability_of_missing_one"] == 0.6


def test_the_probability_of_missing_is_that_of_drawing_without_replacement() -> None:
    rng = Random(5)
    for _ in range(200):
        files = rng.randint(1, 400)
        checked, wrong = rng.randint(0, files), rng.randint(0, files)
        expected = comb(files - wrong, checked) / comb(files, checked)
        assert Sampled(0.5, files, checked).miss_probability(wrong) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("sample", [0, -0.1, 1.5, float("nan"), "a tenth", True])
def test_a_share_outside_of_zero_and_one_is_refused(sample: object) -> None:
    with pytest.raises(UsageError, match="LP247"):
        share_of(sample)


def test_a_file_is_chosen_by_the_md5_of_its_path_on_the_embedded_engine_too() -> None:
    from hashlib import md5

    from lakeprune.programs.sample import in_sample

    paths = [f"part-{n}.parquet" for n in range(200)]
    values = ", ".join(f"('{path}')" for path in paths)
    rows = ENGINE.query(f"SELECT path FROM (VALUES {values}) AS t(path) WHERE {in_sample('path', 0.3)}")
    expected = {path for path in paths if int(md5(path.encode()).hexdigest()[:8], 16) < 0.3 * 2**32}  # noqa: S324
    assert {path for (path,) in rows} == expected
    assert 30 < len(expected) < 90
