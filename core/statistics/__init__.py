"""The agreement of people and its uncertainty: proportions, kappa, alpha, AC1, and intervals.

A value that cannot be computed is never 0: an `Estimate` without a value says
why in its `reason`.
"""

from evenhand.core.statistics.estimate import Estimate, Note, holm, modified_wilson, wilson
from evenhand.core.statistics.many_raters import (
    Tally,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    largest_kappa,
    ordinal_alpha,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
)
from evenhand.core.statistics.resampling import RESAMPLES, Resampling

__all__ = [
    "RESAMPLES",
    "Estimate",
    "Note",
    "Resampling",
    "Tally",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "holm",
    "krippendorff_alpha",
    "largest_kappa",
    "modified_wilson",
    "ordinal_alpha",
    "pairwise_agreement",
    "prevalence",
    "specific_agreement",
    "unanimity",
    "wilson",
]
