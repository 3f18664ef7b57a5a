"""The page Pilot and guideline: start, close, tags into criteria, a new version with returned labels."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import read_draft, save_draft, tag_codes
from evenhand.annotations.guideline.relabelling import remaining_to_relabel
from evenhand.annotations.guideline.versions import add_guideline, guideline
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import open_pilot, pilots, start_pilot
from evenhand.annotations.pilot.start_relabelling import Settings, run
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from evenhand.core.runs.kinds import Place
from tests.support.pages import html_of, open_page, without_errors
from tests.support.projects import database, decide, filled_project

SCRIPT = "<script>alert(1)</script>"


def new_project(tmp_path: Path, number: int = 12) -> tuple[Project, list[Annotator]]:
    with Store.open(database(tmp_path)) as store:
        return filled_project(store, number)


def page(part: str = "pilot") -> AppTest:
    app = without_errors(open_page("pilot"))
    if part != "pilot":
        app.button_group(key="pilot_part").set_value(part).run()
        assert not app.exception and not app.error
    return app


def in_pilot(tmp_path: Path, said: dict[str, str]) -> Project:
    """Return a pilot of four items: each annotator accepts (a) or rejects with a tag (r) by the letters."""
    project, people = new_project(tmp_path)
    with Store.open(database(tmp_path)) as store:
        start_pilot(store, project, 4)
        for person in people:
            for item, letter in zip(claim(store, project, person), said[person.name], strict=False):
                tags = ("kinship", SCRIPT) if letter == "r" else ()
                choice = "reject" if letter == "r" else "accept"
                store_operations(store, project, person, [decide(item, choice, reasons=(), tags=tags)])
    return project


def test_a_pilot_is_started_and_closed(tmp_path: Path) -> None:
    project, _ = new_project(tmp_path)
    app = page()
    app.number_input(key="pilot_items").set_value(4)
    app.button(key="pilot_start").click().run()
    assert "Pilot 1 is open" in app.header[0].value and not app.error
    app.button(key="pilot_close").click().run()
    assert not app.error and not app.exception
    with Store.open(database(tmp_path)) as store:
        assert open_pilot(store, project) is None and pilots(store, project)[0].items == 4
    app.button(key="pilot_tags").click().run()  # what comes next is one press away, and in the address
    assert app.query_params["part"] in ("tags", ["tags"]) and not app.exception


def test_an_empty_project_explains_what_to_do(tmp_path: Path) -> None:
    new_project(tmp_path, 0)
    assert "Import a file" in page().info[0].value
    assert "Start one first" in page("tags").info[0].value


def test_a_complete_pilot_is_closed_in_one_press_and_summarised(tmp_path: Path) -> None:
    in_pilot(tmp_path, {"Ada": "aaaa", "Bo": "aara", "Chen": "aaaa"})
    app = page()
    assert "All annotators have finished the pilot" in app.success[0].value
    app.button(key="pilot_close").click().run()
    assert app.metric[0].value == "75%"
    text = " ".join(caption.value for caption in (*app.caption, *app.code))
    assert "on 3 of 4 items" in text.replace("\\", "") and "wilson" in text


def test_a_missing_interval_of_a_closed_pilot_has_a_reason(tmp_path: Path) -> None:
    in_pilot(tmp_path, {"Ada": "aaaa", "Bo": "aara", "Chen": "aaaa"})
    with Store.open(database(tmp_path)) as store, store.write():  # two files are too few units
        store.db.execute("UPDATE item SET extra = json_object('source', json_object('file', 'f' || (id % 2)))")
    app = page()
    app.button(key="pilot_close").click().run()
    text = " ".join(caption.value for caption in app.caption).replace("\\", "")
    assert (
        "Fewer than 5 units (2): too few for a 95% interval. All annotators chose the same on 3 of 4 items" in text
        and "interval: ." not in text
    )


def test_a_tag_becomes_a_criterion_of_the_next_version(tmp_path: Path) -> None:
    project = in_pilot(tmp_path, {"Ada": "raaa", "Bo": "rraa", "Chen": "aaaa"})
    app = page("tags")
    shown = " ".join(block.value for block in app.markdown)
    assert "kinship" in shown and "alert" in shown and SCRIPT not in shown
    place = next(box for box in app.selectbox if box.key and box.key.startswith("tag-") and "kinship" in box.key)
    box = place.key or ""
    place.set_value("+").run()
    app.text_input(key=f"code-{box}").set_value("two words")
    app.button(key=f"add-{box}").click().run()
    assert "is not a valid code" in app.error[0].value
    app.text_input(key=f"code-{box}").set_value("kinship")
    app.button(key=f"add-{box}").click().run()
    assert not app.error and not app.exception
    with Store.open(database(tmp_path)) as store:
        assert tag_codes(store, project) == {"kinship": "kinship"}
        assert read_draft(store, project).reasons[-1].code == "kinship"
    other = next(box for box in app.selectbox if box.key and "script" in box.key)
    other.set_value("-").run()
    with Store.open(database(tmp_path)) as store:
        assert tag_codes(store, project)[SCRIPT] is None


def test_annotators_are_letters_while_the_pilot_is_open(tmp_path: Path) -> None:
    in_pilot(tmp_path, {"Ada": "raaa", "Bo": "aaaa", "Chen": "aaaa"})
    app = page("tags")
    next(toggle for toggle in app.toggle if toggle.key and toggle.key.startswith("open-")).set_value(True).run()
    shown = html_of(app)
    assert "Reject" in shown and "#kinship" in shown and "Ada" not in shown and SCRIPT not in shown
    app.button_group(key="pilot_part").set_value("pilot").run()
    app.button(key="pilot_close").click().run()
    app.button_group(key="pilot_part").set_value("tags").run()
    next(toggle for toggle in app.toggle if toggle.key and toggle.key.startswith("open-")).set_value(True).run()
    assert "Ada" in html_of(app)


@pytest.mark.parametrize("leaves", [True, False])
def test_free_tags_are_exported_only_if_texts_may_be(tmp_path: Path, leaves: bool) -> None:
    project = in_pilot(tmp_path, {"Ada": "raaa", "Bo": "aaaa", "Chen": "aaaa"})
    with Store.open(database(tmp_path)) as store:
        change_project(store, project, open_text=leaves)
    assert any(element.key == "tags-csv" for element in page("tags").get("download_button")) == leaves
    result = CliRunner().invoke(cli, ["pilot", "show", project.name, "--db", str(database(tmp_path))]).output
    assert ("kinship" in result) == leaves and re.search(r"(kinship|—) +1 +1\b", result)


def test_a_version_is_written_compared_and_published(tmp_path: Path) -> None:
    project = in_pilot(tmp_path, {"Ada": "raaa", "Bo": "rraa", "Chen": "aaaa"})
    app = page("guideline")
    text = next(area for area in app.text_area if area.key and area.key.endswith("-text"))
    text.set_value(f"### Read\n\n**Twice.** {SCRIPT}").run()
    assert SCRIPT not in html_of(app) and "&lt;script&gt;" in html_of(app)
    app.button(key="publish").click().run()
    assert "Describe the change in a sentence" in app.error[0].value
    next(area for area in app.text_area if area.key and area.key.endswith("-changes")).set_value("Read twice.").run()
    with Store.open(database(tmp_path)) as store:
        assert read_draft(store, project).changes == "Read twice."  # kept before anything is published
    assert any("3 labels on 2 items" in option.replace("\\", "") for option in app.radio(key="which").options)
    app.radio(key="which").set_value("named").run()
    app.text_input(key="pilot_author").set_value("Lead").run()
    app.button(key="publish").click().run()
    assert not app.exception and "Version 2 is published" in app.success[0].value.replace("\\", "")
    with Store.open(database(tmp_path)) as store:
        assert guideline(store, project).changes == "Read twice."
        assert remaining_to_relabel(store, project) == {"Ada": 1, "Bo": 2}


def test_a_version_published_meanwhile_is_reported(tmp_path: Path) -> None:
    project, _ = new_project(tmp_path)
    with Store.open(database(tmp_path)) as store:
        save_draft(store, project, replace(read_draft(store, project), text="mine", changes="mine"))
        now = guideline(store, project)
        add_guideline(store, project, "theirs", now.choices, now.reasons)
    app = page("guideline")
    assert "Version 2 was published" in app.warning[0].value.replace("\\", "")
    app.button(key="publish").click().run()
    assert "in the meantime" in app.error[0].value
    app.button(key="rebase").click().run()
    assert not app.warning
    app.button(key="publish").click().run()
    with Store.open(database(tmp_path)) as store:
        assert guideline(store, project).version == 3 and guideline(store, project).text == "mine"


def test_older_labels_can_be_sent_back_later(tmp_path: Path) -> None:
    project = in_pilot(tmp_path, {"Ada": "raaa", "Bo": "aaaa", "Chen": "aaaa"})
    with Store.open(database(tmp_path)) as store:
        now = guideline(store, project)
        add_guideline(store, project, "anew", now.choices, now.reasons, changes="New.")
    app = page("guideline")
    app.radio(key="which_older").set_value("all").run()
    app.button(key="send_older").click().run()
    with Store.open(database(tmp_path)) as store:
        assert remaining_to_relabel(store, project) == {"Ada": 4, "Bo": 4, "Chen": 4}
    assert any("Ada 4" in caption.value for caption in app.caption)


def test_many_labels_are_sent_back_by_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = in_pilot(tmp_path, {"Ada": "raaa", "Bo": "rraa", "Chen": "aaaa"})
    with Store.open(database(tmp_path)) as store:
        save_draft(store, project, replace(read_draft(store, project), text="anew", changes="Anew."))
    started: list[Settings] = []
    monkeypatch.setattr("evenhand.annotations.guideline.relabelling.CHUNK", 2)
    monkeypatch.setattr(
        "evenhand.annotations.jobs.jobs.start", lambda store, kind, settings, title, **_: started.append(settings)
    )
    app = page("guideline")
    app.radio(key="which").set_value("all").run()
    app.button(key="publish").click().run()
    assert not app.exception and "being sent back for relabelling" in app.success[0].value
    with Store.open(database(tmp_path)) as store:
        assert guideline(store, project).version == 2 and remaining_to_relabel(store, project) == {}
    assert run(started[0], Place(database(tmp_path))).sent_back.labels == 12
    with Store.open(database(tmp_path)) as store:
        assert remaining_to_relabel(store, project) == {"Ada": 4, "Bo": 4, "Chen": 4}
