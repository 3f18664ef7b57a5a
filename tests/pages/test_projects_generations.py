"""The page Projects for generations: made, mapped, imported, locked away, set up."""

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Columns, recall_columns
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import annotators, create_project, guideline, project
from evenhand.annotations.text_policy import packed
from evenhand.core.guidelines import recognise
from tests.support.pages import open_page, open_section, text_of, without_exception

CSV = "q,a,who,sets\nAnn <b>waits</b>.,She *left*.,Ann,she/her; they\nBo sings.,Zo sang.,Bo,zzz\n"
PASSWORD = "correct horse"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "evenhand.db") as opened_store:
        yield opened_store


@pytest.fixture
def empty_project(store):
    return create_project(store, "g", kind="generations", language="en", annotators=["Ann"], per_item=1)


def test_a_project_is_made_with_its_settings(store):
    app = open_page("projects")
    without_exception(app.button(key="new").click().run())
    without_exception(app.segmented_control(key="kind").set_value("generations").run())
    app.text_input(key="name").set_value("study")
    app.text_area(key="annotators").set_value("Ann\nBo")
    app.number_input(key="generations_per_item").set_value(2)
    app.number_input(key="generations_doubled").set_value(20)
    app.checkbox(key="generations_blur").set_value(True)
    app.number_input(key="generations_pause").set_value(25)
    without_exception(app.button(key="create").click().run())
    stored = project(store, "study")
    assert (stored.kind, stored.per_item, stored.doubled, stored.blur, stored.pause_minutes) == (
        "generations",
        2,
        20,
        True,
        25,
    )
    assert (stored.checked, stored.open_text) == (True, None)
    assert [annotator.name for annotator in annotators(store, stored)] == ["Ann", "Bo"]
    assert recognise(guideline(store, stored).text) == "generations"
    assert "study" in [title.value for title in app.title]


@pytest.mark.parametrize(("language", "words"), [("en", "No text is set aside"), ("zh", "没有被搁置的文本")])
def test_items_set_aside_are_called_texts(store, empty_project, language, words):
    app = open_section(open_page("projects", lang=language, project=empty_project.name), "aside")
    assert words in text_of(app) and "sentence" not in "".join(caption.value for caption in app.caption)


def test_columns_are_mapped_shown_and_remembered(store, empty_project):
    path = jobs.keep_upload(store, "g.csv", CSV.encode())
    app = AppTest.from_function(_columns_page, default_timeout=300)
    app.session_state["path"], app.session_state["language"] = str(path), "en"
    without_exception(app.run())
    boxes = {box.label: box for box in app.selectbox}
    for word, column in (("Context", "q"), ("Completion", "a"), ("Pronouns", "sets")):
        boxes[word].set_value(column)
    without_exception(app.run())
    shown = text_of(app)
    assert "Ann &lt;b&gt;waits&lt;/b&gt;." in shown  # nothing of a file is read as HTML
    assert "She *left*." in shown
    assert ("zzz" in shown) and ("⚠" in shown)
    assert ("she/her/her" in shown) or ("she/her" in shown)
    assert recall_columns(store.path, ("q", "a", "who", "sets")).named["context"] == "q"


def _columns_page():
    from pathlib import Path

    import streamlit as st

    from evenhand.annotations.files.detect import is_complete, remember_columns
    from evenhand.annotations.files.import_items import preview_tables, tables_in
    from evenhand.pages.projects.import_.other_tools import choose_columns, show_texts
    from evenhand.pages.ui.visitor import open_store

    with open_store() as store, tables_in(Path(st.session_state["path"])) as members:
        chosen = choose_columns(store, members)
        if is_complete(chosen) and all(chosen.named.get(key) for key in ("context", "completion")):
            show_texts(preview_tables(members, format="generations", wished=chosen).rows)
            remember_columns(store.path, ("q", "a", "who", "sets"), chosen)


def test_a_small_file_is_imported_with_progress(store, empty_project, tmp_path):
    from evenhand.pages.projects.import_.files import FormState

    path = tmp_path / "g.csv"
    path.write_text(CSV, "utf-8")
    app = AppTest.from_function(_import_page, default_timeout=300)
    app.session_state["path"] = str(path)
    app.session_state["wish"] = FormState(
        "generations", None, Columns({"context": "q", "completion": "a", "pronouns": "sets"})
    )
    without_exception(app.run())
    (item,) = items(store, empty_project)
    assert (item.text, item.extra["pronouns"], item.extra["name"]) == ("She *left*.", ["she", "they"], "Ann")
    shown = text_of(app)
    assert "Zo sang." not in shown  # unusable rows are reported by line, not by text


def _import_page():
    from pathlib import Path

    import streamlit as st

    from evenhand.annotations.projects.projects import project
    from evenhand.core.files.archives import Member
    from evenhand.pages.projects.import_.files import import_with_bar, show_report
    from evenhand.pages.ui.visitor import open_store

    with open_store() as store:
        path = Path(st.session_state["path"])
        report = import_with_bar(
            store, project(store, "g"), [Member(path, path.name)], st.session_state["wish"], path.name
        )
        show_report(report, quoting=False)


