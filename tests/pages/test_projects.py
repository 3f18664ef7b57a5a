"""The pages Projects and Jobs through the frame: make a project, import, look, export; follow a job."""

import shutil
import uuid

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import NAME, ensure_demo
from evenhand.annotations.jobs import jobs
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.projects.projects import (
    add_guideline,
    annotators,
    create_project,
    guidelines,
    project,
    projects,
    set_aside_items,
)
from evenhand.annotations.projects.projects import counts as counts_of
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Operation
from evenhand.core.guidelines import recognise
from evenhand.core.resources import quotas
from tests.support.pages import open_page, open_section, text_of, without_exception
from tests.support.waiting import until

pytestmark = pytest.mark.early
NASTY = "<script>alert(1)</script>**那个**男孩 $x$ :red[回] `头` &amp; ![x](http://x)。"
CSV = f"句子,来源\n昨天他把雨伞还到了门房。,晚报\n天黑了。,晚报\n爸爸和妈妈在等车。,晚报\n{NASTY},周刊\n"


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    ensure_demo(path)
    return path


@pytest.fixture
def demo(demo_file, tmp_path):
    """Copy the demo project to the database of this test."""
    shutil.copy(demo_file, tmp_path / "evenhand.db")


@pytest.fixture
def store(fresh_store):
    return fresh_store


@pytest.fixture
def empty(store):
    return create_project(store, "报纸 *句*", annotators=["甲"])


def test_a_project_is_created_with_quotas(store):
    app = open_page("projects")
    assert "fictitious annotators" in text_of(app)
    without_exception(app.button(key="new").click().run())
    without_exception(app.segmented_control(key="guideline_version").set_value("conference").run())
    without_exception(app.segmented_control(key="quotas").set_value("table1").run())
    assert [w.value.replace("\\", "") for w in app.warning] == [
        "The rows of Table 1 sum to 19,000; the printed total is 20,000."
    ]
    app.text_input(key="name").set_value("新项目")
    app.text_area(key="annotators").set_value("甲\n\n 乙 \n")
    app.number_input(key="per_item").set_value(2)
    app.radio(key="presentation").set_value("original")
    without_exception(app.button(key="create").click().run())
    assert [h.value for h in app.title] == ["新项目"]
    made = project(store, "新项目")
    assert (made.per_item, made.presentation, made.gold) == (2, "original", "unanimous")
    assert [person.name for person in annotators(store, made)] == ["甲", "乙"]
    assert recognise(guidelines(store, made)[0].text) == "conference"
    assert {(c.pair, c.side): c.quota for c in counts_of(store, made).cells} == quotas("table1")


def test_errors_of_a_new_project_are_reported(store, empty):
    app = open_page("projects")
    without_exception(app.button(key="new").click().run())
    app.text_input(key="name").set_value(empty.name)
    without_exception(app.button(key="create").click().run())
    assert "already" in app.error[0].value
    assert len(projects(store)) == 1


def test_a_file_is_previewed_imported_and_reported(store, empty):
    app = open_page("projects", project=empty.name)
    app.file_uploader(key="file").upload("小.csv", CSV.encode(), "text/csv")
    without_exception(app.run())
    shown = text_of(app)
    assert '<span class="word male">他<span class="side male">male word</span></span>' in shown
    assert "&lt;script&gt;" in shown and "<script>alert" not in shown
    assert "The sentence contains no word of any keyword pair." in shown
    assert counts_of(store, empty).items == 0
    without_exception(app.button(key="import").click().run())
    assert {m.label: m.value for m in app.metric} == {
        "Rows": "4", "Imported": "2", "Duplicates": "0", "Unusable": "2",
    }  # fmt: skip
    problems = app.dataframe[0].value
    links = [link.proto.page for link in app.main.get("page_link")]
    assert links.count("plan") == 1 and len(links) == len(set(links)), "where to go on from here, each place once"
    assert list(problems["Line"]) == [3, 4]
    assert list(problems["Reason"]) == ["no keyword", "several keywords"]
    assert counts_of(store, empty).items == 2
    assert list(jobs.folder(store).iterdir()) == []  # nothing of a small file is left behind
    assert not [b for b in app.button if b.key == "import"]
    app.file_uploader(key="file-1").upload("小.csv", CSV.encode(), "text/csv")
    without_exception(app.run())
    without_exception(app.button(key="import").click().run())
    assert {m.label: m.value for m in app.metric}["Duplicates"] == "2"
    assert counts_of(store, empty).items == 2


def test_a_mislabelled_file_is_one_sentence(store, empty):
    app = open_page("projects", project=empty.name)
    app.file_uploader(key="file").upload("a.csv", b"PK\x03\x04" + bytes(100), "text/csv")
    without_exception(app.run())
    assert len(app.error) == 1 and "a" in app.error[0].value
    assert not [b for b in app.button if b.key == "import"]


