"""Measures of models from score files: means with intervals, what they mix, models side by side (SPEC 1.6 to 1.11, 6).

Ten lines are enough for a table of one's own: docs/model_bias.md.
"""

from evenhand.core.model_bias.compare_models import (
    Groups,
    correlation,
    grouping,
    null_band,
    over_seeds,
    paired_difference,
    paired_differences,
    read_groups,
    seed_groups,
    side_by_side,
    sign_agreement,
    unit_of,
    written_groups,
)
from evenhand.core.model_bias.extremes import extremes, infinite_rows, matching, undefined_rows
from evenhand.core.model_bias.means import MEASURES
from evenhand.core.model_bias.mixing import Mass, VarianceShares, mass_of, prior_corrected, variance_shares
from evenhand.core.model_bias.nulls import NULL_OF, ManyIntervals, Null, many_intervals, shuffled_sides
from evenhand.core.model_bias.score_files import is_reference, label_of, models_of, plain_names, read_scores, rows_of
from evenhand.core.model_bias.summary import Summary, Thresholded, in_ln, summarise, summarise_by, thresholded
from evenhand.core.statistics import Resampling
from evenhand.core.statistics.units import Units, units_of

__all__ = [
    "MEASURES",
    "NULL_OF",
    "Groups",
    "ManyIntervals",
    "Mass",
    "Null",
    "Resampling",
    "Summary",
    "Thresholded",
    "Units",
    "VarianceShares",
    "correlation",
    "extremes",
    "grouping",
    "in_ln",
    "infinite_rows",
    "is_reference",
    "label_of",
    "many_intervals",
    "mass_of",
    "matching",
    "models_of",
    "null_band",
    "over_seeds",
    "paired_difference",
    "paired_differences",
    "plain_names",
    "prior_corrected",
    "read_groups",
    "read_scores",
    "rows_of",
    "seed_groups",
    "shuffled_sides",
    "side_by_side",
    "sign_agreement",
    "summarise",
    "summarise_by",
    "thresholded",
    "undefined_rows",
    "unit_of",
    "units_of",
    "variance_shares",
    "written_groups",
]
