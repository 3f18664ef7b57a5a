"""Whether the candidates that are left meet a quota: missing / share kept, with the ends of Wilson's interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.forecast.corpus import Supply, forecast
from evenhand.core.forecast.quota import Counted, quota_forecasts
from evenhand.core.forecast.work_model import Cell as PlanCell
from evenhand.core.forecast.work_model import forecast_work

CELL = ("他/她", "male")
OTHER = ("他/她", "female")
FAR = ("男/女", "male")


def counted(
    quota: int | None = 100, mined: int = 1_000, reviewed: int = 100, kept: int = 30, left: int = 500
) -> Counted:
    return Counted(quota, mined, reviewed, reviewed, kept, kept, left)


# Wilson's interval of 30 of 100: 0.21895 to 0.39585 (Brown, Cai and DasGupta 2001, equation 4, by hand). 70 are
# missing: 70 / 0.3 = 233.3, 70 / 0.39585 = 176.8, 70 / 0.21895 = 319.7.
def test_needed_candidates_are_missing_over_the_share_kept() -> None:
    result = quota_forecasts({CELL: counted()})[CELL]
    assert (result.missing, result.own) == (70, True)
    assert result.rate.value == 0.3
    assert result.rate.low == pytest.approx(0.21895, abs=1e-5) and result.rate.high == pytest.approx(0.39585, abs=1e-5)
    assert (result.needed.low, result.needed.value, result.needed.high) == (177, 234, 320)


@pytest.mark.parametrize(
    ("left", "verdict", "to_find"),
    [
        (0, "no", 234),
        (176, "no", 58),
        (177, "undecided", 57),
        (319, "undecided", 0),
        (320, "yes", 0),
        (900, "yes", 0),
    ],
)
def test_the_verdict_compares_the_remaining_with_both_ends(left: int, verdict: str, to_find: int) -> None:
    result = quota_forecasts({CELL: counted(left=left)})[CELL]
    assert (result.verdict, result.to_find.value) == (verdict, to_find)


@pytest.mark.parametrize(
    ("quota", "kept", "verdict", "missing", "needed"),
    [(None, 30, "none", None, None), (30, 30, "met", 0, 0), (10, 30, "met", 0, 0), (0, 0, "met", 0, 0)],
)
def test_forecasts_without_a_quota_or_with_a_met_one(
    quota: int | None, kept: int, verdict: str, missing: int | None, needed: int | None
) -> None:
    result = quota_forecasts({CELL: counted(quota=quota, kept=kept)})[CELL]
    assert (result.verdict, result.missing, result.needed.value) == (verdict, missing, needed)
    assert (result.needed.value is None) == (result.needed.reason is not None)


def test_cells_with_few_reviewed_items_take_the_overall_share() -> None:
    cells = {
        CELL: counted(reviewed=9, kept=1),
        OTHER: counted(reviewed=1, kept=1),
        FAR: counted(reviewed=29, kept=18),
        ("男/女", "female"): counted(reviewed=0, kept=0),
    }
    result = quota_forecasts(cells)
    assert [result[cell].own for cell in cells] == [False, False, True, False]
    assert result[CELL].rate.value == result[OTHER].rate.value == 20 / 39 and result[CELL].rate.units == 39
    assert result[FAR].rate.value == 18 / 29
    cells[CELL] = counted(reviewed=10, kept=2)
    assert quota_forecasts(cells)[CELL].own


CANDIDATES = st.integers(0, 400)


@given(quota=CANDIDATES, accepted=CANDIDATES, rejected=CANDIDATES, left=CANDIDATES, others=st.integers(0, 30))
def test_mine_progress_and_plan_give_equal_forecasts(
    quota: int, accepted: int, rejected: int, left: int, others: int
) -> None:
    """Mine, Progress and Labelling plan, of the same candidates: the same share, from the same items, and verdict."""
    reviewed = accepted + rejected
    progress = quota_forecasts(
        {
            CELL: Counted(quota, reviewed + left, reviewed, reviewed, accepted, accepted, left),
            FAR: Counted(quota, others, others, others, others, others, 0),
        }
    )
    mine = forecast(
        {
            CELL: Supply(quota, reviewed + left, left, accepted, reviewed, accepted),
            FAR: Supply(quota, others, 0, others, others, others),
        },
        10_000,
        draws=10,
    )
    plan = forecast_work(
        [
            PlanCell(*CELL, reviewed + left, quota, accepted, {(1, 0): accepted, (1, 1): rejected}, left),
            PlanCell(*FAR, others, quota, others, {(1, 0): others}, 0),
        ],
        1,
        1.0,
        draws=10,
    )
    for quota_forecast, other, third in zip(progress.values(), mine.cells, plan.cells, strict=True):
        assert quota_forecast.verdict == other.verdict == third.verdict
        assert quota_forecast.own == other.own == third.own
        assert quota_forecast.rate.value == other.rate.value == third.rate.value


def test_a_share_without_reviewed_items_is_undefined() -> None:
    result = quota_forecasts({CELL: counted(reviewed=0, kept=0)})[CELL]
    assert result.verdict == "unknown" and result.needed.value is None and result.rate.value is None
    assert "No items have been reviewed yet, so the acceptance rate is unknown." in str(result.needed.reason)


def test_none_kept_gives_a_lower_bound_only() -> None:
    # Wilson's upper end of 0 of 20 is z^2 / (20 + z^2) = 0.16113: 100 / 0.16113 = 620.6.
    result = quota_forecasts({CELL: counted(reviewed=20, kept=0, left=620)})[CELL]
    assert (result.needed.low, result.needed.value, result.needed.high) == (621, None, None)
    assert result.verdict == "no" and "None of the 20" in str(result.needed.reason)
    assert quota_forecasts({CELL: counted(reviewed=20, kept=0, left=621)})[CELL].verdict == "undecided"


@given(
    quota=st.integers(0, 3_000),
    reviewed=st.integers(0, 2_000),
    share=st.floats(0, 1),
    left=st.integers(0, 5_000),
)
def test_ends_are_in_order_and_the_verdict_follows_them(quota: int, reviewed: int, share: float, left: int) -> None:
    kept = round(share * reviewed)
    result = quota_forecasts({CELL: counted(quota=quota, reviewed=reviewed, kept=kept, left=left)})[CELL]
    ends = [end for end in (result.needed.low, result.needed.value, result.needed.high) if end is not None]
    assert ends == sorted(ends) and all(math.isfinite(end) and end >= (result.missing or 0) for end in ends)
    assert (result.verdict == "met") == (kept >= quota)
    if result.verdict == "yes":
        assert result.needed.high is not None and left >= result.needed.high and result.to_find.value == 0
    if result.verdict == "no":
        assert result.needed.low is not None and left < result.needed.low
