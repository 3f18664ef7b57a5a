"""The way through: the project of a visit on every page, the navigation with the steps of the project, Home."""

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.core.models import open_scorer
from evenhand.core.sentence_bias.bias import times
from evenhand.core.sentence_bias.model_answer import read
from evenhand.pages.ui.address import PROJECT_PAGES
from tests.support.judged_sentences import judged
from tests.support.pages import addresses, assert_title, captions_of, html_of, open_page, without_exception
from tests.support.projects import filled_project
from tests.support.released_project import label

OF_PROJECTS = sorted(folder for folder, address in addresses().items() if address in PROJECT_PAGES)


def links(app: AppTest) -> dict[str, str]:
    """Return the labels of the navigation's links, without markup, with the project that each names."""
    results = {}
    for element in app.sidebar.get("page_link"):
        query = parse_qs(element.proto.query_string)
        results[element.proto.label.replace("\\", "").replace("*", "")] = query.get("project", [""])[0]
    return results


@pytest.fixture
def two(fresh_store: Store) -> tuple[str, str]:
    """Return the names of two projects; the second one is worked on."""
    first, second = (filled_project(fresh_store, 3)[0] for _ in range(2))
    return first.name, second.name


def test_a_chosen_project_is_shown_on_every_page_and_stays_in_the_address(two: tuple[str, str]) -> None:
    """A link of the frame drops the address, as `switch_page` does: the visit keeps the project all the same."""
    _first, second = two
    app = open_page("progress")
    assert not app.selectbox and "project" not in app.query_params
    next(button for button in app.button if button.label == second).click().run()
    for page in OF_PROJECTS:
        if page == "human_vs_rule":
            continue  # has nothing for sentences, as it explains
        app.query_params.clear()
        app.switch_page(f"{page}/page.py").run()
        assert_title(app, page)
        assert app.query_params["project"] in (second, [second]), page
        assert app.selectbox(key="project").value == second, page
        assert {name for name in links(app).values() if name} == {second}, page


@pytest.mark.parametrize("page", OF_PROJECTS)
def test_pages_show_no_project_before_one_is_chosen(two: tuple[str, str], page: str) -> None:
    app = open_page(page)
    assert not app.selectbox and not app.metric
    assert "project" not in app.query_params


def test_the_address_changes_the_project_of_the_visit(two: tuple[str, str]) -> None:
    first, second = two
    app = open_page("plan", project=first)
    app.query_params["project"] = second  # Back, Forward, or a link on the same page
    assert app.run().selectbox(key="project").value == second
    app.selectbox(key="project").set_value(first).run()
    assert app.query_params["project"] in (first, [first])


def test_the_rail_shows_steps_with_states_and_the_next_one(fresh_store: Store) -> None:
    project, _items = judged(fresh_store, ["aaa", "aar", "aar"])
    shown = links(open_page("agreement", project=project.name))
    steps = [name for name, where in shown.items() if where == project.name][:11]
    assert steps == [
        "Sources :gray[3]", "Pilot and guideline", "Labelling plan", "People :gray[3]", "Review",
        "Adjudicate :gray[2] :violet-badge[next]", "Progress :gray[3]", "Agreement", "Quality",
        "Data set statistics :gray[1]", "Release",
    ]  # fmt: skip


def test_the_rail_of_an_open_desk_shows_own_work_only(fresh_store: Store) -> None:
    """In the open mode the rail would show Ada the number of items on which the others disagree."""
    project, _items = judged(fresh_store, ["aaa", "aar", "aar"])
    with_desk = {"desk_project": project.name, "desk_annotator": "Ada"}
    app = open_page("record", project=project.name, state=with_desk)
    assert not [name for name in links(app) if ":gray" in name or "next" in name]
    fresh, people = filled_project(fresh_store, 3)
    label(fresh_store, fresh, people[1], next(iter(_uids(fresh_store, fresh.id))), "accept")
    app = open_page("record", project=fresh.name, state=with_desk | {"desk_project": fresh.name})
    assert [name for name in links(app) if ":gray" in name] == ["Review :gray[3] :violet-badge[next]"]


