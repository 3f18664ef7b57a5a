"""Several seeds of a model are one unit, and nothing is grouped in silence."""

import numpy as np
import pytest
from scipy import stats

from evenhand.core.errors import BadFile, NotFound
from evenhand.core.model_bias import seed_groups, summarise
from evenhand.core.model_bias.compare_models import grouping, over_seeds, read_groups, unit_of, written_groups
from tests.support.bias_scores import normal, stemmed

MODELS = ["bert-seed1", "bert-seed2", "bert-seed10", "x_s1", "x_s2", "gpt2", "roberta-s1", "v2", "folder/run-run3"]


def test_two_or_more_names_ending_in_a_seed_are_one_model() -> None:
    groups = seed_groups(MODELS)
    assert groups == {"bert": ("bert-seed1", "bert-seed2", "bert-seed10"), "x": ("x_s1", "x_s2")}
    assert [unit_of(model, groups) for model in ("x_s2", "gpt2", "roberta-s1")] == ["x", "gpt2", "roberta-s1"]
    assert "bert (bert-seed1, bert-seed2, bert-seed10); x (x_s1, x_s2)" in str(grouping(groups))


def test_the_user_can_name_groups_of_seeds() -> None:
    named = read_groups(["mine=gpt2, v2", "bert=bert-seed1,bert-seed2"])
    assert seed_groups(MODELS, named) == {
        "mine": ("gpt2", "v2"),
        "bert": ("bert-seed1", "bert-seed2"),
        "x": ("x_s1", "x_s2"),
    }
    assert seed_groups(MODELS, named, by_name=False) == named
    assert read_groups(written_groups(named)) == named
    with pytest.raises(NotFound):
        seed_groups(MODELS, {"mine": ["no-model", "v2"]})
    with pytest.raises(BadFile):
        seed_groups(MODELS, {"mine": ["gpt2", "v2"], "other": ["gpt2", "x_s1"]})
    for wrong in ("mine", "mine=gpt2", "=gpt2,v2"):
        with pytest.raises(BadFile):
            read_groups([wrong])


def test_a_measure_over_seeds_has_t_over_the_seeds() -> None:
    summaries = [summarise(stemmed(normal(48, seed=seed, shift=0.1), f"m-seed{seed}")) for seed in range(4)]
    result = over_seeds(summaries)["signed_mean"]
    values = [summary.signed_mean.value for summary in summaries]
    ends = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert (result.low, result.high) == pytest.approx(ends) and (result.units, result.df) == (4, 3)
    two = over_seeds(summaries[:2])["model_bias"]
    assert two.value is not None and two.low is None and "three seeds" in str(two.note)
