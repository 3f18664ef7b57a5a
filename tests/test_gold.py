"""From labels to gold (SPEC 1.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.gold import verdict

A, R = "accept", "reject"
choice_lists = st.lists(st.sampled_from((A, R)), max_size=7)


@pytest.mark.parametrize(
    ("choices", "wanted", "unanimous", "majority"),
    [
        ([], 1, "pending", "pending"),
        ([A], 1, "accepted", "accepted"),
        ([R], 1, "rejected", "rejected"),
        ([A, A], 3, "pending", "pending"),
        ([R, R], 3, "pending", "pending"),  # fewer than three labels: pending, whatever they say
        ([A, A, A], 3, "accepted", "accepted"),
        ([A, A, R], 3, "rejected", "accepted"),
        ([A, R, R], 3, "rejected", "rejected"),
        ([R, R, R], 3, "rejected", "rejected"),
        ([A, A, R, R], 3, "rejected", "pending"),  # a late label can make a tie
        ([A, A, A, A], 3, "accepted", "accepted"),
        (["correct", "correct", "correct"], 3, "pending", "pending"),
    ],
)
def test_table(choices: list[str], wanted: int, unanimous: str, majority: str) -> None:
    assert verdict(choices, wanted, "unanimous") == unanimous
    assert verdict(choices, wanted, "majority") == majority


@given(choice_lists, st.integers(1, 5), st.randoms(use_true_random=False))
def test_order_does_not_matter(choices: list[str], wanted: int, random: object) -> None:
    shuffled = list(choices)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for rule in ("unanimous", "majority"):
        assert verdict(choices, wanted, rule) == verdict(shuffled, wanted, rule)  # type: ignore[arg-type]


@given(choice_lists, st.integers(1, 5))
def test_unanimous_is_the_stricter_rule(choices: list[str], wanted: int) -> None:
    if verdict(choices, wanted, "unanimous") == "accepted":
        assert verdict(choices, wanted, "majority") == "accepted"