def _uids(store: Store, project: int) -> list[str]:
    return [row[0] for row in store.db.execute("SELECT uid FROM item WHERE project = ?", (project,))]


@pytest.mark.parametrize(
    ("page", "opened"), [("published", "Models"), ("concordance", "Texts"), ("progress", None), ("jobs", None)]
)
def test_one_of_three_areas_of_the_rail_is_open(two: tuple[str, str], page: str, opened: str | None) -> None:
    app = open_page(page, state={"last_project": two[0]})
    areas = {area.label: area.proto.expanded for area in app.sidebar.expander}
    assert [name for name, is_open in areas.items() if is_open] == ([opened] if opened else [])
    assert list(areas) == ([two[0]] if opened else []) + ["Texts", "Models"]
    assert {"Try a sentence", "NLI bias", "Mine", "Release", "About"} <= links(app).keys()


def test_projects_are_chosen_from_cards_with_counts(two: tuple[str, str]) -> None:
    shown = captions_of(open_page("progress"))
    assert shown.count("Sentences: 3 items, 3 annotators") == 2


def test_home_begins_with_the_verdict_of_a_built_in_model_in_the_visitors_language(fresh_store: Store) -> None:
    texts = {"en": "The nurse said he was tired.", "zh": "他是一名护士，每天照顾病人。"}
    for language, text in texts.items():
        model = f"demo-{language}"
        home = without_exception(open_page("home", language))
        value = read(text, open_scorer(model)).bias_log10
        assert value is not None and f"{times(value)} " in html_of(home).split("home-verdict")[1][:200]
        assert model in captions_of(home)


def test_home_folds_the_desks_of_others_and_opens_them_in_one_press(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 3)
    home = open_page("home")
    assert [heading.value for heading in home.header] == [
        "Projects",
        "What you can do here",
        "From texts to a data set",
    ]
    (others,) = [part for part in home.main if getattr(part, "label", "") == "Desks of annotators"]
    assert not others.proto.expanded
    desks = {
        parse_qs(element.proto.query_string)["annotator"][0]: element.proto.page
        for element in others.get("page_link")
        if "annotator" in element.proto.query_string
    }
    assert set(desks) == {annotator.name for annotator in annotators(fresh_store, project)}
    assert set(desks.values()) == {"review"}
    own = open_page("home", state={"desk_project": project.name, "desk_annotator": people[0].name})
    assert own.header[0].value == "Continue where you were"
    shown = [element.proto.label for element in own.main.get("page_link")]
    assert shown[1].replace("\\", "") == f"{people[0].name}: 3 left"  # after the link to the slides


def test_the_demo_of_generations_is_first_in_english(fresh_store: Store) -> None:
    from evenhand.annotations.demo.generation_texts import make_generations_demo
    from evenhand.annotations.demo.sentences import make_demo

    make_demo(fresh_store)
    make_generations_demo(fresh_store)
    for language, first in (("en", "续文示例"), ("zh", "示例")):
        shown = [link.proto.label.replace("\\", "") for link in open_page("home", language).main.get("page_link")]
        assert next(label for label in shown if "示例" in label and "**" in label).startswith(f"**{first}")


def test_demo_projects_come_last_on_home(fresh_store: Store) -> None:
    from evenhand.annotations.demo.sentences import make_demo

    make_demo(fresh_store)
    create_project(fresh_store, "my own")
    shown = [element.proto.label.replace("\\", "") for element in open_page("home").main.get("page_link")]
    leads = [label for label in shown if " · next" in label]
    assert leads[0].startswith("**my own**") and leads[1].startswith("**示例 · Demo**")


def test_a_sentence_typed_on_home_opens_the_page_try() -> None:
    home = open_page("home")
    home.text_input(key="entrance-text").set_value("The nurse said he was tired.").run()
    assert_title(home, "sentence_bias")
    assert home.query_params["text"] in ("The nurse said he was tired.", ["The nurse said he was tired."])
