"""Own schemes on the pages: made with a project, changed in a draft, read, compared, decided, looked up."""

from pathlib import Path

import pytest

from evenhand.annotations.adjudication.decisions import case
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import read_draft
from evenhand.annotations.guideline.scheme import own_scheme as stored_scheme
from evenhand.annotations.guideline.versions import PREFERENCE, guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import project
from evenhand.core.guidelines import preference
from evenhand.pages.ui import editors
from tests.support.comparisons import compared_project
from tests.support.own_schemes import QUESTIONS, own_project, own_scheme, say
from tests.support.pages import html_of, open_page, records_of, text_of, without_errors, without_exception
from tests.support.projects import database, decide, new_store


@pytest.fixture
def judged_project(tmp_path: Path) -> Path:
    """Return a project with the scheme: one text judged alike, one not, one with a span."""
    with new_store(database(tmp_path)) as store:
        stored = own_project(store, "own")
        for place, pair in enumerate((("helpful", "helpful"), ("harmful", "helpful"), ("harmful", "harmful"))):
            for who, choice in zip(("Ada", "Bo"), pair, strict=True):
                assert say(store, stored, who, place, choice, "stereotype").stored
    return tmp_path


def test_a_project_is_made_with_its_own_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_store(database(tmp_path)):
        pass
    app = open_page("projects")
    without_exception(app.button(key="new").click().run())
    without_exception(app.segmented_control(key="kind").set_value("generations").run())
    monkeypatch.setattr("evenhand.pages.ui.editors.edit_scheme", lambda begun, key: own_scheme())
    without_exception(app.segmented_control(key="generations_scheme").set_value("own").run())
    app.text_input(key="name").set_value("own")
    without_errors(app.button(key="create").click().run())
    with Store.open(database(tmp_path)) as store:
        version = guideline(store, project(store, "own"))
    assert stored_scheme(version) == own_scheme() and "**Helpful**" in version.text


def test_an_invalid_scheme_is_refused_and_no_project_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_store(database(tmp_path)):
        pass
    app = open_page("projects")
    without_exception(app.button(key="new").click().run())
    without_exception(app.segmented_control(key="kind").set_value("generations").run())
    without_exception(app.segmented_control(key="generations_scheme").set_value("own").run())
    monkeypatch.setattr(editors, "_scheme_table", lambda rows, key, needs: rows[:1])
    app.text_input(key="name").set_value("own")
    app.button(key="create").click().run()
    assert "A scheme has 2 to 20 choices, not 1" in app.error[0].value


