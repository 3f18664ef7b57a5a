"""Measures of models from score files: means with intervals, what they mix, models side by side (docs/model_bias.md).

Ten lines are enough for your own table: docs/model_bias.md.
"""

from evenhand.core.model_bias.compare_models import Groups as Groups
from evenhand.core.model_bias.compare_models import correlation as correlation
from evenhand.core.model_bias.compare_models import grouping as grouping
from evenhand.core.model_bias.compare_models import null_band as null_band
from evenhand.core.model_bias.compare_models import over_seeds as over_seeds
from evenhand.core.model_bias.compare_models import paired_difference as paired_difference
from evenhand.core.model_bias.compare_models import paired_differences as paired_differences
from evenhand.core.model_bias.compare_models import read_groups as read_groups
from evenhand.core.model_bias.compare_models import seed_groups as seed_groups
from evenhand.core.model_bias.compare_models import side_by_side as side_by_side
from evenhand.core.model_bias.compare_models import sign_agreement as sign_agreement
from evenhand.core.model_bias.compare_models import unit_of as unit_of
from evenhand.core.model_bias.compare_models import written_groups as written_groups
from evenhand.core.model_bias.extremes import extremes as extremes
from evenhand.core.model_bias.extremes import infinite_rows as infinite_rows
from evenhand.core.model_bias.extremes import matching as matching
from evenhand.core.model_bias.extremes import undefined_rows as undefined_rows
from evenhand.core.model_bias.means import MEASURES as MEASURES
from evenhand.core.model_bias.means import Mass as Mass
from evenhand.core.model_bias.means import VarianceShares as VarianceShares
from evenhand.core.model_bias.means import mass_of as mass_of
from evenhand.core.model_bias.means import prior_corrected as prior_corrected
from evenhand.core.model_bias.means import variance_shares as variance_shares
from evenhand.core.model_bias.nulls import NULL_OF as NULL_OF
from evenhand.core.model_bias.nulls import ManyIntervals as ManyIntervals
from evenhand.core.model_bias.nulls import Null as Null
from evenhand.core.model_bias.nulls import many_intervals as many_intervals
from evenhand.core.model_bias.nulls import shuffled_sides as shuffled_sides
from evenhand.core.model_bias.score_files import is_reference as is_reference
from evenhand.core.model_bias.score_files import label_of as label_of
from evenhand.core.model_bias.score_files import models_of as models_of
from evenhand.core.model_bias.score_files import plain_names as plain_names
from evenhand.core.model_bias.score_files import read_scores as read_scores
from evenhand.core.model_bias.score_files import rows_of as rows_of
from evenhand.core.model_bias.summary import Summary as Summary
from evenhand.core.model_bias.summary import Thresholded as Thresholded
from evenhand.core.model_bias.summary import in_ln as in_ln
from evenhand.core.model_bias.summary import summarise as summarise
from evenhand.core.model_bias.summary import summarise_by as summarise_by
from evenhand.core.model_bias.summary import thresholded as thresholded
from evenhand.core.statistics import Resampling as Resampling
from evenhand.core.statistics.units import Units as Units
from evenhand.core.statistics.units import units_of as units_of
