"""Random tables and predicates against row truth; `LAKEPRUNE_SOUNDNESS_CASES` sets how many cases are tried."""

from __future__ import annotations

import os

from tests.soundness.run import run

CASES = int(os.environ.get("LAKEPRUNE_SOUNDNESS_CASES", "3000"))


def test_no_matching_file_is_dropped_and_no_full_file_has_another_row() -> None:
    total = run(CASES, seed=0)
    assert not total.violations, "\n".join(total.violations[:5])
    assert total.cases >= CASES
    assert total.undecided < total.cases / 100, "the oracle must be able to judge nearly everything"
    assert total.false_assumptions > 0, "no NaN was hidden, so that the marks of assumptions were not tested"
    assert total.drops > total.possible_drops / 2, "a soundness test that drops nothing proves nothing"
