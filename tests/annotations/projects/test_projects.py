"""Projects: what can be made, changed and counted, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import (
    add_annotators,
    add_guideline,
    annotator,
    annotators,
    archive,
    change_project,
    checked_name,
    counts,
    create_project,
    guideline,
    guidelines,
    project,
    projects,
    remove_annotator,
    set_quotas,
)
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Choice, Project
from evenhand.core.errors import EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.guidelines import builtin
from evenhand.core.resources import quotas
from tests.support.projects import broken_rules, decide, filled_project


def test_a_new_project_has_the_journal_criteria(fresh_store: Store) -> None:
    made = create_project(fresh_store, "  News  ", annotators=["Ada", "Bo"], quotas=quotas("table1"))
    assert (made.name, made.per_item, made.gold, made.presentation, made.opinion_model) == (
        "News",
        3,
        "unanimous",
        "masked",
        None,
    )
    assert made == project(fresh_store, "News") == projects(fresh_store)[0]
    first = guideline(fresh_store, made)
    assert first.text == builtin("journal", "zh").text
    assert [choice.code for choice in first.choices] == ["accept", "reject"]
    assert [reason.key for reason in first.reasons] == list("123456789")
    assert [person.name for person in annotators(fresh_store, made)] == ["Ada", "Bo"]
    assert (
        sum(cell.quota or 0 for cell in counts(fresh_store, made).cells) == 19_000
    )  # docs/methods.md#keyword-pairs; 20,000 is printed


BAD: list[dict[str, Any]] = [
    {"name": ""},
    {"name": "   "},
    {"name": "x" * 81},
    {"name": "two\nlines"},
    {"name": "hid\u202eden"},
    {"kind": "songs"},
    {"per_item": 0},
    {"per_item": 101},
    {"per_item": 2.5},
    {"gold": "best of three"},
    {"presentation": "upside down"},
    {"annotators": ["Ada", ""]},
    {"quotas": {("他/她", "male"): -1}},
    {"quotas": {("他/她", "left"): 1}},
    {"choices": []},
    {"choices": [Choice("keep", "k", "留", "keep")]},
    {"choices": [Choice("accept", "", "留", "keep"), Choice("reject", "k", "删", "drop")]},
    {"choices": [Choice("accept", "j", "留", "keep"), Choice("reject", "u", "删", "drop")]},
    {"choices": [Choice("accept", "jj", "留", "keep"), Choice("reject", "k", "删", "drop")]},
    {"choices": [Choice("accept", "ß", "留", "keep"), Choice("reject", "k", "删", "drop")]},
    {"choices": [Choice("accept", "k", "留", "keep"), Choice("reject", "K", "删", "drop")]},
    {"reasons": [Choice("a", "1", "甲", "a"), Choice("a", "2", "乙", "b")]},
    {"reasons": [Choice("a;b", "1", "甲", "a")]},
]


@pytest.mark.parametrize("fields", BAD)
def test_an_invalid_project_is_refused_without_a_trace(fresh_store: Store, fields: dict[str, Any]) -> None:
    values = {"name": "News"} | fields
    with pytest.raises(Refused) as caught:
        create_project(fresh_store, values.pop("name"), **values)
    assert str(caught.value)
    for table in ("project", "guideline", "annotator", "member", "cell"):
        assert fresh_store.db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_taken_project_name_is_refused(fresh_store: Store) -> None:
    create_project(fresh_store, "News")
    other = create_project(fresh_store, "Letters")
    with pytest.raises(NotAllowed):
        create_project(fresh_store, " News ")
    with pytest.raises(NotAllowed):
        change_project(fresh_store, other, name="News")
    assert change_project(fresh_store, other, name="Letters").name == "Letters"


@given(st.text(max_size=90))
def test_a_project_name_is_stripped_or_refused(name: str) -> None:
    try:
        kept = checked_name(name)
    except EvenhandError:
        return
    assert kept == name.strip() and 1 <= len(kept) <= 80 and len(kept.splitlines()) == 1


def test_unknown_projects_annotators_and_versions_are_not_found(fresh_store: Store) -> None:
    made = create_project(fresh_store, "News")
    with pytest.raises(NotFound):
        project(fresh_store, "Olds")
    with pytest.raises(NotFound):
        annotator(fresh_store, made, "Ada")
    with pytest.raises(NotFound):
        guideline(fresh_store, made, 2)


def test_a_project_is_archived_and_restored(fresh_store: Store) -> None:
    made = create_project(fresh_store, "News")
    assert archive(fresh_store, made).archived
    assert projects(fresh_store) == [] and [project.name for project in projects(fresh_store, archived=True)] == [
        "News"
    ]
    assert archive(fresh_store, made, archived=False).archived is None


def test_old_guideline_versions_are_kept(fresh_store: Store) -> None:
    made = create_project(fresh_store, "News")
    first = guideline(fresh_store, made)
    second = add_guideline(fresh_store, made, "# New", first.choices, first.reasons[:2])
    assert (second.version, second.text, len(second.reasons)) == (2, "# New", 2)
    assert guidelines(fresh_store, made) == [first, second]
    assert guideline(fresh_store, made, 1) == first
    with pytest.raises(Refused):
        add_guideline(fresh_store, made, "# Newer", [], [])


def test_a_person_in_two_projects_is_one_annotator(fresh_store: Store) -> None:
    first = create_project(fresh_store, "News", annotators=["Ada"])
    second = create_project(fresh_store, "Letters", annotators=["Ada", "Bo"])
    assert annotator(fresh_store, first, "Ada") == annotator(fresh_store, second, " Ada ")
    remove_annotator(fresh_store, second, annotator(fresh_store, second, "Ada"))
    assert [person.name for person in annotators(fresh_store, first)] == ["Ada"]
    assert [person.name for person in annotators(fresh_store, second)] == ["Bo"]
    assert [person.name for person in annotators(fresh_store, second, active=False)] == ["Ada", "Bo"]
    assert [person.name for person in add_annotators(fresh_store, second, ["Ada", "Ada"])] == ["Ada", "Bo"]


def test_items_are_counted_by_cell(fresh_store: Store) -> None:
    made, (ada,) = filled_project(fresh_store, 6, people=("Ada",), words=("他", "她"), per_item=1)
    set_quotas(fresh_store, made, {("他/她", "male"): 2, ("男孩/女孩", "male"): 5})
    items = claim(fresh_store, made, ada)
    store_operations(
        fresh_store, made, ada, [decide(item, "accept" if item.side == "male" else "reject") for item in items[:4]]
    )
    totals = counts(fresh_store, made)
    assert (totals.items, totals.accepted + totals.rejected, totals.pending) == (6, 4, 2)
    cells = {(cell.pair, cell.side): cell for cell in totals.cells}
    assert (cells["他/她", "male"].quota, cells["他/她", "male"].items) == (2, 3)
    assert (cells["男孩/女孩", "male"].quota, cells["男孩/女孩", "male"].items) == (5, 0)
    assert cells["他/她", "female"].quota is None and cells["他/她", "female"].rejected == totals.rejected


def settled(store: Store, made: Project) -> tuple[int, int, int]:
    totals = counts(store, made)
    return totals.accepted, totals.rejected, totals.pending


def test_a_new_gold_rule_settles_every_item_again(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 3)
    for item, choices in zip(claim(fresh_store, made, people[0]), ("aaa", "aar", "arr"), strict=True):
        for person, choice in zip(people, choices, strict=True):
            store_operations(fresh_store, made, person, [decide(item, "accept" if choice == "a" else "reject")])
    assert settled(fresh_store, made) == (1, 2, 0)
    made = change_project(fresh_store, made, gold="majority")
    assert settled(fresh_store, made) == (2, 1, 0)
    made = change_project(fresh_store, made, per_item=4)
    assert settled(fresh_store, made) == (0, 0, 3)
    change_project(fresh_store, made, gold="unanimous", per_item=2)
    assert settled(fresh_store, made) == (1, 2, 0)
    assert broken_rules(fresh_store) == []


@pytest.mark.parametrize("fields", [{"seed": 3}, {"kind": "generations"}, {"per_item": 0}, {"gold": ""}, {"name": " "}])
def test_invalid_project_changes_are_refused(fresh_store: Store, fields: dict[str, Any]) -> None:
    made = create_project(fresh_store, "News")
    with pytest.raises(Refused):
        change_project(fresh_store, made, **fields)
    assert project(fresh_store, "News") == made
