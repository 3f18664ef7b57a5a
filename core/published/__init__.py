"""Checks of published numbers: recalculated from the other numbers of the papers (SPEC 5).

Only facts and figures are stored, as printed and with their origin, in core/data/published_*.tsv.
"""

from evenhand.core.published.claims import DOCUMENTS, VERDICTS, PrintedClaim
from evenhand.core.published.other_papers import inference_claims, misgendering_claims, thesis_claims
from evenhand.core.published.own_runs import (
    BASES,
    BesidePrinted,
    OwnCheck,
    beside_inference,
    beside_misgendering,
    check_own,
    compared,
    read_rows,
)
from evenhand.core.published.slguset import readings, slguset_claims, table4

__all__ = [
    "BASES",
    "DOCUMENTS",
    "VERDICTS",
    "BesidePrinted",
    "OwnCheck",
    "PrintedClaim",
    "beside_inference",
    "beside_misgendering",
    "check_own",
    "checks",
    "compared",
    "read_rows",
    "readings",
    "table4",
]


def checks() -> list[PrintedClaim]:
    """Every checked claim, by document in the order of DOCUMENTS."""
    return [*slguset_claims(), *thesis_claims(), *inference_claims(), *misgendering_claims()]
