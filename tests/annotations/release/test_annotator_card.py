"""The annotator card: its sentences follow from studies, accounts and groups; small numbers of people are hidden."""

from typing import Any

import pytest

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.database.store import Store
from evenhand.annotations.papers.paper import ANNOTATORS
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import add_grouping, set_group
from evenhand.annotations.release.annotator_card import annotator_facts, shown_parts
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_file
from evenhand.annotations.study.people import finish
from evenhand.annotations.types import Project
from evenhand.core.language import LANGUAGES
from tests.support.released_project import everybody_consents, label, ready_project, work
from tests.support.studies import come, new_study, person


def with_study(store: Store, people: int, **settings: Any) -> Project:
    """Return a project whose study *people* participants finish, after which the lead's annotators label the rest."""
    project = ready_project(store, 12)
    study = new_study(store, project, places=50, **settings)
    for _ in range(people):
        secret, who = come(store, study, now=0.0)
        made = next(one for one in annotators(store, project) if one.id == who.annotator)
        for item in store.column("SELECT uid FROM published_item WHERE project = ? LIMIT 3", (project.id,)):
            label(store, project, made, item, "accept")
        finish(store, study, person(store, study, secret))
    work(store, project)
    everybody_consents(store, project)
    return project


def card(store: Store, project: Project, language: str = "en") -> str:
    made = make_release(store, project, "1.0", author="Lead", reason="for a test")
    return release_file(store, made, f"annotator_card.{language}.md").decode().replace("\\", "")


def test_a_project_without_records_says_so(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 6)
    work(fresh_store, project)
    text = card(fresh_store, project)
    assert "Annotators with labels: 3; recorded as annotators: 3." in text
    assert "without an account: (hidden: small group). How they were recruited is not recorded." in text
    assert "A test before the work: not recorded." in text and "Annotators outside of studies: not recorded." in text
    assert "First language, dialect, age, gender and region: not recorded." in text
    for question in ("D1", "D2", "D3", "D4", "D5"):
        assert f"**{question}. " in text
    assert "Study 1" not in text


def test_a_study_states_test_and_pay(fresh_store: Store) -> None:
    text = card(fresh_store, with_study(fresh_store, 6, reward=2.0, currency="GBP"))
    assert "Study 1: participants came by an open link" in text and "with labels: (hidden: small group)" in text
    assert "finished: 6;" in text
    assert "Study 1: 2.00 GBP for 3 texts; the median participant who finished took" in text and "GBP an hour" in text
    assert "participants agreed to a consent form before they began (version 1;" in text


def test_small_numbers_of_a_study_are_hidden(fresh_store: Store) -> None:
    project = with_study(fresh_store, 3)
    study = annotator_facts(fresh_store, project)["studies"][0]
    assert (study["labelled"], study["finished"], study["minutes"], study["hourly"]) == (None, None, None, None)
    assert "finished: (hidden: small group)" in card(fresh_store, project)


def test_accounts_are_counted_apart(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 6)
    work(fresh_store, project)
    ada = add_account(fresh_store, "Ada", password="correct horse battery")
    grant(fresh_store, ada, "annotator", project)
    facts = annotator_facts(fresh_store, project)
    assert (facts["with_others"] and facts["accounts"] is None) or not facts["with_account"]


def test_groups_are_named_and_never_counted(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 6)
    work(fresh_store, project)
    grouping = add_grouping(fresh_store, project, "Dialect", ["Wu", "Yue"])
    for who in annotators(fresh_store, project):
        set_group(fresh_store, project, grouping, who, "Wu", "annotator")
    text = card(fresh_store, project)
    assert "Dialect: recorded in 2 groups, not published." in text and "Wu" not in text
    assert "Recorded and not published" in text


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ({"a": 12, "b": 0}, {"a": 12, "b": 0}),
        ({"a": 12, "b": 3}, {"a": None, "b": None}),  # 3 would follow from the whole
        ({"a": 12, "b": 30, "c": 4}, {"a": None, "b": 30, "c": None}),
        ({"a": 2, "b": 3, "c": 30}, {"a": None, "b": None, "c": 30}),
        ({"a": 3}, {"a": None}),
    ],
)
def test_small_parts_cannot_be_derived(parts: dict[str, int], shown: dict[str, int | None]) -> None:
    assert shown_parts(parts) == shown


def test_claims_disappear_without_evidence(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 6)
    work(fresh_store, project)
    facts = gather(fresh_store, project)
    absent = {name for name, evidence in ANNOTATORS.items() if not list(evidence(facts))}
    assert absent == {
        "came_by_study", "came_with_account", "trained_by_pilot", "tested", "paid", "not_paid", "consent_form",
        "groups_not_published", "arr_recruitment",
    }  # fmt: skip


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_both_languages_state_the_same_numbers(fresh_store: Store, language: str) -> None:
    text = card(fresh_store, with_study(fresh_store, 6, reward=2.0), language)
    assert "2.00 EUR" in text and text.count("\n## ") == 7
