"""The page Browse: what is found, what an item shows to each visitor, comments, files."""

import csv
import io
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.adjudication.decisions import add_comment, every_comment
from evenhand.annotations.browse.search import Filters
from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.types import Item, Project
from evenhand.core.language import Language
from evenhand.core.text.keywords import find
from evenhand.pages.browse.results import log_table, table
from tests.support.judged_sentences import all_items, generations, judged
from tests.support.pages import html_of, open_page, without_errors
from tests.support.projects import database, decide, filled_project

HOSTILE = "<b>他</b>说“*你好*”，$x$ :material/home: <script>alert(1)</script>。"


def ids(app: AppTest) -> list[str]:
    return [part.split('"')[0] for part in html_of(app).split('data-item="')[1:]]


def button(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


@pytest.fixture
def six(tmp_path: Path) -> tuple[Project, list[Item]]:
    """Make six sentences: accepted, split, one label, three untouched."""
    with Store.open(database(tmp_path)) as store:
        return judged(store, ["aaa", "aar", "r", "", "", ""])


def test_all_items_are_listed_and_narrowed_by_a_search(six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse"))
    assert set(ids(app)) == {entry.uid for entry in six[1]} and any(
        caption.value.endswith("6") for caption in app.caption
    )
    app.text_input(key="browse-q").set_value("第3个").run()
    assert ids(app) == [six[1][2].uid] and app.query_params["q"] == "第3个"
    app.text_input(key="browse-q").set_value("没有的").run()
    assert ids(app) == [] and "No items match" in app.info[0].value
    button(app, "browse-clear")
    assert len(ids(app)) == 6 and "q" not in app.query_params


def test_an_address_opens_its_filtered_list(six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse", status="rejected", flag="split", q="早上"))
    assert ids(app) == [six[1][1].uid]
    assert app.selectbox(key="browse-status").value == "rejected"
    app.selectbox(key="browse-flag").set_value(None).run()
    assert app.query_params["status"] == "rejected" and "flag" not in app.query_params


@pytest.mark.parametrize(
    "address", [{"status": "nowhere"}, {"flag": "x"}, {"version": "x"}, {"page": "-3"}, {"page": "99"}]
)
def test_invalid_filters_of_an_address_are_ignored(address: dict[str, str], six: tuple[Project, list[Item]]) -> None:
    assert len(ids(without_errors(open_page("browse", **address)))) == 6


def test_a_long_list_is_paged(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        filled_project(store, 45)
    app = without_errors(open_page("browse", page="3"))
    assert len(ids(app)) == 5
    app.selectbox(key="browse-side").set_value("male").run()
    assert len(ids(app)) == 20 and "page" not in app.query_params  # other filters begin at the first page


def test_an_item_is_opened_and_closed(six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse"))
    app = button(app, f"open-{six[1][1].uid}")
    text = html_of(app)
    assert (
        ids(app) == [six[1][1].uid]
        and "2 of 3 labels accept the sentence, but this project requires all annotators to accept." in text
        and "✕ not accepted" in text
    )
    assert "Ada: Keep" in text and "Chen: Reject" in text
    app = button(app, "browse-after")
    assert app.query_params["item"] == six[1][2].uid
    app = button(app, "browse-before")
    app = button(app, "browse-back")
    assert len(ids(app)) == 6 and "item" not in app.query_params


def test_previous_and_next_stay_within_the_filters(six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse", status="pending", item=six[1][3].uid))
    assert any("2 of 4" in caption.value for caption in app.caption)


def test_labels_of_an_unfinished_item_are_hidden_by_a_switch(six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse", item=six[1][2].uid))
    assert "Ada: Reject" not in html_of(app) and "This item is still awaiting labels" in app.warning[0].value
    app.toggle(key=f"unfinished-{six[1][2].uid}").set_value(True).run()
    assert "Ada: Reject" in html_of(app)
    app = without_errors(open_page("browse", choice="reject"))
    assert ids(app) == [six[1][1].uid]
    app.checkbox(key="browse-unfinished").set_value(True).run()
    assert ids(app) == [six[1][1].uid, six[1][2].uid]


def test_an_unknown_item_is_reported(six: tuple[Project, list[Item]]) -> None:
    app = open_page("browse", item="nowhere")
    assert "no item nowhere" in app.error[0].value.replace("\\", "") and not app.exception


def test_a_private_comment_is_written_before_all_labels(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    app = without_errors(open_page("browse", item=items[2].uid))
    (field,) = [area for area in app.text_area if area.key and area.key.startswith("talk-text")]
    field.set_value("Why do you say so?")
    app = next(button for button in app.button if button.label == "Add the comment").click().run()
    assert not app.error and any(element.value == "Why do you say so?" for element in app.text)
    with Store.open(database(tmp_path)) as store:
        (comment,) = every_comment(store, made, items[2].uid)
        assert (comment.author, comment.thread) == ("Lead", annotators(store, made)[0].uid)


def test_a_public_comment_is_written_after_all_labels(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    app = without_errors(open_page("browse", item=items[1].uid))
    app.button_group(key=f"thread-{items[1].uid}").set_value("").run()
    (field,) = [area for area in app.text_area if area.key and area.key.startswith("talk-text")]
    field.set_value("Let us talk.")
    next(button for button in app.button if button.label == "Add the comment").click().run()
    with Store.open(database(tmp_path)) as store:
        assert [(comment.text, comment.thread) for comment in every_comment(store, made, items[1].uid)] == [
            ("Let us talk.", None)
        ]


def at_desk(made: Project, name: str, **address: str) -> AppTest:
    desk = {"desk_project": made.name, "desk_annotator": name}
    return without_errors(open_page("browse", state=desk, **address))


def test_an_annotator_browses_own_items_only(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    with Store.open(database(tmp_path)) as store:
        ada, bo, _chen = annotators(store, made)
        add_comment(store, made, items[1].uid, "For Bo.", author="Lead", thread=bo)
        add_comment(store, made, items[1].uid, "For Ada.", author="Lead", thread=ada)
    app = at_desk(made, "Bo")
    assert ids(app) == [items[0].uid, items[1].uid] and "kept" not in html_of(app)
    assert not [box for box in app.selectbox if box.key in ("browse-status", "browse-by")]
    app = at_desk(made, "Bo", item=items[2].uid)
    assert "not labelled this item" in app.info[0].value and "第3个" not in html_of(app)
    app = at_desk(made, "Bo", item=items[1].uid)
    text = html_of(app) + "".join(element.value for element in app.text)
    assert "Bo: Keep" in text and "Chen" not in text and "For Ada." not in text and "For Bo." in text


def test_an_annotator_answers_the_lead(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    app = at_desk(made, "Ada", item=items[2].uid)
    (field,) = [area for area in app.text_area if area.key and area.key.startswith("talk-text")]
    field.set_value("I am not sure.")
    next(button for button in app.button if button.label == "Add the comment").click().run()
    with Store.open(database(tmp_path)) as store:
        (comment,) = every_comment(store, made, items[2].uid)
        assert (comment.author, comment.annotator, comment.thread) == (
            "Ada",
            comment.thread,
            annotators(store, made)[0].uid,
        )


def test_reading_the_discussion_ends_blind_labelling(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    at_desk(made, "Ada", item=items[1].uid)
    with Store.open(database(tmp_path)) as store:
        query = "SELECT name FROM assignment JOIN annotator ON annotator.id = annotator WHERE revealed IS NOT NULL"
        assert store.db.execute(query).fetchall() == [("Ada",)]


def test_an_item_skipped_by_all_can_be_handed_out_again(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, people = filled_project(store, 1)
        (item,) = all_items(store, made)
        for who in people:
            store_operations(store, made, who, [decide(item, "skip", desk=who.name)])
    app = without_errors(open_page("browse", item=item.uid))
    assert "set aside" in html_of(app)
    app = button(app, "browse-hand-out")
    assert "set aside" not in html_of(app)
    with Store.open(database(tmp_path)) as store:
        assert [event.action for event in events(store, made, item.uid)] == ["handed_out"]


def test_a_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made = create_project(store, "*hostile* <i>", annotators=("<b>Eve</b>",), per_item=1)
        with Batch.begin(store, made, "<u>file</u>.txt") as batch:
            extra = {"<i>column</i>": "<script>x</script>", "flags": ["names"]}
            batch.add([NewItem(HOSTILE, find(HOSTILE)[0], "<u>file</u>.txt", 1, extra)])
            batch.publish()
        (item,) = all_items(store, made)
        reject = decide(item, "reject", desk="d", note="<script>note</script>")
        store_operations(store, made, annotators(store, made)[0], [reject])
    for app in (without_errors(open_page("browse", q="<script>")), without_errors(open_page("browse", item=item.uid))):
        text = html_of(app)
        assert "<script>" not in text and "<u>" not in text and "<i>" not in text and "<b>Eve" not in text
        assert "alert(1)" in text


def test_the_list_is_downloaded_as_a_file(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, items = six
    with Store.open(database(tmp_path)) as store, Batch.begin(store, made, "=1+1") as batch:
        batch.add([NewItem("=他在家。", find("=他在家。")[0], "=1+1", 1)])
        batch.publish()
    rows = list(csv.DictReader(io.StringIO(table(made, Filters()).decode("utf-8-sig"))))
    assert [row["id"] for row in rows][:6] == [item.uid for item in items]
    assert (rows[1]["status"], rows[1]["marks"], rows[1]["labels"]) == ("rejected", "split", "3")
    assert rows[6]["text"] == "'=他在家。" and rows[6]["file"] == "'=1+1"
    assert len(list(csv.DictReader(io.StringIO(table(made, Filters(status="rejected")).decode("utf-8-sig"))))) == 1


def test_the_file_of_an_annotator_omits_data_of_others(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    made, _items = six
    with Store.open(database(tmp_path)) as store:
        ada = annotators(store, made)[0]
    (first, *_rest) = csv.DictReader(io.StringIO(table(made, Filters(reader=ada)).decode("utf-8-sig")))
    assert not {"status", "gold", "labels", "wanted", "marks"} & set(first)


def test_the_file_omits_texts_of_generations(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, items = generations(store)
        opened_up = change_project(store, made, open_text=True)
        with store.write():
            record(store, made, "conflict", item=items[0], text=items[0].text)
    assert items[0].text.encode() not in table(made, Filters())
    assert items[0].text.encode() in table(opened_up, Filters()) and b"canary" in table(opened_up, Filters())
    assert items[0].text.encode() not in log_table(made) and items[0].text.encode() in log_table(opened_up)
    assert "He left early" in html_of(without_errors(open_page("browse")))
    app = without_errors(open_page("browse", item=items[0].uid))
    assert "awaiting adjudication" in html_of(app) and "wrong pronoun: He" in html_of(app)


def test_the_log_of_a_project_is_shown(tmp_path: Path, six: tuple[Project, list[Item]]) -> None:
    with Store.open(database(tmp_path)) as store, store.write():
        record(store, six[0], "plan", author="Lead", plan="stop")
    app = without_errors(open_page("browse"))
    (frame,) = [table.value for table in app.dataframe]
    assert list(frame.iloc[0])[1:] == ["Labelling plan changed", "Lead", "plan: stop"]
    rows = list(csv.DictReader(io.StringIO(log_table(six[0]).decode("utf-8-sig"))))
    assert (rows[0]["action"], rows[0]["data"]) == ("plan", '{"plan": "stop"}')


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_item_is_shown_in_both_languages(language: Language, six: tuple[Project, list[Item]]) -> None:
    app = without_errors(open_page("browse", language, item=six[1][1].uid))
    assert ("not accepted" if language == "en" else "未保留") in html_of(app)
