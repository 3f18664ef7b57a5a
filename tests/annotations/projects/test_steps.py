"""The steps of a project: their states, and which one is next, from the first file to a release and after it."""

import pytest

from evenhand.annotations.accounts.links import (
    first_link,
    invitations,
    invite_link,
    spend,
    uninvited,
    withdraw_invitation,
)
from evenhand.annotations.adjudication.decisions import case, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.projects import add_annotators, annotators, change_project, create_project
from evenhand.annotations.projects.steps import Step, facts, latest, next_step, steps
from evenhand.annotations.release.make import make_release
from evenhand.annotations.types import Project
from tests.support.judged_sentences import all_items, judged
from tests.support.projects import filled_project, new_items
from tests.support.released_project import label, ready_project

EVERY: tuple[Step, ...] = (
    "sources", "guideline", "plan", "people", "review", "adjudication", "progress", "agreement", "quality", "describe",
    "release",
)  # fmt: skip


def states_of(store: Store, project: Project) -> dict[str, tuple[str, int | None]]:
    result = steps(facts(store, project))
    assert tuple(step.step for step in result) == EVERY
    return {step.step: (step.state, step.number) for step in result}


def following(store: Store, project: Project, *allowed: Step) -> Step | None:
    return next_step(facts(store, project), allowed or EVERY)


def test_the_first_step_of_an_empty_project_is_its_sources(fresh_store: Store) -> None:
    project = create_project(fresh_store, "empty")
    assert set(states_of(fresh_store, project).values()) == {("not begun", None)}
    assert following(fresh_store, project) == "sources"
    assert following(fresh_store, project, "review", "adjudication") is None


def test_people_and_guideline_follow_the_sources(fresh_store: Store) -> None:
    project = create_project(fresh_store, "set")
    with Batch.begin(fresh_store, project, "made.txt") as batch:
        batch.add(new_items(4))
        assert states_of(fresh_store, project)["sources"] == ("waiting", None)
        batch.publish()
    assert states_of(fresh_store, project)["sources"] == ("done", 4)
    assert following(fresh_store, project) == "people"
    add_annotators(fresh_store, project, ["Ada"])
    assert states_of(fresh_store, project)["people"] == ("waiting", 1)
    add_annotators(fresh_store, project, ["Bo", "Chen"])
    assert states_of(fresh_store, project)["people"] == ("done", 3)
    assert following(fresh_store, project) == "guideline"
    assert states_of(fresh_store, project)["plan"] == ("not begun", None)
    changed = change_project(fresh_store, project, plan="stop")
    assert states_of(fresh_store, changed)["plan"] == ("done", None)


