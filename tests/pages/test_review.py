"""The page Review: who labels is chosen, remembered, and named in the address."""

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import archive, create_project
from evenhand.annotations.types import Project
from tests.support.pages import open_page


def desk_data(page: AppTest) -> bool:
    return any("desk" in str(element.proto.component_name) for element in page.get("bidi_component"))


def test_choosing_an_annotator_opens_the_desk(fresh_store: Store, sample_project: Project) -> None:
    page = open_page("review", project="sample")
    assert not page.exception and page.title[0].value == "Review" and not desk_data(page)
    page.button(key=next(b.key for b in page.button if b.label == "Ada")).click().run()
    assert not page.exception and desk_data(page)
    assert page.session_state["desk_annotator"] == "Ada"
    page.button(key="leave").click().run()
    assert not page.exception and not desk_data(page)


def test_the_address_opens_a_desk(fresh_store: Store, sample_project: Project) -> None:
    page = open_page("review", project="sample", annotator="Bo")
    assert not page.exception and desk_data(page) and page.title[0].value == "Review"


def test_another_project_asks_for_the_annotator(fresh_store: Store, sample_project: Project) -> None:
    create_project(fresh_store, "other", annotators=["Ada", "Bo"])
    page = open_page("review", project="sample", annotator="Ada")
    assert desk_data(page)
    del page.query_params["annotator"]
    page.query_params["project"] = "other"
    page.run()
    assert not page.exception and not desk_data(page) and not page.warning
    assert [b.label for b in page.button if b.key.startswith("annotator-")] == ["Ada", "Bo"]


def test_the_desk_of_this_visit_is_opened_again(fresh_store: Store, sample_project: Project) -> None:
    page = open_page("review", project="sample", annotator="Ada")
    for query in ({}, {"project": "sample"}):
        page.query_params.clear()
        for key, value in query.items():
            page.query_params[key] = value
        page.run()
        assert not page.exception and desk_data(page)


@pytest.mark.parametrize("who", ["Nobody", "<b>", "**"])
def test_an_unknown_annotator_is_reported(fresh_store: Store, sample_project: Project, who: str) -> None:
    page = open_page("review", project="sample", annotator=who)
    assert not page.exception and not desk_data(page)
    assert "has no desk in sample" in page.warning[0].value


def test_an_archived_project_has_no_desk(fresh_store: Store, sample_project: Project) -> None:
    archive(fresh_store, sample_project)
    page = open_page("review", project="sample", annotator="Ada")
    assert not page.exception and not desk_data(page) and page.warning


def test_without_a_project_the_page_explains_what_to_do(fresh_store: Store) -> None:
    page = open_page("review")
    assert not page.exception and page.info


def test_an_unknown_project_is_reported_once(fresh_store: Store, sample_project: Project) -> None:
    page = open_page("review", project="Nowhere", annotator="Ada")
    (warning,) = page.warning
    assert "There is no open project named Nowhere" in warning.value