def test_texts_are_exported_with_a_password_only(store, empty_project):
    app = open_page("projects", project="g")
    without_exception(app.segmented_control(key="section").set_value("export").run())
    assert not app.get("download_button")
    assert "Enter a password of at least 8 characters" in text_of(app)
    without_exception(app.text_input(key="export_password").set_value("short").run())
    assert not app.get("download_button")
    without_exception(app.text_input(key="export_password").set_value(PASSWORD).run())
    assert app.get("download_button")
    without_exception(app.radio(key="export_format").set_value("labels").run())
    assert app.get("download_button")
    assert "SlguSet" not in str(app.radio(key="export_format").options)


def test_a_new_project_warns_of_one_label_per_item(fresh_store):
    app = open_page("projects", view="new")
    without_exception(app.segmented_control(key="kind").set_value("generations").run())
    number = app.number_input(key="generations_per_item")
    assert number.value == 2 and not app.warning
    without_exception(number.set_value(1).run())
    assert "agreement between annotators cannot be measured" in app.warning[0].value


def test_settings_allow_exporting_texts(store, empty_project):
    app = open_page("projects", project="g")
    without_exception(app.segmented_control(key="section").set_value("settings").run())
    app.checkbox(key="new_open_text").set_value(True)
    app.checkbox(key="new_checked").set_value(False)
    without_exception(app.number_input(key="new_doubled").set_value(5).run())
    without_exception(app.button(key="save_settings").click().run())
    stored = project(store, "g")
    assert (stored.open_text, stored.checked, stored.doubled) == (True, False, 5)


def test_an_encrypted_archive_asks_for_its_password(store, empty_project, tmp_path):
    path = tmp_path / "g.zip"
    path.write_bytes(packed({"g.csv": CSV.encode()}, PASSWORD))
    app = AppTest.from_function(_archive_page, default_timeout=300)
    app.session_state["path"] = str(path)
    without_exception(app.run())
    assert "encrypted" in text_of(app)
    without_exception(app.text_input(key="archive_password").set_value("wrong horse").run())
    assert "Wrong password for" in text_of(app)
    without_exception(app.text_input(key="archive_password").set_value(PASSWORD).run())
    assert [box.label for box in app.selectbox][:2] == ["Context", "Completion"]


def _archive_page():
    from pathlib import Path

    import streamlit as st

    from evenhand.annotations.projects.projects import project
    from evenhand.core.errors import EvenhandError
    from evenhand.pages.projects.import_.files import _show_file
    from evenhand.pages.ui.visitor import open_store, show_error

    st.session_state["language"] = "en"
    with open_store() as store:
        try:
            _show_file(store, project(store, "g"), Path(st.session_state["path"]), large=False)
        except EvenhandError as error:
            show_error(error)


def _brought_page():
    from evenhand.annotations.files.import_items import ImportReport
    from evenhand.annotations.files.import_labels import LabelImport
    from evenhand.annotations.files.package.write_package import PackageImport
    from evenhand.core.types import Problem
    from evenhand.pages.projects.import_.imports import show_brought

    items, labels = (
        ImportReport("utf-8", "generations", rows=7, imported=5, duplicates=1),
        LabelImport(rows=9, imported=8),
    )
    for report in (items, labels):
        report.note(Problem("items.jsonl", 3, "no_text", "This row has no completion.", {}))
    show_brought(PackageImport(None, items, labels), quoting=False)


def _lacking_page():
    from evenhand.annotations.files.import_labels import LabelImport
    from evenhand.annotations.files.package.write_package import GoldLabels, PackageImport
    from evenhand.pages.projects.import_.imports import show_brought

    left_out = {"annotators": 1, "labels": 90, "comments": 2, "open_cases": 3}
    gold = GoldLabels(rows=89, here=10, imported=77, kept=2, withheld=1, left_out=left_out)
    show_brought(PackageImport(None, None, LabelImport(), gold), quoting=False)


def test_a_package_reports_gold_labels_and_missing_parts():
    app = without_exception(AppTest.from_function(_lacking_page, default_timeout=300).run())
    shown = {metric.label: metric.value for metric in app.metric}
    wanted = {"Gold labels": "89", "From labels": "10", "Imported as gold": "77", "Project's own kept": "2"}
    assert wanted.items() <= shown.items()
    texts = " ".join(caption.value for caption in app.caption)
    for part in ("77 gold labels came without", "2 gold labels differ", "1 item has no gold label",
                 "90 labels by 1 annotator who", "2 comments", "3 open cases"):  # fmt: skip
        assert part in texts, part


def test_a_package_reports_its_items_and_its_labels():
    app = without_exception(AppTest.from_function(_brought_page, default_timeout=300).run())
    shown = [(metric.label, metric.value) for metric in app.metric]
    assert ("Rows", "7") in shown and ("Labels read", "9") in shown
    assert [value for label, value in shown if label == "Imported"] == ["5", "8"]
    assert len(app.dataframe) == 2 and len(app.header) == 1
