"""The four verdicts, and what each rests on."""

from dataclasses import replace

import pytest

from evenhand.core.before_after.compare import Cost
from evenhand.core.before_after.report import CHANGE_OUTCOMES, finding
from evenhand.core.statistics import Estimate, Note


def effect(low: float | None, high: float | None) -> Estimate:
    if low is None or high is None:
        return Estimate(-0.1, units=2, note=Note("few"))
    return Estimate((low + high) / 2, low, high, units=9, se=(high - low) / 4, method="m")


def price(rise: float) -> Cost:
    return Cost(3.0, 3.0 + rise, Estimate(rise), Estimate(0.0), 100, 10)


@pytest.mark.parametrize(
    ("low", "high", "rise", "verdict"),
    [
        (-0.3, -0.1, 0.0, "leans less"),
        (-0.3, -0.1, 0.04, "leans less"),
        (-0.3, -0.1, 0.06, "leans less; predicts held-out text less well"),
        (-0.3, 0.1, 0.9, "no difference shown"),
        (-0.3, 0.0, 0.0, "no difference shown"),
        (0.1, 0.3, 0.9, "leans more"),
        (None, None, 0.0, "no difference shown"),
    ],
)
def test_the_verdict_follows_from_interval_and_cost(
    low: float | None, high: float | None, rise: float, verdict: str
) -> None:
    result = finding(effect(low, high), [price(rise)], margin=0.1, placebo=True, seeds=3)
    assert result.verdict == verdict == result.outcome and result.code is not None
    assert CHANGE_OUTCOMES[result.code] == verdict


def test_a_stored_record_shows_the_present_wording_of_its_code() -> None:
    found = finding(effect(-0.3, -0.1), [price(0.06)], margin=0.1, placebo=True, seeds=3)
    stored = replace(found, verdict="leans less because it knows less")
    assert stored.code == "knows less" and stored.outcome == "leans less; predicts held-out text less well"
    assert replace(stored, code=None, verdict="leans more").outcome == "leans more"


def test_a_verdict_lists_what_it_cannot_rule_out() -> None:
    bare = finding(effect(-0.3, -0.1), [], margin=None, placebo=False, seeds=1)
    assert [text.split(",")[0] for text in map(str, bare.notes)] == [
        "There is no placebo. Training on any text changes a model",
        "There is only one seed",
        "The cost is unknown: no held-out text was given.",
    ]
    assert finding(effect(-0.3, -0.1), [price(0)], margin=None, placebo=True, seeds=3).notes == ()
    assert finding(effect(None, None), [price(0)], margin=None, placebo=True, seeds=3).notes == ()
    bare = finding(Estimate(-0.1), [price(0)], margin=None, placebo=True, seeds=3)
    assert [*map(str, bare.notes)] == ["Without an interval, no difference can be shown."]


def test_a_small_effect_is_shown_to_be_small() -> None:
    assert finding(effect(-0.01, 0.01), [], margin=0.1, placebo=True, seeds=3).equivalence["answer"] == "yes"