@pytest.mark.rehearsal
def test_a_large_file_becomes_a_job(store, empty, monkeypatch):
    monkeypatch.setattr(jobs, "LARGE_LINES", 2_000)
    lines = "".join(f"他在第{n}站下了车，把行李放在长椅旁边。\n" for n in range(jobs.LARGE_LINES + 1))
    app = open_page("projects", project=empty.name)
    app.file_uploader(key="file").upload("big.txt", lines.encode(), "text/plain")
    without_exception(app.run())
    without_exception(app.button(key="import").click().run())
    (job,) = jobs.jobs(store)
    assert job.title == "Import big.txt into 报纸 *句*"
    assert job.settings["uid"] == empty.uid
    until(lambda: not jobs.find(store, job.uid).active, 600)
    done = jobs.find(store, job.uid)
    assert (done.state, done.result["imported"]) == ("done", jobs.LARGE_LINES + 1), done.message
    assert counts_of(store, empty).items == jobs.LARGE_LINES + 1
    until(lambda: not [place for place in jobs.folder(store).iterdir() if place.is_dir()])
    page = open_page("jobs")
    assert "2,001 rows: 2,001 imported" in text_of(page)


SECTIONS = {
    "guideline": ("Criteria</h3>", "判断标准</h3>"),
    "people": ("Open the desk", "打开标注台"),
    "aside": ("No sentence is set aside", "没有被搁置的句子"),
    "quotas": ("male word", "男性词"),
    "export": ("First lines of the file:", "文件前几行："),
    "settings": ("Nothing is deleted", "内容不会删除"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", SECTIONS)
def test_each_section_of_the_demo_opens(demo, name, language):
    app = open_section(open_page("projects", lang=language, project=NAME), name)
    assert not app.error
    links = [link.proto.label for link in app.get("page_link")]
    assert SECTIONS[name][language == "zh"] in "\n".join([text_of(app), *links])
    assert app.query_params["section"] in (name, [name]), "a reload opens the same part"
    assert app.session_state["last_project"] == NAME, "and the other pages open this project"


def test_cards_show_the_progress_of_a_project(demo, tmp_path):
    with Store.open(tmp_path / "evenhand.db") as store:
        counted = counts_of(store, project(store, NAME))
    shown = text_of(open_page("projects"))
    assert f"<b>{counted.accepted}</b> accepted" in shown and f"<b>{counted.pending}</b> still open" in shown
    assert "annotators and labels are fictitious" in shown


def test_export_shows_the_first_rows_and_the_count(demo, tmp_path):
    with Store.open(tmp_path / "evenhand.db") as store:
        counted = counts_of(store, project(store, NAME))
    app = open_section(open_page("projects", project=NAME), "export")
    assert app.radio(key="export_items").value == "accepted", "as in a release"
    assert app.metric[0].value == str(counted.accepted)
    assert app.code[0].value.startswith("句子,关键词位置,原始关键词,对立关键词")
    without_exception(app.radio(key="export_items").set_value("all").run())
    assert app.metric[0].value == str(counted.items)
    without_exception(app.radio(key="export_format").set_value("jsonl").run())
    assert app.radio(key="export_items_other").value == "all"
    without_exception(app.radio(key="export_format").set_value("labels").run())
    assert "虚构" not in app.code[0].value and ",A1," in app.code[0].value
    without_exception(app.toggle(key="names").set_value(True).run())
    assert "虚构" in app.code[0].value


def test_the_guideline_is_shown_with_a_link_to_edit_it(store, empty):
    first = guidelines(store, empty)[0]
    text = "1. **只看**语感。<img src=x onerror=alert(1)> ![x](http://x)"
    add_guideline(store, empty, text, first.choices, first.reasons, changes="看<i>语感</i>。")
    app = open_section(open_page("projects", project=empty.name), "guideline")
    assert app.selectbox(key="version").value == 2
    assert "<strong>只看</strong>语感" in text_of(app) and "看&lt;i&gt;语感&lt;/i&gt;。" in text_of(app)
    assert "<img" not in text_of(app)  # neither raw HTML nor an image that would fetch a foreign address
    assert not app.text_area and not app.toggle, "one way to write a version: with what changed and what is sent back"
    links = [link.proto.label for link in app.get("page_link")]
    assert "Write a new version" in links
    without_exception(app.selectbox(key="version").set_value(1).run())
    assert "<strong>只看</strong>语感" not in text_of(app)


def test_people_quotas_settings_and_archive_are_changed(store, empty):
    app = open_section(open_page("projects", project=empty.name), "people")
    app.text_area(key="new_annotators").set_value("乙\n丙")
    without_exception(app.button(key="add_annotators").click().run())
    assert [person.name for person in annotators(store, empty)] == ["甲", "乙", "丙"]
    assert own_progress(store, empty, annotators(store, empty)[0]).labelled == 0

    open_section(app, "quotas")
    without_exception(app.button(key="preset-released").click().run())
    assert sum(c.quota for c in counts_of(store, empty).cells) == 20_000

    open_section(app, "settings")
    app.text_input(key="new_name").set_value("改名")
    app.radio(key="new_gold").set_value("majority")
    app.selectbox(key="opinion_model").set_value("demo-zh")
    assert app.button(key="save_settings").disabled
    without_exception(app.run())
    (message,) = (info.value for info in app.info)
    assert "rule: all annotators accept → most annotators accept" in message.replace("\\", "")
    assert "opinion shown after a label: no opinion → demo-zh" in message.replace("\\", "")
    without_exception(app.button(key="save_settings").click().run())
    changed = project(store, "改名")
    assert (changed.gold, changed.opinion_model) == ("majority", "demo-zh")
    assert [h.value for h in app.title] == ["改名"]

    without_exception(app.button(key="archive").click().run())
    assert projects(store) == [] and [project.name for project in projects(store, archived=True)] == ["改名"]
    without_exception(app.button(key="back").click().run())
    without_exception(app.button(key=f"back-{empty.uid}").click().run())
    assert [project.name for project in projects(store)] == ["改名"]


def test_items_skipped_by_all_can_be_handed_out_again(store, sample_project):
    for turn in (1, 2):
        for person in annotators(store, sample_project):
            skips = [
                Operation(uuid.uuid4().hex, item.uid, "skip", "d", turn, base=base(store, person, item))
                for item in claim(store, sample_project, person, want=50)
            ]
            store_operations(store, sample_project, person, skips)
    aside = set_aside_items(store, sample_project)
    assert len(aside) == 8
    app = open_section(open_page("projects", project="sample"), "aside")
    assert aside[0].text in text_of(app)
    without_exception(app.button(key=f"hand-out-{aside[0].uid}").click().run())
    assert [item.uid for item in set_aside_items(store, sample_project)] == [item.uid for item in aside[1:]]
    without_exception(app.button(key="hand-out-all").click().run())
    assert set_aside_items(store, sample_project) == []
    assert claim(store, sample_project, annotators(store, sample_project)[0], want=50)


def base(store, person, item):
    query = "SELECT op_id FROM assignment JOIN item ON item.id = item WHERE annotator = ? AND item.uid = ?"
    row = store.db.execute(query, (person.id, item.uid)).fetchone()
    return row[0] if row else None


def test_an_annotator_is_removed_and_restored(store, sample_project):
    ada = annotators(store, sample_project)[0]
    app = open_section(open_page("projects", project="sample"), "people")
    without_exception(app.button(key=f"leave-{ada.uid}").click().run())
    assert [person.name for person in annotators(store, sample_project)] == ["Bo", "Chen"]
    assert "Remove Ada" not in [button.label for button in app.button]
    app.text_area(key="new_annotators").set_value("Ada")
    without_exception(app.button(key="add_annotators").click().run())
    assert [person.name for person in annotators(store, sample_project)] == ["Ada", "Bo", "Chen"]


def test_an_unknown_project_shows_the_list(store, empty):
    app = open_page("projects", project="没有")
    assert "没有" in app.error[0].value
    assert [s.value for s in app.header] == ["报纸 \\*句\\*"]


def test_jobs_are_shown_in_every_state(store):
    states = {
        "waiting": "waiting to start",
        "done": "finished",
        "failed": "a<b>.csv is no table.",
        "cancelled": "cancelled",
        "interrupted": "interrupted: the process ended unexpectedly",
    }
    with store.write() as db:
        for state in states:
            result = '{"error": "{file} is no table.", "values": {"file": "a<b>.csv"}}' if state == "failed" else None
            db.execute(
                "INSERT INTO job (uid, command, title, state, result, created) VALUES (?, '[]', ?, ?, ?, ?)",
                (state, f"*{state}*", state, result, "2999-01-01T00:00:00.000Z"),
            )
    app = open_page("jobs")
    for words in states.values():
        assert words in text_of(app)
    keys = {button.key for button in app.button}
    assert {"cancel-waiting", "resume-failed", "resume-cancelled", "resume-interrupted"} <= keys
    assert "resume-done" not in keys
    without_exception(app.button(key="cancel-waiting").click().run())
    assert jobs.find(store, "waiting").state == "cancelled"


def test_an_empty_list_of_jobs_is_explained(store):
    assert "No jobs" in text_of(open_page("jobs"))
