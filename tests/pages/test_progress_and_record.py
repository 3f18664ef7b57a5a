"""The pages Progress and My record, and the people of a project, through the frame."""

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.adjudication.decisions import comments
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, create_project, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from tests.support.pages import open_page, records_of, text_of, without_exception
from tests.support.projects import decide, filled_project

NASTY = "<b>Zoe</b> **x** :red[y] $z$"


@pytest.fixture
def two_at_work(fresh_store: Store) -> tuple[Project, list[Annotator]]:
    """Let Ada label ten of twelve and hold two for days, and Bo label one."""
    project, people = filled_project(fresh_store, 12, people=("Ada", "Bo"), words=("他", "她"), per_item=2)
    start = datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()
    items = claim(fresh_store, project, people[0], want=12, now=start)
    for number, item in enumerate(items[:10]):
        store_operations(fresh_store, project, people[0], [decide(item, seconds=4.0)], now=start + 20 * number)
    (one,) = claim(fresh_store, project, people[1], want=1, now=start)
    store_operations(fresh_store, project, people[1], [decide(one, "reject")], now=start + 300)
    set_quotas(fresh_store, project, {("他/她", "male"): 50, ("他/她", "female"): 0})
    return project, people


def test_progress_shows_people_days_and_cells(two_at_work: tuple[Project, list[Annotator]]) -> None:
    app = open_page("progress", project=two_at_work[0].name)
    rows = app.dataframe[0].value
    assert list(rows["Annotator"]) == ["Ada", "Bo"] and list(rows["Valid labels"]) == [10, 1]
    assert list(rows["Labels per hour"]) == ["180", "—"] and rows["Accept rate"][0].startswith("100% (")
    assert [metric.value for metric in app.metric][:3] == ["11", "1", "0"]
    (pair,) = [row for row in records_of(app) if "Keyword pair" in row]
    assert pair["male word"].endswith("50") and pair["female word"].endswith("0") and int(pair["Missing"]) >= 45
    assert "? not known" in text_of(app) or "✗ no" in text_of(app)
    assert "progress|labels:standing" in text_of(app)


def test_a_recent_plan_stop_is_reported(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 12, people=("Ada", "Bo"), words=("他", "她"), per_item=2)
    set_quotas(fresh_store, project, {("他/她", "male"): 5})
    change_project(fresh_store, project, plan="stop", share=0.0)
    for number, item in enumerate(claim(fresh_store, project, people[0], want=6)):
        store_operations(fresh_store, project, people[0], [decide(item, "accept" if number % 2 else "reject")])
    text = text_of(open_page("progress", project=project.name))
    assert "estimated label by label" in text and "acceptance rate is too high" not in text
    change_project(fresh_store, project, plan="all")
    text = text_of(open_page("progress", project=project.name))
    assert "estimated label by label" not in text and "acceptance rate is too high" in text


def test_stalled_items_are_given_back(fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]) -> None:
    project, (ada, _bo) = two_at_work
    app = open_page("progress", project=project.name)
    assert "2 items are waiting at the desk of Ada; nothing has been labelled there since" in text_of(app)
    without_exception(app.button(key=f"give-back-{ada.uid}").click().run())
    assert "items are waiting at the desk of" not in text_of(app)
    assert [event.data for event in events(fresh_store, project, action="given_back")] == [{"items": 2}]
    query = "SELECT count(*) FROM assignment WHERE state = 'leased'"
    assert fresh_store.db.execute(query).fetchone() == (0,)


def test_an_open_desk_sees_only_the_own_row(two_at_work: tuple[Project, list[Annotator]]) -> None:
    app = open_page("review", project=two_at_work[0].name, annotator="Bo")
    app.query_params.clear()
    app.query_params["lang"] = "en"
    without_exception(app.switch_page("progress/page.py").run())
    assert list(app.dataframe[0].value["Annotator"]) == ["Bo"] and "Ada" not in text_of(app)


def test_cells_can_be_narrowed(two_at_work: tuple[Project, list[Annotator]]) -> None:
    app = open_page("progress", project=two_at_work[0].name)
    assert len([row for row in records_of(app) if "Keyword pair" in row]) == 1
    without_exception(app.segmented_control(key="progress-cells").set_value("missing").run())
    assert len([row for row in records_of(app) if "Keyword pair" in row]) == 1


def test_pairs_that_lack_nothing_can_be_left_out(
    fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]
) -> None:
    set_quotas(fresh_store, two_at_work[0], {("他/她", "male"): 0, ("他/她", "female"): 0})
    app = open_page("progress", project=two_at_work[0].name)
    assert "✓ is met" in text_of(app)
    without_exception(app.segmented_control(key="progress-cells").set_value("missing").run())
    assert "No such pairs and sides" in text_of(app) and not [row for row in records_of(app) if "Keyword pair" in row]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_progress_of_an_empty_project_is_explained(fresh_store: Store, language: str) -> None:
    create_project(fresh_store, "empty")
    app = open_page("progress", language, project="empty")
    assert ("There are no annotators yet" if language == "en" else "还没有标注者") in text_of(app)
    assert [metric.value for metric in app.metric] == ["0", "0", "0", "—"], "work ahead is unknown, not zero"


