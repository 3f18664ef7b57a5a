"""Whether the candidates that are left meet a quota: missing / share kept, with the ends of Wilson's interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.forecast.quota import Counted, outlooks

CELL = ("他/她", "male")
OTHER = ("他/她", "female")
FAR = ("男/女", "male")


def counted(
    quota: int | None = 100, mined: int = 1_000, reviewed: int = 100, kept: int = 30, left: int = 500
) -> Counted:
    return Counted(quota, mined, reviewed, kept, kept, left)


# Wilson's interval of 30 of 100: 0.21895 to 0.39585 (Brown, Cai and DasGupta 2001, equation 4, by hand). 70 are
# missing: 70 / 0.3 = 233.3, 70 / 0.39585 = 176.8, 70 / 0.21895 = 319.7.
def test_needed_is_missing_over_the_share_with_the_ends_of_its_interval() -> None:
    found = outlooks({CELL: counted()})[CELL]
    assert (found.missing, found.basis) == (70, "own")
    assert found.rate.value == 0.3
    assert found.rate.low == pytest.approx(0.21895, abs=1e-5) and found.rate.high == pytest.approx(0.39585, abs=1e-5)
    assert (found.needed.low, found.needed.value, found.needed.high) == (177, 234, 320)


@pytest.mark.parametrize(
    ("left", "verdict", "to_find"),
    [
        (0, "short", 234),
        (176, "short", 58),
        (177, "open", 57),
        (319, "open", 0),
        (320, "enough", 0),
        (900, "enough", 0),
    ],
)
def test_the_verdict_compares_what_is_left_with_both_ends(left: int, verdict: str, to_find: int) -> None:
    found = outlooks({CELL: counted(left=left)})[CELL]
    assert (found.verdict, found.to_find.value) == (verdict, to_find)


@pytest.mark.parametrize(
    ("quota", "kept", "verdict", "missing", "needed"),
    [(None, 30, "none", None, None), (30, 30, "met", 0, 0), (10, 30, "met", 0, 0), (0, 0, "met", 0, 0)],
)
def test_without_a_quota_or_with_one_that_is_met(
    quota: int | None, kept: int, verdict: str, missing: int | None, needed: int | None
) -> None:
    found = outlooks({CELL: counted(quota=quota, kept=kept)})[CELL]
    assert (found.verdict, found.missing, found.needed.value) == (verdict, missing, needed)
    assert (found.needed.value is None) == (found.needed.reason is not None)


def test_few_reviewed_take_the_share_of_the_pair_then_of_all() -> None:
    cells = {
        CELL: counted(reviewed=19, kept=1),
        OTHER: counted(reviewed=1, kept=1),
        FAR: counted(reviewed=19, kept=18),
        ("男/女", "female"): counted(reviewed=0, kept=0),
    }
    found = outlooks(cells)
    assert [found[cell].basis for cell in cells] == ["pair", "pair", "all", "all"]
    assert found[CELL].rate.value == found[OTHER].rate.value == 2 / 20
    assert found[FAR].rate.value == 20 / 39 and found[FAR].rate.units == 39
    cells[CELL] = counted(reviewed=20, kept=2)
    assert outlooks(cells)[CELL].basis == "own"


def test_nothing_reviewed_is_not_zero() -> None:
    found = outlooks({CELL: counted(reviewed=0, kept=0)})[CELL]
    assert found.verdict == "unknown" and found.needed.value is None and found.rate.value is None
    assert "Nothing has been reviewed yet" in str(found.needed.reason)


def test_none_kept_names_only_the_least_and_may_be_too_much_already() -> None:
    # Wilson's upper end of 0 of 20 is z^2 / (20 + z^2) = 0.16113: 100 / 0.16113 = 620.6.
    found = outlooks({CELL: counted(reviewed=20, kept=0, left=620)})[CELL]
    assert (found.needed.low, found.needed.value, found.needed.high) == (621, None, None)
    assert found.verdict == "short" and "None of the 20" in str(found.needed.reason)
    assert outlooks({CELL: counted(reviewed=20, kept=0, left=621)})[CELL].verdict == "open"


@given(
    quota=st.integers(0, 3_000),
    reviewed=st.integers(0, 2_000),
    share=st.floats(0, 1),
    left=st.integers(0, 5_000),
)
def test_ends_are_in_order_and_the_verdict_follows_them(quota: int, reviewed: int, share: float, left: int) -> None:
    kept = round(share * reviewed)
    found = outlooks({CELL: counted(quota=quota, reviewed=reviewed, kept=kept, left=left)})[CELL]
    ends = [end for end in (found.needed.low, found.needed.value, found.needed.high) if end is not None]
    assert ends == sorted(ends) and all(math.isfinite(end) and end >= (found.missing or 0) for end in ends)
    assert (found.verdict == "met") == (kept >= quota)
    if found.verdict == "enough":
        assert found.needed.high is not None and left >= found.needed.high and found.to_find.value == 0
    if found.verdict == "short":
        assert found.needed.low is not None and left < found.needed.low
