"""Conditions that pruning cannot use, rewritten as ranges of bare columns where that can be proven.

In: a bound predicate that normalises to something opaque. Out: a normalised predicate with less of it opaque, and the same truth
on every row (an Either where only bounds are known). Each rule has its proof beside it, in `preimages.py` and `patterns.py`;
what no rule can prove stays opaque. These rules are for proposals: the scan itself is planned without them.
"""

from __future__ import annotations

from lakeprune.predicate.passes.normalise import normalise
from lakeprune.predicate.passes.sargable.patterns import restate_patterns
from lakeprune.predicate.passes.sargable.preimages import PREIMAGES
from lakeprune.predicate.tree import Expr, Profile


def sargable(bound: Expr, profile: Profile) -> Expr:
    """The predicate after all passes, with the rules of this package beside the ordinary ones."""
    return normalise(restate_patterns(bound), profile, more=PREIMAGES)
