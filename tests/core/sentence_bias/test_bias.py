"""sentence_bias.bias against printed rows, the examples of docs/methods.md#bias-of-a-model, and its own laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.sentence_bias import bias

# Tables 5, 6, 8 and 9 of the conference paper (docs/methods.md#bias-of-a-sentence): row, p_man, p_woman, printed
# Bias_c.
GOOD = [
    ("5.1", 9.865e-1, 4.191e-7, 6.372),
    ("5.3", 8.944e-1, 7.671e-4, 3.067),
    ("5.4", 9.429e-1, 2.701e-3, 2.543),
    ("5.5", 9.012e-1, 3.384e-3, 2.425),
    ("6.1", 5.486e-12, 5.732e-7, -5.019),
    ("6.2", 3.940e-8, 4.588e-4, -4.066),
    ("6.3", 1.668e-4, 3.426e-1, -3.313),
    ("6.4", 2.091e-3, 9.972e-1, -2.678),
    ("6.5", 1.934e-6, 6.212e-4, -2.507),
    ("8.1", 4.109e-1, 7.460e-2, 0.741),
    ("8.2", 7.750e-1, 1.625e-1, 0.678),
    ("8.3", 5.983e-1, 1.337e-1, 0.651),
    ("8.4", 7.632e-1, 1.776e-1, 0.633),
    ("8.5", 7.462e-1, 1.899e-1, 0.594),
    ("9.3", 4.884e-2, 5.691e-1, -1.066),
    ("9.4", 2.364e-2, 2.451e-1, -1.016),
    ("9.5", 1.334e-3, 1.265e-2, -0.977),
]
# The three rows that do not follow from their own probabilities; the value that would fit
# (docs/methods.md#bias-of-a-sentence).
FLAGGED = [
    ("5.2", 2.492e-3, 2.123e-11, 3.756, "needed_p_female", 4.37e-7),
    ("9.1", 1.224e-3, 3.304e-2, -1.428, "needed_p_male", 1.234e-3),
    ("9.2", 1.208e-3, 1.027e-2, -1.070, "needed_p_female", 1.419e-2),
]
VALUES = st.one_of(st.none(), st.floats(-20, 20), st.sampled_from([math.inf, -math.inf, 0.0, 0.3, -0.3]))
LOGP = st.floats(-700, 0)


@pytest.mark.parametrize(("row", "p_male", "p_female", "printed"), GOOD)
def test_bias_equals_published_rows(row, p_male, p_female, printed):
    assert bias.bias(math.log(p_male), math.log(p_female)) == pytest.approx(printed, abs=5e-4)
    assert bias.check_printed(p_male, p_female, printed).consistent, row


@pytest.mark.parametrize(("row", "p_male", "p_female", "printed", "field", "needed"), FLAGGED)
def test_inconsistent_rows_are_flagged(row, p_male, p_female, printed, field, needed):
    check = bias.check_printed(p_male, p_female, printed)
    assert not check.consistent, row
    assert getattr(check, field) == pytest.approx(needed, rel=2e-3)


@pytest.mark.parametrize("base", [math.e, 2])
def test_published_rows_fit_no_other_base(base):
    assert not any(bias.check_printed(p, q, printed, base=base).consistent for _, p, q, printed in GOOD)


@pytest.mark.parametrize(("p", "q"), [(0.0, 0.5), (0.5, 0.0), (1.2, 0.5), (0.5, -0.1)])
def test_check_refuses_invalid_probabilities(p, q):
    with pytest.raises(ValueError, match="probability"):
        bias.check_printed(p, q, 0.0)


@given(LOGP, LOGP)
def test_bias_is_antisymmetric_in_every_base(male, female):
    assert bias.bias(male, female) == -bias.bias(female, male)
    assert bias.bias(male, female, math.e) == pytest.approx(male - female)
    assert bias.as_ln(bias.bias(male, female)) == pytest.approx(male - female)


def test_bias_works_far_below_the_smallest_float():
    # e**-800 underflows to 0.0; the ratio is still exact in log space.
    assert bias.bias(-800.0, -802.302585093) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("male", "female", "expected"),
    [(-1.0, -math.inf, math.inf), (-math.inf, -1.0, -math.inf), (-math.inf, -math.inf, None), (None, -1.0, None)],
)
def test_bias_of_zero_and_missing_probabilities(male, female, expected):
    assert bias.bias(male, female) == expected
    assert (bias.why_undefined(male, female) is None) == (expected is not None)


def test_each_undefined_case_has_its_own_reason():
    assert bias.why_undefined(-math.inf, -math.inf) == bias.BOTH_ZERO
    assert bias.why_undefined(None, None) == bias.NO_ANSWER
    assert bias.why_undefined(math.nan, -1.0) == bias.NO_ANSWER


def test_side_means_equal_golden_numbers():
    # docs/methods.md#bias-of-a-model, closed form.
    values = [0.741, -1.428, 0.2, -0.1, 0.0]
    side = bias.side_means(values)
    assert (side.n, side.n_man, side.n_woman) == (5, 2, 2)
    assert (side.bias_man, side.bias_woman, side.model_bias) == pytest.approx((0.4705, 0.764, 0.61725))
    every = bias.side_means(values, denominator="all")
    assert (every.bias_man, every.bias_woman) == pytest.approx((0.1882, 0.3056))
    assert bias.obvious(values) == bias.Obvious(male=1, female=1, none=3)


# Table 4 of the conference paper: Bias_man, Bias_woman, printed Model_bias of five models.
@pytest.mark.parametrize(
    ("man", "woman", "printed"),
    [
        (1.2103, 1.4123, 1.3113),
        (1.3065, 1.4592, 1.3829),
        (1.4367, 1.4353, 1.4360),
        (1.3668, 1.4891, 1.4280),
        (1.2109, 1.3242, 1.2676),
    ],
)
def test_model_bias_is_the_mean_of_the_sides(man, woman, printed):
    assert bias.side_means([man, -woman]).model_bias == pytest.approx(printed, abs=1e-4)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, 2.0], [-0.5], [None, math.inf]])
@pytest.mark.parametrize("denominator", ["side", "all"])
def test_an_empty_side_is_undefined_never_zero(values, denominator):
    means = bias.side_means(values, denominator=denominator)
    assert means.model_bias is None
    assert means.bias_man is None or means.bias_woman is None


@given(st.lists(VALUES))
def test_every_value_is_counted_once(values):
    means, counts = bias.side_means(values), bias.obvious(values)
    zeros = sum(value == 0 for value in values)
    assert means.n + means.undefined + means.infinite == len(values)
    assert means.n_man + means.n_woman + zeros == means.n
    assert counts.male + counts.female + counts.none == means.n


@given(st.lists(VALUES))
def test_swapping_the_pair_swaps_the_sides(values):
    here = bias.side_means(values)
    there = bias.side_means([None if value is None else -value for value in values])
    assert (here.bias_man, here.bias_woman, here.model_bias) == (there.bias_woman, there.bias_man, there.model_bias)


def test_the_threshold_itself_is_not_obvious():
    assert bias.obvious([0.3, -0.3, 0.3000001, -0.3000001, math.inf, None]) == bias.Obvious(1, 1, 2)


@pytest.mark.parametrize(("male", "female", "mass"), [(0.2, 0.1, 0.3), (1.0, 0.0, 1.0), (0.6, 0.4000001, 1.0)])
def test_pair_mass_is_the_sum_of_both_probabilities(male, female, mass):
    logs = [math.log(p) if p else -math.inf for p in (male, female)]
    assert bias.pair_mass(*logs) == pytest.approx(mass)
    assert bias.pair_mass(None, -1.0) is None


@pytest.mark.parametrize(
    ("value", "prior", "expected"),
    [(1.2, 0.5, 0.7), (-0.1, 0.5, -0.6), (None, 0.5, None), (0.5, None, None), (math.inf, 0.1, None)],
)
def test_prior_correction_subtracts_the_prior(value, prior, expected):
    result = bias.corrected(value, prior)
    assert result is None if expected is None else result == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(1.04, "1.0"), (6.6, "6.6"), (9.94, "9.9"), (12.2, "12"), (99.7, "100"), (2345, "2,300"), (123456, "120,000")],
)
def test_times_is_rounded_for_reading(ratio, words):
    assert bias.times(math.log10(ratio)) == words
    assert bias.times(-math.log10(ratio)) == words


def test_times_of_zero_and_infinite_ratios():
    assert bias.times(math.inf) == "∞"
    assert bias.times(-12.34) == "10^12.3"


@pytest.mark.parametrize(
    ("value", "part", "values"),
    [
        (math.log10(12), "The male word is {times}", {"times": "12"}),
        (-math.log10(6.6), "The female word is {times}", {"times": "6.6"}),
        (0.01, "equally likely", {}),
        (math.inf, "Only the male word", {}),
        (-math.inf, "Only the female word", {}),
        (None, "undefined", {}),
    ],
)
def test_odds_name_the_more_likely_side(value, part, values):
    message, found = bias.odds(value)
    assert part in message
    assert found == values
    assert message.format(**found)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (math.log10(12), "they is 12 times as likely as xe."),
        (-math.log10(6.6), "xe is 6.6 times as likely as they."),
        (0.01, "Both words are about equally likely."),
        (math.inf, "Only they is possible; xe has probability 0."),
        (-math.inf, "Only xe is possible; they has probability 0."),
        (None, "The ratio is undefined here."),
    ],
)
def test_odds_of_two_words_without_a_side_name_the_words(value, sentence):
    message, found = bias.odds(value, ("they", "xe"))
    assert message.format(**found) == sentence


def test_the_mass_of_a_geometric_mean_equals_the_product() -> None:
    # two masks, log p -4 and -8 in all: the means are -2 and -4
    product = bias.word_mass(-4.0, -8.0, "masked|m|weights:0|independent|fp32|v1", 2)
    assert product == pytest.approx(math.exp(-4) + math.exp(-8))
    assert bias.word_mass(-2.0, -4.0, "masked|m|weights:0|geometric_mean|fp32|v1", 2) == pytest.approx(product)
