"""delta and delta*: the worked example (docs/misgendering.md#the-numbers), scale, bounds, nothing to prefer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.misgendering.agreement import theory

EXAMPLE = {"he": 0.5, "she": 0.3, "they": 0.15, "xe": 0.05}
PROBABILITIES = st.fixed_dictionaries(dict.fromkeys(EXAMPLE, st.floats(0, 1)))


@pytest.mark.parametrize("scale", [1, 0.01, 1e-300, 1e300])
def test_delta_equals_the_worked_example_on_any_scale(scale: float) -> None:
    result = theory({name: p * scale for name, p in EXAMPLE.items()}, "she")
    assert (result.delta, result.delta_star) == pytest.approx((0.7, 0.5))


def test_preferring_the_most_likely_form_gives_delta_star() -> None:
    result = theory(EXAMPLE, "he")
    assert result.delta == result.delta_star == pytest.approx(0.5)


def test_delta_is_undefined_for_zero_probabilities() -> None:
    result = theory(dict.fromkeys(EXAMPLE, 0.0), "he")
    assert (result.delta, result.delta_star) == (None, None) and result.reason


def test_delta_of_a_certain_pronoun_is_0_or_1() -> None:
    assert theory({"he": 1.0, "she": 0.0}, "he").delta == 0
    assert theory({"he": 1.0, "she": 0.0}, "she").delta == 1


@pytest.mark.parametrize(
    ("probabilities", "preferred", "why"),
    [
        ({"he": -0.1}, "he", "not a probability"),
        ({"he": float("nan")}, "he", "not a probability"),
        (EXAMPLE, "ze", "ze"),
    ],
)
def test_invalid_probabilities_are_refused(probabilities: dict[str, float], preferred: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        theory(probabilities, preferred)


@given(PROBABILITIES, st.sampled_from(sorted(EXAMPLE)))
def test_delta_is_never_below_delta_star(probabilities: dict[str, float], preferred: str) -> None:
    result = theory(probabilities, preferred)
    if max(probabilities.values()) == 0:
        assert result.delta is None
        return
    assert result.delta is not None and result.delta_star is not None
    assert 0 <= result.delta_star <= result.delta + 1e-12 <= 1 + 2e-12
    assert result.delta_star <= 0.75 + 1e-12  # the largest of four is at least a quarter
    assert sum(result.shares.values()) == pytest.approx(1)
