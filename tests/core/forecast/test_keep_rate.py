"""The share kept while items stop at a first reject: by hand, and against what becomes of simulated items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import N_
from evenhand.core.forecast.quota import Followed, stages
from evenhand.core.statistics import Note, wilson

THREE = 3  # labels of an item
NOTHING = Note(N_("No label is there."))
Counted = list[tuple[int, str, int]]


@pytest.mark.parametrize(
    ("counted", "share", "items", "labels"),
    [
        # All done: kept / reviewed, of as many.
        ([(1, "rejected", 40), (2, "rejected", 10), (3, "rejected", 5), (3, "accepted", 45)], 0.45, 100, 2.1),
        # Half of what the first one accepted waits for the second, the rest is done: 0.6 x 20 / 30 x 15 / 20 = 0.3;
        # Greenwood: 0.4 / (0.6 x 100) + (1 / 3) / (2 / 3 x 30) + 0.25 / (0.75 x 20) = 0.04, so 0.7 / 0.3 / 0.04 items.
        ([(1, "rejected", 40), (1, "pending", 30), (2, "rejected", 10), (3, "rejected", 5), (3, "accepted", 15)],
         0.3, 58, 2.0),
        ([(1, "rejected", 40), (1, "pending", 60)], None, 0, None),  # one annotator alone: undefined
        ([(1, "rejected", 40), (2, "pending", 60)], None, 0, None),
        ([(1, "rejected", 30)], 0.0, 30, 1.0),
        ([(2, "rejected", 10), (1, "pending", 30)], 0.0, 10, 2.0),  # the second reject is not reached by three quarters
        ([(3, "accepted", 20), (1, "pending", 9)], 1.0, 20, 3.0),
        # Of a pilot with four labels; what waits with all its labels has passed all but the last.
        ([(4, "rejected", 10), (4, "accepted", 10), (3, "pending", 5)], 0.5, 20, 3.0),
        ([], None, 0, None),
    ],
)  # fmt: skip
def test_the_share_kept_equals_hand_computation(
    counted: Counted, share: float | None, items: int, labels: float | None
) -> None:
    result = stages(THREE, counted)
    kept, of = result.rate
    assert of == items and (share is None) == (of == 0)
    assert kept == pytest.approx((share or 0) * items)
    assert result.labels == (None if labels is None else pytest.approx(labels))


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_without_open_items_the_share_is_kept_over_reviewed(numbers: list[int]) -> None:
    one, two, three, kept = numbers
    result = stages(THREE, [(1, "rejected", one), (2, "rejected", two), (3, "rejected", three), (3, "accepted", kept)])
    share, of = result.rate
    assert of == sum(numbers) and share == pytest.approx(kept)


def _halfway(random: np.random.Generator) -> Counted:
    """Simulate 300 items, each with its own quality, after 60 to 300 labels; a tenth is labelled by all."""
    quality, shared = random.beta(1.6, 1, 300), random.random(300) < 0.1
    labels, rejects, back, new = np.zeros(300, int), np.zeros(300, int), list[int](), 0
    for _ in range(random.integers(60, 300)):
        if back and random.random() < 0.4:
            item = back.pop(random.integers(len(back)))
        else:
            item, new = new, new + 1
        labels[item] += 1
        rejects[item] += random.random() > quality[item]
        if labels[item] < 3 and (shared[item] or not rejects[item]):
            back.append(item)
    done = (labels == 3) | (~shared & (rejects > 0))
    status = np.where(done, np.where(rejects > 0, "rejected", "accepted"), "pending")
    return [(int(n), str(state), 1) for n, state in zip(labels, status, strict=True) if n]


def test_the_interval_has_its_coverage() -> None:
    random, share = np.random.default_rng(8), 1.6 / 4.6  # the mean of the cube of beta(1.6, 1)
    hits, plain, known = 0, 0, 0
    for _ in range(200):
        counted = _halfway(random)
        kept, of = stages(THREE, counted).rate
        if of:
            known += 1
            result = wilson(kept, of, nothing=NOTHING)
            hits += result.low <= share <= result.high  # type: ignore[operator]
            done = [status == "accepted" for _, status, _ in counted if status != "pending"]
            among = wilson(sum(done), len(done), nothing=NOTHING)
            plain += among.low <= share <= among.high  # type: ignore[operator]
    assert known > 190 and hits >= 0.9 * known
    assert plain < 0.7 * known  # kept / reviewed would not do


def test_a_pilot_with_begun_items_is_not_counted_twice() -> None:
    random, share = np.random.default_rng(9), 1.6 / 4.6
    hits, chained = 0, 0
    for _ in range(200):
        kept = int((random.random((3, 100)) < random.beta(1.6, 1, 100)).all(axis=0).sum())
        rejected = int((random.random(500) > random.beta(1.6, 1, 500)).sum())
        pilot: Counted = [(3, "rejected", 100 - kept), (3, "accepted", kept)]
        begun: Counted = [(1, "rejected", rejected), (1, "pending", 500 - rejected)]
        result = wilson(*Followed(stages(THREE, begun), stages(THREE, pilot)).rate, nothing=NOTHING)
        hits += result.low <= share <= result.high  # type: ignore[operator]
        interval = wilson(*stages(THREE, pilot + begun).rate, nothing=NOTHING)
        chained += interval.low <= share <= interval.high  # type: ignore[operator]
    assert hits >= 180 and chained < 60
