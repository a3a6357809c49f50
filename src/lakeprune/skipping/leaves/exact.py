"""An expression over partition columns, decided on the partition values themselves.

Why it is safe. A file has one value per partition column; the expression was evaluated on it with the engine's own semantics.
Where the value, or the expression's answer on it, is in doubt, all truth values it could have are reported as possible.
"""

from __future__ import annotations

from lakeprune.predicate.tree import Exact
from lakeprune.skipping.fact import Never, unproven
from lakeprune.skipping.mask import Mask, leaf


def exact_mask(exact: Exact) -> Mask:
    return leaf(unproven(Never(exact, True)), unproven(Never(exact, False)), unproven(Never(exact, None)))