def test_labelling_comes_before_adjudication_for_a_lead_who_does_not_label(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aar", "a"])
    lead = [step for step in EVERY if step != "review"]
    assert following(fresh_store, project, *lead) == "progress"
    assert following(fresh_store, project, "adjudication") == "adjudication", "of an adjudicator, who does nothing else"
    assert states_of(fresh_store, project)["adjudication"] == ("waiting", 1)
    for person in annotators(fresh_store, project)[1:]:
        label(fresh_store, project, person, items[1].uid, "accept")
    assert following(fresh_store, project, *lead) == "adjudication"


def test_labels_do_not_complete_the_step_plan(fresh_store: Store) -> None:
    project, _items = judged(fresh_store, ["aaa"])
    assert states_of(fresh_store, project)["plan"] == ("not begun", None)
    assert states_of(fresh_store, change_project(fresh_store, project, retest=0.02))["plan"] == ("done", None)


def test_annotators_without_an_account_are_invited_first(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aaa", "a"])
    assert following(fresh_store, project) == "review", "a server without accounts"
    spend(fresh_store, first_link(fresh_store), "Olga", "correct horse battery")
    names = [annotator.name for annotator in annotators(fresh_store, project)]
    assert (facts(fresh_store, project).uninvited, uninvited(fresh_store, project)) == (3, names)
    assert (following(fresh_store, project), states_of(fresh_store, project)["people"]) == ("people", ("waiting", 3))
    before = latest(fresh_store)
    secrets = [invite_link(fresh_store, "annotator", project, name=name) for name in names]
    assert latest(fresh_store) != before and following(fresh_store, project) == "review"
    spend(fresh_store, secrets[0], "ada", "correct horse battery")
    assert (facts(fresh_store, project).uninvited, uninvited(fresh_store, project)) == (0, [])
    withdraw_invitation(fresh_store, invitations(fresh_store)[0])
    assert facts(fresh_store, project).uninvited == 1 == len(uninvited(fresh_store, project))
    assert following(fresh_store, project) == "people"
    for person in annotators(fresh_store, project)[1:]:
        label(fresh_store, project, person, items[1].uid, "accept")
    assert following(fresh_store, project) == "release", "nobody has to label any more"


def test_an_open_pilot_is_to_be_labelled_then_closed(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 6)
    start_pilot(fresh_store, project, 2)
    assert states_of(fresh_store, project)["guideline"] == ("waiting", 2)
    assert (following(fresh_store, project), states_of(fresh_store, project)["review"]) == ("review", ("waiting", 2))
    drawn = [row[0] for row in fresh_store.db.execute("SELECT uid FROM item WHERE pilot IS NOT NULL")]
    for person in people:
        for uid in drawn:
            label(fresh_store, project, person, uid, "accept")
    assert following(fresh_store, project) == "guideline"
    close_pilot(fresh_store, project)
    assert (following(fresh_store, project), states_of(fresh_store, project)["review"]) == ("review", ("waiting", 4))


@pytest.mark.parametrize(
    ("patterns", "left", "cases", "following_step"),
    [
        (["aaa", "aa"], 1, 0, "review"),
        (["aaa", "aar", "a"], 1, 1, "review"),
        (["aaa", "aar"], 0, 1, "adjudication"),
        (["aaa", "rrr"], 0, 0, "release"),
        (["rrr"], 0, 0, None),
    ],
)
def test_cases_and_a_release_follow_the_labels(
    fresh_store: Store, patterns: list[str], left: int, cases: int, following_step: Step | None
) -> None:
    project, _items = judged(fresh_store, patterns)
    result = states_of(fresh_store, project)
    assert result["review"] == ("waiting" if left else "done", left or None)
    assert result["adjudication"] == ("waiting" if cases else "done", cases or None)
    assert result["progress"][0] == result["agreement"][0] == ("waiting" if left else "done")
    assert following(fresh_store, project) == following_step


def test_a_tie_under_majority_waits_only_for_adjudication(fresh_store: Store) -> None:
    """Such an item is pending and has all its labels: it is a case, and no label is missing."""
    project, _items = judged(fresh_store, ["ar", "aa"], people=("Ada", "Bo"), per_item=2, gold="majority")
    assert states_of(fresh_store, project)["review"] == ("done", None)
    assert states_of(fresh_store, project)["adjudication"] == ("waiting", 1)


def test_changes_after_a_release_call_for_the_next_one(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    first, second = all_items(fresh_store, project)
    for person in annotators(fresh_store, project):
        label(fresh_store, project, person, first.uid, "accept")
    for person, choice in zip(annotators(fresh_store, project), ("accept", "accept", "reject"), strict=True):
        label(fresh_store, project, person, second.uid, choice, reasons=("name",) if choice == "reject" else ())
    make_release(fresh_store, project, "1.0")
    assert states_of(fresh_store, project)["release"] == ("done", None)
    assert following(fresh_store, project, "release") is None
    before = latest(fresh_store)
    dispute = case(fresh_store, project, second.uid)
    decide_case(fresh_store, project, second.uid, adjudicator="Dana", choice=None, seen=dispute.seen, op_id="s1" * 8)
    assert latest(fresh_store) != before
    assert states_of(fresh_store, project)["release"] == ("waiting", None)
    assert following(fresh_store, project) == "release"


def test_cells_with_a_met_quota_need_no_more_labels(fresh_store: Store) -> None:
    project, items = judged(fresh_store, ["aaa"], words=("他",))
    with Batch.begin(fresh_store, project, "more.txt") as batch:
        batch.add(new_items(3, ("他",), 50))
        batch.publish()
    assert states_of(fresh_store, project)["review"] == ("waiting", 3)
    from evenhand.annotations.projects.projects import set_quotas

    set_quotas(fresh_store, project, {(items[0].pair, "male"): 1})
    assert states_of(fresh_store, project)["review"] == ("done", None)
