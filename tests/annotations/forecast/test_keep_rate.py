"""The share kept while items stop at a first reject: by hand, and against what becomes of simulated items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.keep_rate import Followed, followed_by_cell, stages
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import change_project, project_by_uid, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Note, wilson
from tests.support.projects import decide, filled_project

THREE = Project(1, "u", "p", "sentences", "zh", 3, "unanimous", "masked", None, 0, "", None)
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
        ([(1, "rejected", 40), (1, "pending", 60)], None, 0, None),  # one annotator alone: nobody knows
        ([(1, "rejected", 40), (2, "pending", 60)], None, 0, None),
        ([(1, "rejected", 30)], 0.0, 30, 1.0),
        ([(2, "rejected", 10), (1, "pending", 30)], 0.0, 10, 2.0),  # the second reject is not reached by three quarters
        ([(3, "accepted", 20), (1, "pending", 9)], 1.0, 20, 3.0),
        # Of a pilot with four labels; what waits with all its labels has passed all but the last.
        ([(4, "rejected", 10), (4, "accepted", 10), (3, "pending", 5)], 0.5, 20, 3.0),
        ([], None, 0, None),
    ],
)  # fmt: skip
def test_by_hand(counted: Counted, share: float | None, items: int, labels: float | None) -> None:
    found = stages(THREE, counted)
    kept, of = found.rate
    assert of == items and (share is None) == (of == 0)
    assert kept == pytest.approx((share or 0) * items)
    assert found.labels == (None if labels is None else pytest.approx(labels))


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_with_nothing_under_way_it_is_kept_of_reviewed(numbers: list[int]) -> None:
    one, two, three, kept = numbers
    found = stages(THREE, [(1, "rejected", one), (2, "rejected", two), (3, "rejected", three), (3, "accepted", kept)])
    share, of = found.rate
    assert of == sum(numbers) and share == pytest.approx(kept)


def _halfway(random: np.random.Generator) -> Counted:
    """300 items, each with a quality of its own, after 60 to 300 labels; a tenth is labelled by all."""
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
    return [(int(n), str(one), 1) for n, one in zip(labels, status, strict=True) if n]


def test_its_interval_covers_what_becomes_of_all() -> None:
    random, share = np.random.default_rng(8), 1.6 / 4.6  # the mean of the cube of beta(1.6, 1)
    hits, plain, known = 0, 0, 0
    for _ in range(200):
        counted = _halfway(random)
        kept, of = stages(THREE, counted).rate
        if of:
            known += 1
            found = wilson(kept, of, nothing=NOTHING)
            hits += found.low <= share <= found.high  # type: ignore[operator]
            done = [status == "accepted" for _, status, _ in counted if status != "pending"]
            among = wilson(sum(done), len(done), nothing=NOTHING)
            plain += among.low <= share <= among.high  # type: ignore[operator]
    assert known > 190 and hits >= 0.9 * known
    assert plain < 0.7 * known  # kept / reviewed would not do


def test_a_pilot_beside_what_one_annotator_has_begun_is_not_counted_twice() -> None:
    random, share = np.random.default_rng(9), 1.6 / 4.6
    hits, chained = 0, 0
    for _ in range(200):
        kept = int((random.random((3, 100)) < random.beta(1.6, 1, 100)).all(axis=0).sum())
        rejected = int((random.random(500) > random.beta(1.6, 1, 500)).sum())
        pilot: Counted = [(3, "rejected", 100 - kept), (3, "accepted", kept)]
        begun: Counted = [(1, "rejected", rejected), (1, "pending", 500 - rejected)]
        found = wilson(*Followed(stages(THREE, begun), stages(THREE, pilot)).rate, nothing=NOTHING)
        hits += found.low <= share <= found.high  # type: ignore[operator]
        one = wilson(*stages(THREE, pilot + begun).rate, nothing=NOTHING)
        chained += one.low <= share <= one.high  # type: ignore[operator]
    assert hits >= 180 and chained < 60


def test_what_all_label_is_followed_apart_in_a_project(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 60, words=("他", "她"))
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    start_pilot(fresh_store, made, 10)
    for person in people:
        for item in claim(fresh_store, made, person, want=10):
            store_operations(fresh_store, made, person, [decide(item, "accept")])
    close_pilot(fresh_store, made)
    for number, item in enumerate(claim(fresh_store, made, people[0], want=30)):
        store_operations(fresh_store, made, people[0], [decide(item, "accept" if number % 3 else "reject")])
    first, *others = followed_by_cell(fresh_store, made).values()
    found = sum(others, first)
    assert found.full.entered.tolist() == [10] * 3 and found.full.rejected.sum() == 0
    assert found.stopping.entered.tolist() == [30, 0, 0] and found.stopping.rejected.tolist() == [10, 0, 0]
    # What the first one rejects says nothing yet of the share that all accept.
    assert found.rate == (10, 10) and found.labels(made) is None
    assert dashboard(fresh_store, project_by_uid(fresh_store, made.uid)).ahead.each == made.per_item


def test_labels_after_a_reject_of_a_project_that_changed_to_stop(fresh_store: Store) -> None:
    """They count as if each item had stopped at its first reject."""
    made, people = filled_project(fresh_store, 60, words=("他",))
    # By item, in the order of labels: + accepts, - rejects; the last ten are under way.
    said = (
        ["-++"] * 8 + ["-+"] * 6 + ["-"] * 9 + ["+-+"] * 7 + ["+-"] * 5 + ["++-"] * 3 + ["+++"] * 12 + ["++", "+"] * 5
    )
    held = [claim(fresh_store, made, who, want=60) for who in people]
    texts = [one.text for one in held[0]]
    for number, (who, have) in enumerate(zip(people, held, strict=True)):
        known = {one.text: one for one in have}
        choices = [(known[text], marks[number]) for text, marks in zip(texts, said, strict=True) if number < len(marks)]
        decisions = [decide(one, "accept" if mark == "+" else "reject", desk=f"d{who.id}") for one, mark in choices]
        assert all(answer.stored for answer in store_operations(fresh_store, made, who, decisions))
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    (found,) = followed_by_cell(fresh_store, made).values()
    expected = stages(made, [(*_stopped(marks), 1) for marks in said])
    assert found.stopping.entered.tolist() == expected.entered.tolist() == [60, 32, 15]
    assert found.stopping.rejected.tolist() == expected.rejected.tolist() == [23, 12, 3]
    assert found.rate == expected.rate and found.rate[0] / found.rate[1] > 15 / 60


def _stopped(marks: str) -> tuple[int, str]:
    if "-" in marks:
        return marks.index("-") + 1, "rejected"
    return len(marks), "accepted" if len(marks) == 3 else "pending"


def test_one_annotator_alone_makes_no_quota_red(fresh_store: Store) -> None:
    made, (ada, *_) = filled_project(fresh_store, 60, words=("他", "她"))
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    set_quotas(fresh_store, made, {("他/她", "male"): 10, ("他/她", "female"): 10})
    for number, item in enumerate(claim(fresh_store, made, ada, want=50)):
        store_operations(fresh_store, made, ada, [decide(item, "reject" if number % 5 < 3 else "accept")])
    found = dashboard(fresh_store, project_by_uid(fresh_store, made.uid))
    assert sum(cell.counted.reviewed for cell in found.cells) == 30  # three in five of 50
    for cell in found.cells:
        assert cell.counted.kept == 0 and cell.forecast.verdict == "unknown"
        assert cell.forecast.rate.value is None and "No fully labelled item has been accepted by everybody" in str(
            cell.forecast.needed.reason
        )
    assert "label-by-label" in found.signature
