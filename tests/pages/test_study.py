"""Online studies: what the lead makes, sees and does there."""

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.study.people import Outside, agree, begin, desk_of, finish
from evenhand.annotations.study.studies import consent, studies
from evenhand.annotations.types import Project
from tests.support.pages import html_of, in_language, open_page, text_of, without_errors
from tests.support.projects import decide, filled_project
from tests.support.studies import new_study, person


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return filled_project(fresh_store, 8)[0]


def page(project: Project) -> AppTest:
    return open_page("study", project=project.name)


def test_a_study_is_made(fresh_store: Store, project: Project) -> None:
    known = next(iter(items(fresh_store, project)))
    set_known(fresh_store, project, known.uid, "accept")
    app = page(project)
    app.text_input(key="new-name").set_value("Spring")
    app.text_input(key="new-contact").set_value("lead@example.org")
    app.selectbox(key="new-service").set_value("prolific")
    app.number_input(key="new-questions").set_value(2)
    app.button(key="make").click().run()
    assert "questions needs at least as many texts with a known answer, and at most" in app.error[0].value
    app.multiselect(key="new-test").set_value([known.uid])
    app.number_input(key="new-questions").set_value(1)
    app.number_input(key="new-pass_mark").set_value(1)
    app.number_input(key="new-pause").set_value(0)
    without_errors(app.button(key="make").click().run())
    (made,) = studies(fresh_store, project)
    settings = made.settings
    assert (made.name, settings.service, settings.questions, settings.pass_mark, settings.pause) == (
        "Spring", "prolific", 1, 1, None,
    )  # fmt: skip
    assert f"/study/{made.uid}." in app.code[0].value
    assert "PROLIFIC_PID" in app.code[0].value
    assert settings.code_finished in html_of(app)


def test_states_of_participants_and_hourly_pay_are_shown(fresh_store: Store, project: Project) -> None:
    study = new_study(fresh_store, project, service="prolific", reward=1.0, floor=10.0)
    secret = agree(fresh_store, study, consent(fresh_store, study), "en", Outside("pid-ada", "t", "s"))
    begin(fresh_store, study, person(fresh_store, study, secret))
    who = person(fresh_store, study, secret)
    place = desk_of(fresh_store, study, who)
    for item in claim(fresh_store, *place, want=3):
        store_operations(fresh_store, *place, [decide(item)])
    finish(fresh_store, study, person(fresh_store, study, secret))
    fresh_store.db.execute("UPDATE study_person SET came = completed - 1200")
    app = page(project)
    assert (
        "The pay is below 10\\.00 EUR per hour\\. Raise the reward or reduce the number of texts\\."
        in app.warning[0].value
    )
    assert app.metric[0].value == "3.00 EUR"
    assert "finished\\: 1" in text_of(app)
    assert who.pseudonym in html_of(app)
    assert "pid-ada" in html_of(app)
    rows = [row for row in html_of(app).split("<tr") if "pid-ada" in row]
    assert who.pseudonym not in "".join(rows)  # never next to each other
    app.text_input(key=f"withdraw-{study.uid}").set_value("pid-bo")
    app.button(key=f"withdraw-it-{study.uid}").click().run()
    assert "No participant has the id pid\\-bo, or the id has been erased\\." in app.error[0].value
    app.text_input(key=f"withdraw-{study.uid}").set_value("pid-ada")
    without_errors(app.button(key=f"withdraw-it-{study.uid}").click().run())
    assert person(fresh_store, study, secret).state == "withdrew"
    assert "每小时报酬" in str([metric.label for metric in in_language(app, "zh").metric])


def test_a_study_is_closed_and_its_consent_changed(fresh_store: Store, project: Project) -> None:
    study = new_study(fresh_store, project)
    app = page(project)
    without_errors(app.button(key=f"close-{study.uid}").click().run())
    assert "Closed since" in text_of(app)
    without_errors(app.button(key=f"close-{study.uid}").click().run())
    assert "Closed since" not in text_of(app)
    app.text_area(key=f"consent-en-{study.uid}").set_value("Other words")
    without_errors(app.button(key=f"consent-save-{study.uid}").click().run())
    assert (consent(fresh_store, study).version, consent(fresh_store, study).en) == (2, "Other words")


def test_only_a_lead_can_change_a_study(fresh_store: Store, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study(fresh_store, project)
    app = page(project)
    from evenhand.annotations.permissions import Person
    from evenhand.pages.study import study as part

    monkeypatch.setattr(part, "visitor", lambda store: Person(None, "x", {project.uid: "annotator"}))
    app.button(key=f"close-{study.uid}").click().run()
    assert "You do not have permission to do this" in app.error[0].value
    assert studies(fresh_store, project)[0].closed is None


def test_progress_lists_participants_separately(fresh_store: Store, project: Project) -> None:
    study = new_study(fresh_store, project)
    secret = agree(fresh_store, study, consent(fresh_store, study), "en", None)
    begin(fresh_store, study, person(fresh_store, study, secret))
    place = desk_of(fresh_store, study, person(fresh_store, study, secret))
    for item in claim(fresh_store, *place, want=3):
        store_operations(fresh_store, *place, [decide(item)])
    app = open_page("progress", project=project.name)
    tables = [table.value for table in without_errors(app).dataframe if "Annotator" in table.value]
    annotators, participants = tables[:2]
    assert place[1].name not in list(annotators["Annotator"])
    assert list(participants["Annotator"]) == [place[1].name] and list(participants["Valid labels"]) == [3]
    assert "Participants in online studies (1)" in [entry.label for entry in app.expander]
