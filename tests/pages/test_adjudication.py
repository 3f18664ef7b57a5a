"""The page Adjudicate: what is listed, how a case is settled, what the visitor sees."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from evenhand.annotations.adjudication.decisions import case_counts, each_decision_row
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project
from tests.support.judged_sentences import generations, judged, state
from tests.support.pages import captions_of, html_of, open_page, without_errors
from tests.support.projects import database


def press(app: AppTest, name: str) -> AppTest:
    return next(button for button in app.button if button.label == name).click().run()


def test_an_empty_list_of_cases_is_explained(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        judged(store, ["aaa"])
    assert "No open cases" in without_errors(open_page("adjudication")).info[0].value


def test_a_case_is_left_undecided_and_reopened(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, _items = judged(store, ["aar", "rra"])
    app = without_errors(open_page("adjudication"))
    assert "第1个早上" in html_of(app)
    app = press(app, "Confirm labels")
    assert "Enter the adjudicator's name" in app.error[0].value
    app.text_input(key="adjudicator").set_value("Lead").run()
    app = press(app, "Confirm labels")
    assert not app.error and "第2个早上" in html_of(app)
    app.segmented_control(key="queue").set_value("settled").run()
    app = press(app, "Reopen")
    with Store.open(database(tmp_path)) as store:
        assert case_counts(store, made) == {"open": 2, "settled": 0}


def test_a_sentence_is_rescued_if_the_project_allows_it(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, items = judged(store, ["aar"])
    app = without_errors(open_page("adjudication"))
    app.text_input(key="adjudicator").set_value("Lead").run()
    app.text_area(key=f"why-{items[0].uid}").set_value("The name is a place.").run()
    assert app.button(key="decide-accept").disabled
    assert "accepts only sentences that all annotators accept" in captions_of(app)
    app.toggle(key=f"rescue-{made.uid}").set_value(True).run()
    assert "not allowed → allowed" in app.info[0].value and "method section" in app.info[0].value
    with Store.open(database(tmp_path)) as store:
        assert not project(store, made.name).rescue, "nothing is stored yet"
    assert app.button(key="decide-accept").disabled
    app.button(key="save_rule").click().run()
    app.button(key="decide-accept").click().run()
    assert not app.error
    with Store.open(database(tmp_path)) as store:
        assert state(store, items[0]) == ("accepted", "accept") and project(store, made.name).rescue
        (row,) = each_decision_row(store, made)
    assert (row["adjudicator"], row["why"]) == ("Lead", "The name is a place.")


def test_a_sentence_is_decided_by_one_key_and_the_next_case_follows(tmp_path: Path) -> None:
    """A key that is held down decides nothing more: each case needs its own reason, typed before."""
    with Store.open(database(tmp_path)) as store:
        made, items = judged(store, ["aar", "rra"])
    app = without_errors(open_page("adjudication"))
    assert "A decision needs a reason or a note" in captions_of(app)
    keys = {key: app.button(key=key).proto.shortcut for key in ("decide-accept", "decide-reject", "leave")}
    assert keys == {"decide-accept": "j", "decide-reject": "k", "leave": ""}
    app.text_input(key="adjudicator").set_value("Lead").run()
    app.multiselect(key=f"reasons-{items[0].uid}").set_value(["name"]).run()
    app.button(key="decide-reject").click().run()
    assert not app.error and "第2个早上" in html_of(app)
    app.button(key="decide-reject").click().run()
    assert "needs a reason or a note" in app.error[0].value
    with Store.open(database(tmp_path)) as store:
        assert case_counts(store, made) == {"open": 1, "settled": 1}


def test_a_generation_is_settled_with_the_marks_of_agreeing_annotators(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, items = generations(store)
    app = without_errors(open_page("adjudication"))
    assert "Kim went out." in html_of(app) and "<sup" in html_of(app)
    key = items[0].uid
    app.text_input(key="adjudicator").set_value("Lead").run()
    app.button_group(key=f"choice-{key}").set_value("misgendering").run()
    app.text_area(key=f"why-{key}").set_value("He is Kim.").run()
    app = press(app, "Save decision")
    assert not app.error, app.error[0].value
    with Store.open(database(tmp_path)) as store:
        (row,) = each_decision_row(store, made)
    assert row["spans"] == [[0, 2, "pronoun"]]


def test_the_adjudicator_can_add_marks(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, items = generations(store)
    app, key = without_errors(open_page("adjudication")), items[0].uid
    app.text_input(key="adjudicator").set_value("Lead").run()
    app.button_group(key=f"choice-{key}").set_value("correct").run()
    assert app.multiselect(key=f"pronoun-correct-{key}").value == []
    app.checkbox(key=f"extraneous-{key}").set_value(True).run()
    app.text_area(key=f"why-{key}").set_value("Kim is meant as a boy's name here.").run()
    app = press(app, "Save decision")
    assert "Extraneous gendered language is flagged, but no words are marked" in app.error[0].value
    words = app.multiselect(key=f"extraneous--{key}")
    text = items[0].text
    last = [word.span() for word in re.finditer(r"\w+", text)][-1]
    words.set_value([last]).run()
    app = press(app, "Save decision")
    assert not app.error, app.error[0].value
    with Store.open(database(tmp_path)) as store:
        (row,) = each_decision_row(store, made)
    assert (row["choice"], row["extraneous"], row["spans"]) == ("correct", True, [[*last, "extraneous"]])


def test_hostile_text_of_a_case_is_escaped(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        generations(store)
        store.db.execute("DROP TRIGGER item_text_is_never_changed")
        store.db.execute("UPDATE item SET text = 'So <b onclick=x>he</b> & **she**'")
    assert "&lt;b onclick=x&gt;" in html_of(without_errors(open_page("adjudication"))) and "<b onclick" not in html_of(
        without_errors(open_page("adjudication"))
    )


def test_a_comment_is_stored(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        _made, items = judged(store, ["aar"])
    app = without_errors(open_page("adjudication"))
    app.text_area(key=f"comment-text-{items[0].uid}-0").set_value("Is it a **name**?")
    app = press(app, "Add the comment")
    assert [element.value for element in app.text] == ["Is it a **name**?"]
