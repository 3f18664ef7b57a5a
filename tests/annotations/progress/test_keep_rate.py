"""The share kept while items stop at a first reject: what a project counts."""

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.progress.cells import followed_by_cell
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import change_project, project_by_uid, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.core.forecast.quota import stages
from tests.support.projects import decide, filled_project


def test_pilot_items_are_followed_separately_under_stop(fresh_store: Store) -> None:
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
    result = sum(others, first)
    assert result.full.entered.tolist() == [10] * 3 and result.full.rejected.sum() == 0
    assert result.stopping.entered.tolist() == [30, 0, 0] and result.stopping.rejected.tolist() == [10, 0, 0]
    # Rejects of the first annotator do not determine the share accepted by all.
    assert result.rate == (10, 10) and result.labels(made.per_item, made.share) is None
    assert dashboard(fresh_store, project_by_uid(fresh_store, made.uid)).ahead.each == made.per_item


def test_labels_after_a_reject_count_in_a_project_changed_to_stop(fresh_store: Store) -> None:
    """They count as if each item had stopped at its first reject."""
    made, people = filled_project(fresh_store, 60, words=("他",))
    # By item, in the order of labels: + accepts, - rejects; the last ten are under way.
    said = (
        ["-++"] * 8 + ["-+"] * 6 + ["-"] * 9 + ["+-+"] * 7 + ["+-"] * 5 + ["++-"] * 3 + ["+++"] * 12 + ["++", "+"] * 5
    )
    held = [claim(fresh_store, made, who, want=60) for who in people]
    texts = [entry.text for entry in held[0]]
    for number, (who, have) in enumerate(zip(people, held, strict=True)):
        known = {entry.text: entry for entry in have}
        choices = [(known[text], marks[number]) for text, marks in zip(texts, said, strict=True) if number < len(marks)]
        decisions = [decide(item, "accept" if mark == "+" else "reject", desk=f"d{who.id}") for item, mark in choices]
        assert all(answer.stored for answer in store_operations(fresh_store, made, who, decisions))
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    (forecast,) = followed_by_cell(fresh_store, made).values()
    expected = stages(made.per_item, [(*_stopped(marks), 1) for marks in said])
    assert forecast.stopping.entered.tolist() == expected.entered.tolist() == [60, 32, 15]
    assert forecast.stopping.rejected.tolist() == expected.rejected.tolist() == [23, 12, 3]
    assert forecast.rate == expected.rate and forecast.rate[0] / forecast.rate[1] > 15 / 60


def _stopped(marks: str) -> tuple[int, str]:
    if "-" in marks:
        return marks.index("-") + 1, "rejected"
    return len(marks), "accepted" if len(marks) == 3 else "pending"


def test_one_annotator_alone_marks_no_quota_as_missed(fresh_store: Store) -> None:
    made, (ada, *_) = filled_project(fresh_store, 60, words=("他", "她"))
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    set_quotas(fresh_store, made, {("他/她", "male"): 10, ("他/她", "female"): 10})
    for number, item in enumerate(claim(fresh_store, made, ada, want=50)):
        store_operations(fresh_store, made, ada, [decide(item, "reject" if number % 5 < 3 else "accept")])
    result = dashboard(fresh_store, project_by_uid(fresh_store, made.uid))
    assert sum(cell.counted.reviewed for cell in result.cells) == 30  # three in five of 50
    for cell in result.cells:
        assert cell.counted.kept == 0 and cell.forecast.verdict == "unknown"
        assert cell.forecast.rate.value is None and "No fully labelled item has been accepted by all annotators" in str(
            cell.forecast.needed.reason
        )
    assert "label-by-label" in result.signature