def test_a_record_asks_for_the_name_of_the_reader(two_at_work: tuple[Project, list[Annotator]]) -> None:
    app = open_page("record", project=two_at_work[0].name, view="work")
    assert "Choose your name" in text_of(app) and not app.metric
    app.selectbox(key=f"record-{two_at_work[0].uid}").set_value("Ada")
    assert [metric.value for metric in without_exception(app.run()).metric] == ["10", "2", "0", "40 s"]


def test_a_record_is_searched_and_omits_others(
    fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]
) -> None:
    project, people = two_at_work
    app = open_page("record", project=project.name, annotator="Bo")
    text = text_of(app)
    assert "✕" in text and "valid" in text and "Ada" not in text
    assert "It is waiting at your desk" not in text, "it opens at what was labelled, not at what is still to do"
    app.text_input(key="record-search").set_value("no such words")
    assert "Nothing was found" in text_of(without_exception(app.run()))
    app.text_input(key="record-search").set_value("")
    without_exception(app.segmented_control(key="record-state").set_value("skipped").run())
    assert "Nothing was found" in text_of(app) and people[1].name == "Bo"


def test_the_lead_is_asked_in_private(fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]) -> None:
    project, (_ada, bo) = two_at_work
    app = open_page("record", project=project.name, annotator="Bo")
    (area,) = [entry for entry in app.text_area if str(entry.key).startswith("talk-text-")]
    uid = str(area.key).removeprefix("talk-text-")
    area.set_value("Is 学姐 a <b>term</b>?")
    app.button(key=f"talk-send-{uid}").click()
    assert "Is 学姐 a <b>term</b>?" in text_of(without_exception(app.run()))
    (comment,) = comments(fresh_store, project, uid, thread=bo)
    assert (comment.author, comment.text, comment.thread) == ("Bo", "Is 学姐 a <b>term</b>?", bo.uid)
    assert comments(fresh_store, project, uid) == []


def people_of(project: Project) -> AppTest:
    app = open_page("projects", project=project.name)
    return without_exception(app.segmented_control(key="section").set_value("people").run())


def test_an_annotator_is_renamed_replaced_removed_and_restored(
    fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]
) -> None:
    project, (ada, bo) = two_at_work
    create_project(fresh_store, "second", annotators=["Bo"])
    app = people_of(project)
    assert "it changes in second too" in text_of(app).replace("\\", "")
    app.text_input(key=f"name-{bo.uid}").set_value("Ada")
    without_exception(app.button(key=f"rename-{bo.uid}").click().run())
    assert "There is already an annotator named Ada" in text_of(app).replace("\\", "")
    app.text_input(key=f"name-{bo.uid}").set_value(NASTY)
    without_exception(app.button(key=f"rename-{bo.uid}").click().run())
    assert [annotator.name for annotator in annotators(fresh_store, project)] == ["Ada", NASTY]

    app.text_input(key=f"successor-{ada.uid}").set_value("Cleo")
    without_exception(app.button(key=f"replace-{ada.uid}").click().run())
    assert [annotator.name for annotator in annotators(fresh_store, project)] == [NASTY, "Cleo"]
    assert events(fresh_store, project, action="replaced")[0].data["moved"] == 2

    cleo = annotators(fresh_store, project)[1]
    without_exception(app.button(key=f"leave-{cleo.uid}").click().run())
    assert [annotator.name for annotator in annotators(fresh_store, project)] == [NASTY]
    without_exception(app.button(key=f"return-{ada.uid}").click().run())
    assert [annotator.name for annotator in annotators(fresh_store, project)] == ["Ada", NASTY]
    results = [event.action for event in events(fresh_store, project)]
    assert results == ["renamed", "replaced", "deactivated", "reactivated"]


def test_a_successor_needs_a_name(fresh_store: Store, two_at_work: tuple[Project, list[Annotator]]) -> None:
    project, (ada, _bo) = two_at_work
    app = people_of(project)
    without_exception(app.button(key=f"replace-{ada.uid}").click().run())
    assert "Enter a name (1 to 80 characters)." in text_of(app).replace("\\", "")
    assert len(annotators(fresh_store, project)) == 2


def test_the_desk_links_to_the_record(two_at_work: tuple[Project, list[Annotator]]) -> None:
    app = open_page("review", project=two_at_work[0].name, annotator="Ada")
    links = [str(element.proto) for element in app.get("page_link")]
    assert any("My record" in link and "annotator" in link for link in links)
