"""From labels to gold (docs/methods.md#gold)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.items.gold import decide_gold

A, R = "accept", "reject"
choice_lists = st.lists(st.sampled_from((A, R)), max_size=7)


@pytest.mark.parametrize(
    ("choices", "wanted", "unanimous", "majority"),
    [
        ([], 1, "pending", "pending"),
        ([A], 1, "accepted", "accepted"),
        ([R], 1, "rejected", "rejected"),
        ([A, A], 3, "pending", "pending"),
        ([R, R], 3, "pending", "pending"),  # fewer than three labels: always pending
        ([A, A, A], 3, "accepted", "accepted"),
        ([A, A, R], 3, "rejected", "accepted"),
        ([A, R, R], 3, "rejected", "rejected"),
        ([R, R, R], 3, "rejected", "rejected"),
        ([A, A, R, R], 3, "rejected", "pending"),  # a late label can make a tie
        ([A, A, A, A], 3, "accepted", "accepted"),
        (["correct", "correct", "correct"], 3, "accepted", "accepted"),  # done, not kept: there is a gold label
        (["correct"], 1, "accepted", "accepted"),
        (["correct", "misgendering"], 2, "pending", "pending"),  # waits for adjudication
        (["correct", "no_pronoun", "no_pronoun"], 3, "pending", "accepted"),
    ],
)
def test_gold_follows_the_table_of_the_specification(
    choices: list[str], wanted: int, unanimous: str, majority: str
) -> None:
    assert decide_gold(choices, wanted, "unanimous").status == unanimous
    assert decide_gold(choices, wanted, "majority").status == majority


@pytest.mark.parametrize(
    ("choices", "wanted", "unanimous", "majority", "split"),
    [
        ([A, A, R], 3, R, A, True),
        ([A, A], 3, None, None, False),  # not fully labelled, so no disagreement yet
        ([A, R], 3, None, None, False),
        ([A, A, R, R], 3, R, None, True),
        (["correct", "no_pronoun", "no_pronoun"], 3, None, "no_pronoun", True),
        (["plural_they", "plural_they"], 2, "plural_they", "plural_they", False),
    ],
)
def test_gold_comes_with_the_disagreement(
    choices: list[str], wanted: int, unanimous: str | None, majority: str | None, split: bool
) -> None:
    assert decide_gold(choices, wanted, "unanimous")[::2] == (unanimous, split)
    assert decide_gold(choices, wanted, "majority")[::2] == (majority, split)


@given(choice_lists, st.integers(1, 5), st.randoms(use_true_random=False))
def test_gold_does_not_depend_on_the_order_of_labels(choices: list[str], wanted: int, random: object) -> None:
    shuffled = list(choices)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for rule in ("unanimous", "majority"):
        assert decide_gold(choices, wanted, rule) == decide_gold(shuffled, wanted, rule)  # type: ignore[arg-type]


@given(choice_lists, st.integers(1, 5))
def test_items_accepted_unanimously_are_accepted_by_majority(choices: list[str], wanted: int) -> None:
    if decide_gold(choices, wanted, "unanimous").status == "accepted":
        assert decide_gold(choices, wanted, "majority").status == "accepted"