def test_a_draft_changes_the_scheme(judged_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = own_scheme(flags=[])
    with monkeypatch.context() as for_once:
        for_once.setattr("evenhand.pages.pilot.guideline.edit_scheme", lambda begun, key: new)
        app = without_errors(open_page("pilot", project="own", part="guideline"))
    with Store.open(database(judged_project)) as store:
        draft = read_draft(store, project(store, "own"))
    assert (draft.choices, draft.reasons, draft.scheme) == (new.choices, (), new.more)
    assert "−" in html_of(app), "the page shows what goes"
    # Back to the built-in scheme: its choices and tags, and no own kinds of spans.
    place = next(control.key for control in app.segmented_control if control.key.endswith("-scheme"))
    without_errors(app.segmented_control(key=place).set_value("built-in").run())
    with Store.open(database(judged_project)) as store:
        draft = read_draft(store, project(store, "own"))
    assert draft.scheme is None and [choice.code for choice in draft.choices][1] == "misgendering"


@pytest.mark.parametrize(
    ("page", "lang", "told"),
    [
        ("guideline", "en", ("Helpful", "Answers what was asked", "Kinds of spans", "A statement that can be checked")),
        ("guideline", "zh", ("有帮助", "片段种类", "Neither")),
        ("browse", "en", ()),
        ("record", "en", ()),
        ("progress", "en", ()),
        ("judges", "en", ()),
        ("quality", "en", ()),
        ("release", "en", ()),
        ("study", "en", ()),
    ],
)
def test_pages_use_the_words_of_the_scheme(judged_project: Path, page: str, lang: str, told: tuple[str, ...]) -> None:
    app = without_errors(open_page(page, lang, project="own"))
    shown = "\n".join([text_of(app), html_of(app), *(heading.value for heading in app.header)])
    assert not [word for word in told if word not in shown]
    assert "Plural they" not in shown and "they 作复数" not in shown


def test_agreement_is_by_choice_and_by_flag(judged_project: Path) -> None:
    app = without_errors(open_page("agreement", project="own", view="items"))
    options = [option.replace("\\", "") for option in app.button_group(key="own-way").options]
    assert options == ["Choices", "Flag: Stereotype", "Flag: 编造"]
    assert [row["Marks"] for row in records_of(app) if "F1" in row] == ["Slur", "Claim"]
    without_errors(app.button_group(key="own-way").set_value("flag:stereotype").run())


def test_a_case_is_decided_with_choice_flags_and_spans(judged_project: Path) -> None:
    app = without_errors(open_page("adjudication", project="own"))
    with Store.open(database(judged_project)) as store:
        uid = list(items(store, project(store, "own")))[1].uid
    without_errors(app.button_group(key=f"choice-{uid}").set_value("harmful").run())
    assert app.multiselect(key=f"reasons-{uid}").value == ["stereotype"], "both flagged it"
    (slur,) = app.multiselect(key=f"slur-harmful-{uid}").value
    assert tuple(slur) == (0, 3)
    app.text_input(key="adjudicator").set_value("Vera")
    without_errors(app.button(key="decide").click().run())
    with Store.open(database(judged_project)) as store:
        assert list(items(store, project(store, "own")))[1].gold == "harmful"


def test_scales_are_decided_next_to_the_answers_of_annotators(tmp_path: Path) -> None:
    with new_store(database(tmp_path)) as store:
        stored = own_project(store, "own", scheme=own_scheme(questions=QUESTIONS))
        say(store, stored, "Ada", 1, "helpful", "fluency:2", "care:7", note="because")
        say(store, stored, "Bo", 1, "neither", "fluency:4", "care:7")
        uid = list(items(store, stored))[1].uid
    app = without_errors(open_page("adjudication", project="own"))
    fluency, care = (app.number_input(key=f"scale-{code}-{uid}") for code in ("fluency", "care"))
    assert (fluency.label, fluency.value, care.value) == ("Fluency (1–5)", None, 7)
    results = [caption.value.replace("\\", "") for caption in app.caption]
    assert "Annotators: 2 (1 ×), 4 (1 ×); median 3." in results and "Annotators: 7 (2 ×); median 7." in results
    assert app.text_area(key=f"why-{uid}").label == "Why?"
    without_errors(app.button_group(key=f"choice-{uid}").set_value("helpful").run())
    app.text_input(key="adjudicator").set_value("Vera")
    app.text_area(key=f"why-{uid}").set_value("It answers.")
    app.button(key="decide").click().run()
    assert "The question fluency has no answer yet" in app.error[0].value
    app.number_input(key=f"scale-fluency-{uid}").set_value(3)
    without_errors(app.button(key="decide").click().run())
    with Store.open(database(tmp_path)) as store:
        act = case(store, project(store, "own"), uid).settlement
    assert act is not None and (act.reasons, act.why) == (("fluency:3", "care:7"), "It answers.")


def test_a_page_for_the_four_built_in_labels_refuses_other_schemes(judged_project: Path) -> None:
    app = open_page("human_vs_rule", project="own")
    assert "own has a custom scheme" in app.error[0].value


def test_the_history_of_an_item_names_its_choice_flags_and_spans(judged_project: Path) -> None:
    with Store.open(database(judged_project)) as store:
        uid = list(items(store, project(store, "own")))[2].uid
    app = without_errors(open_page("browse", project="own", item=uid))
    shown = text_of(app) + html_of(app)
    assert not [word for word in ("Harmful", "Stereotype", "Slur") if word not in shown]


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    """Make comparisons that Ada and Bo labelled: one alike, one not, one as a tie."""
    with new_store(database(tmp_path)) as store:
        found, people = compared_project(store, tmp_path, 4)
        every = list(items(store, found))
        for who, choices in zip(people, (("first", "first", "tie"), ("first", "second", "tie")), strict=True):
            operations = [
                decide(item, choice, left="first", desk=who.name) for item, choice in zip(every, choices, strict=False)
            ]
            assert all(answer.stored for answer in store_operations(store, found, who, operations))
    return tmp_path


def test_a_project_is_made_with_the_scheme_preference(tmp_path: Path) -> None:
    with new_store(database(tmp_path)):
        pass
    app = open_page("projects")
    without_exception(app.button(key="new").click().run())
    without_exception(app.segmented_control(key="kind").set_value("generations").run())
    without_exception(app.segmented_control(key="generations_scheme").set_value("preference").run())
    app.text_input(key="name").set_value("pairs")
    without_errors(app.button(key="create").click().run())
    with Store.open(database(tmp_path)) as store:
        version = guideline(store, project(store, "pairs"))
    assert stored_scheme(version) == PREFERENCE and version.text.strip() == preference("en").strip()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_show_both_texts_and_the_chosen_one(compared: Path, language: str) -> None:
    with Store.open(database(compared)) as store:
        uid = next(item.uid for item in items(store, project(store, "pairs")) if item.gold is None)
    names = ("First is better", "Second is better") if language == "en" else ("第一篇更好", "第二篇更好")
    for page, where in (("adjudication", {}), ("browse", {"item": uid})):
        app = without_errors(open_page(page, language, project="pairs", **where))
        shown = html_of(app) + text_of(app)
        assert "① Answer 2 one." in shown and "② Answer 2 two." in shown
        assert all(name in shown for name in names)
    app = without_errors(open_page("agreement", language, project="pairs"))
    name = "Left chosen" if language == "en" else "选左边"
    assert [list(row.values())[2] for row in records_of(app) if name in row] == ["4", "2", "2"]  # ties choose no side


def test_a_comparison_is_decided_with_one_button(compared: Path) -> None:
    app = without_errors(open_page("adjudication", project="pairs"))
    app.text_input(key="adjudicator").set_value("Vera").run()
    why = next(area for area in app.text_area if area.key.startswith("why-"))
    why.set_value("It answers what was asked.")
    without_errors(app.button(key="decide-second").click().run())
    with Store.open(database(compared)) as store:
        assert sorted(item.gold or "" for item in items(store, project(store, "pairs"))) == [
            "",
            "first",
            "second",
            "tie",
        ]
