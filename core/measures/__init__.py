"""Measures of models from score files: means with intervals, what they mix, models side by side (SPEC 1.6 to 1.11, 6).

Ten lines are enough for a table of one's own: docs/notebook.md.
"""

from core.measures.comparing import correlation, paired_difference, paired_differences, side_by_side, sign_agreement
from core.measures.labels import plain_names
from core.measures.listing import extremes, infinite_rows, matching, undefined_rows
from core.measures.means import MEASURES
from core.measures.mixing import Mass, VarianceShares, mass_of, prior_corrected, variance_shares
from core.measures.nulls import NULL_OF, Null, shuffled_sides
from core.measures.reading import is_reference, label_of, models_of, read_scores, rows_of
from core.measures.resampling import Draws, Units, units_of
from core.measures.several import Several, several
from core.measures.summary import Summary, Thresholded, in_ln, summarise, summarise_by, thresholded

__all__ = [
    "MEASURES",
    "NULL_OF",
    "Draws",
    "Mass",
    "Null",
    "Several",
    "Summary",
    "Thresholded",
    "Units",
    "VarianceShares",
    "correlation",
    "extremes",
    "in_ln",
    "infinite_rows",
    "is_reference",
    "label_of",
    "mass_of",
    "matching",
    "models_of",
    "paired_difference",
    "paired_differences",
    "plain_names",
    "prior_corrected",
    "read_scores",
    "rows_of",
    "several",
    "shuffled_sides",
    "side_by_side",
    "sign_agreement",
    "summarise",
    "summarise_by",
    "thresholded",
    "undefined_rows",
    "units_of",
    "variance_shares",
]
