"""The page Score, as a visitor uses it: choose, start, follow, take away; jobs are only written down, not run."""

import json
from urllib.parse import parse_qs

import pytest

from evenhand.annotations.files.scoring_input import score
from evenhand.annotations.jobs import jobs, kinds
from evenhand.core.errors import Notice
from evenhand.core.files.atomic_file import growing_part, whole_file
from evenhand.core.files.csv_out import data_line
from evenhand.core.language import translate
from evenhand.core.mining.runs import new_mining_run
from evenhand.core.processes import this_process
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import runs_folder, runs_in
from evenhand.core.scoring.run import COLUMNS
from evenhand.core.scoring.settings import Settings
from evenhand.core.typed_json import to_json
from tests.conftest import SENTENCES
from tests.support.judged_sentences import judged
from tests.support.pages import captions_of, html_of, in_language, open_page, without_errors

pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture
def finished(tmp_path, fresh_store):
    """Return a finished run of a file with a bad line."""
    path = tmp_path / "in.txt"
    path.write_text("\n".join([*SENTENCES, "今天下雨。"]), encoding="utf-8")
    settings = Settings(str(path), ("known",), run_name="first [run](x) $y$ _z_", cache=tmp_path / "scores.db")
    return score(settings, Place(fresh_store.path))


def test_without_projects_the_page_explains_what_to_do():
    page = without_errors(open_page("scoring"))
    assert page.title[0].value == "Score a file"
    assert any("no projects yet" in info.value for info in page.info)
    assert (
        "No finished runs yet. Each finished run stays here with its table to download."
        in captions_of(page).splitlines()
    )


def test_a_project_is_previewed_and_scored(fresh_store, sample_project):
    page = without_errors(open_page("scoring"))
    assert any(
        text.startswith("8 sentences. First sentences, with the masked word marked:")
        for text in captions_of(page).splitlines()
    )
    shown = html_of(page)
    assert '<span class="male">他</span>把实验报告' in shown
    assert '<span class="female">她</span>在图书馆' in shown
    page.multiselect(key="score-models").set_value(["known", "random-zh"]).run()
    page.text_input(key="name").set_value("my run").run()
    without_errors(page.button(key="start").click().run())
    [job] = jobs.jobs(fresh_store)
    assert kinds.settings_of(job) == Settings(
        "project:sample", ("known", "random-zh"), run_name="my run", uid=sample_project.uid
    )
    assert job.title == "Score sample with known, random-zh"
    assert [heading.value for heading in page.header] == ["Not finished", "Finished runs"]


def test_the_kept_sentences_of_a_project_are_scored_unless_all_are_chosen(fresh_store):
    project, _items = judged(fresh_store, ["aaa", "aar", "a", "aaa"])
    page = without_errors(open_page("scoring", project=project.name))
    choice = page.segmented_control(key="score-items")
    assert (choice.options, choice.value) == (["Accepted: 2", "All: 4"], "accepted")
    assert any(text.startswith("2 sentences.") for text in captions_of(page).splitlines())
    page.multiselect(key="score-models").set_value(["known"]).run()
    without_errors(page.button(key="start").click().run())
    choice = page.segmented_control(key="score-items").set_value("all")
    choice.run()
    page.text_input(key="name").set_value("of all").run()
    without_errors(page.button(key="start").click().run())
    results = {job.title: kinds.settings_of(job) for job in jobs.jobs(fresh_store)}
    assert all((entry.uid, entry.file) == (project.uid, f"project:{project.name}") for entry in results.values())
    assert {title: score.items for title, score in results.items()} == {
        f"Score the accepted sentences of {project.name} with known": "accepted",
        f"Score {project.name} with known": "all",
    }


def test_a_running_job_shows_its_progress(fresh_store, sample_project):
    page = open_page("scoring")
    page.button(key="start").click().run()
    [job] = jobs.jobs(fresh_store)
    table = runs_folder(fresh_store.path, "scores") / f"{kinds.run_name(job)}.csv"
    with fresh_store.write() as db:
        db.execute("UPDATE job SET state = 'running', pid = ?, started_process = ?", this_process())
    assert not without_errors(page.run()).main.expander, "nothing is written yet"
    values = {"model": "demo-zh", "sentence": "他来了。", "bias_log10": "-0.5", "status": "ok"}
    with whole_file(table):
        lines = [data_line(values.get(name, "") for name in COLUMNS)] * 3
        growing_part(table).write_text("".join([data_line(COLUMNS), *lines]), encoding="utf-8", newline="")
        [shown] = without_errors(page.run()).main.expander
        assert shown.label.startswith("Partial result, 3 rows so far") and "no signature" in shown.label
        assert '<td class="number" data-label="Rows so far">3</td>' in html_of(page)


def test_a_free_run_name_is_proposed(fresh_store, sample_project):
    page = open_page("scoring")
    first = page.text_input(key="name").placeholder
    assert first.startswith("sample 20")
    page.button(key="start").click().run()
    page.button(key="start").click().run()
    names = [kinds.run_name(job) for job in jobs.jobs(fresh_store)]
    assert names == [f"{first} (2)", first]


def test_an_uploaded_file_is_shown_with_its_bad_lines(fresh_store):
    page = open_page("scoring")
    page.segmented_control(key="source").set_value("file").run()
    text = "satz,nr\n他来了。,1\n<script>alert(1)</script>,2\n"
    page.file_uploader(key="file-0").set_value(("t.csv", text.encode(), "text/csv")).run()
    assert page.selectbox(key="column").options == ["satz", "nr"]
    without_errors(page)
    shown = html_of(page)
    assert "<script>alert" not in shown
    assert '&lt;script&gt;alert(1)&lt;/script&gt; <span class="soft">— no keyword' in shown
    page.button(key="start").click().run()
    [job] = jobs.jobs(fresh_store)
    settings = kinds.settings_of(job)
    assert settings.column == "satz" and settings.file.endswith("/t.csv")
    assert page.file_uploader(key="file-1").value is None


def test_an_english_file_is_read_with_own_words(fresh_store):
    page = open_page("scoring")
    page.segmented_control(key="source").set_value("file").run()
    text = "sentence\nThe nurse said he left.\nThe belle left.\nThe door was open.\n"
    page.file_uploader(key="file-0").set_value(("t.csv", text.encode(), "text/csv")).run()
    assert html_of(page).count("no keyword") == 2
    assert page.multiselect(key="score-models").value == ["demo-en"] and not page.warning
    page.multiselect(key="score-models").set_value(["demo-en", "demo-zh"]).run()
    assert [warning.value for warning in page.warning] == [
        "demo\\-zh was not trained on English, so its values are meaningless here\\."
    ]
    page.button(key="score-models-fitting").click().run()
    assert page.multiselect(key="score-models").value == ["demo-en"] and not page.warning
    table = b"male\tfemale\tlanguage\nbeau\tbelle\ten\n"
    page.file_uploader(key="score-words").set_value(("mine.tsv", table, "text/plain")).run()
    page.selectbox(key="score-language").set_value("en").run()
    without_errors(page)
    shown = html_of(page)
    assert '<span class="female">belle</span>' in shown and shown.count("no keyword") == 1
    page.multiselect(key="score-models").set_value(["demo-en"]).run()
    page.button(key="start").click().run()
    [job] = jobs.jobs(fresh_store)
    settings = kinds.settings_of(job)
    assert settings.language == "en" and settings.words.name == "mine.tsv"
    wrong = table.replace(b"belle", b"")
    page = open_page("scoring")
    page.segmented_control(key="source").set_value("file").run()
    page.file_uploader(key="file-0").set_value(("t.csv", text.encode(), "text/csv")).run()
    page.file_uploader(key="score-words").set_value(("mine.tsv", wrong, "text/plain")).run()
    assert "mine.tsv, line 2: the column female is empty" in page.error[0].value.replace("\\", "")


def test_an_unreadable_file_is_one_sentence():
    page = open_page("scoring")
    page.segmented_control(key="source").set_value("file").run()
    page.file_uploader(key="file-0").set_value(("t.csv", b"PK\x03\x04 xxxx", "text/csv")).run()
    assert not page.exception
    assert len(page.error) == 1
    assert "ZIP archive" in page.error[0].value


def test_mined_candidates_can_be_chosen(fresh_store):
    page = open_page("scoring")
    page.segmented_control(key="source").set_value("candidates").run()
    assert any("Nothing has been mined yet" in info.value for info in page.info)
    run = new_mining_run(fresh_store.path, "2026-11-21")
    line = {
        "sentence": "我的姥姥。", "start": 2, "end": 4, "stem_start": 3, "stem_end": 4, "keyword": "姥姥",
        "counterpart": "姥爷", "pair": "姥爷/姥姥", "source": {"file": "a"}, "flags": [],
    }  # fmt: skip
    run.candidates.write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    run.report.write_text("{}", encoding="utf-8")
    page.segmented_control(key="source").set_value("candidates").run()
    without_errors(page)
    assert any("1 row, read as Mined candidates" in text for text in captions_of(page).splitlines())
    page.button(key="start").click().run()
    assert kinds.settings_of(jobs.jobs(fresh_store)[0]).file == str(run.candidates)


def test_an_unknown_model_is_reported_before_a_job_starts(fresh_store, sample_project):
    page = open_page("scoring")
    page.session_state["score-models"] = ["no such/model here"]
    page.run()
    page.button(key="start").click().run()
    assert len(page.error) == 1
    assert "no such/model here" in page.error[0].value.replace("\\", "")
    assert jobs.jobs(fresh_store) == []


def test_a_model_of_the_hub_is_fetched_by_the_job_not_by_the_page(fresh_store, sample_project, monkeypatch):
    monkeypatch.setattr("evenhand.core.models.catalogue._from_hub", lambda *_: pytest.fail("the page went to the hub"))
    page = open_page("scoring")
    page.session_state["score-models"] = ["somebody/some-model"]
    page.run()
    without_errors(page.button(key="start").click().run())
    assert kinds.settings_of(jobs.jobs(fresh_store)[0]).models == ("somebody/some-model",)


def test_without_a_model_start_is_disabled(sample_project):
    page = open_page("scoring")
    page.multiselect(key="score-models").set_value([]).run()
    assert page.button(key="start").disabled
    assert "Choose at least one model." in captions_of(page).splitlines()


def test_a_finished_run_is_shown_with_its_numbers(fresh_store, finished):
    page = without_errors(open_page("scoring"))
    name = finished.out.stem
    assert any(f"**{name}**" == text.value.replace("\\", "") for text in page.markdown)
    assert any(text.startswith("in.txt: 9 sentences, finished 20") for text in captions_of(page).splitlines())
    shown = html_of(page)
    assert '<span class="strong" title="masked|known|' in shown
    assert '<td class="number" data-label="Scored">8</td><td class="number" data-label="No score">1</td>' in shown
    assert "1 row without a score: no keyword (e.g. row 9)" in captions_of(page).splitlines()
    page.button(key=f"delete-{name}").click().run()
    assert runs_in(runs_folder(fresh_store.path, "scores")) == []
    captions = captions_of(without_errors(page)).splitlines()
    assert "No finished runs yet. Each finished run stays here with its table to download." in captions


def test_notices_of_a_run_are_shown_in_both_languages(fresh_store, finished):
    facts = to_json(finished)
    notice = Notice("{file} is not a score cache. The file was left unchanged, and scores of this run are not cached.")
    facts["notices"] = [{"message": notice.message, "values": {"file": "x.db"}}]
    facts["failed"] = [{"model": "m", "error": "{name} is given twice; give each model once.", "values": {"name": "m"}}]
    facts["models"][0]["bf16"] = {"largest_difference": 0.0123, "compared": 300, "rescored": 100}
    finished.out.with_suffix(".json").write_text(json.dumps(facts), encoding="utf-8")
    page = without_errors(open_page("scoring"))
    english = captions_of(page).splitlines()
    chinese = captions_of(without_errors(in_language(page, "zh"))).splitlines()
    assert any(
        "x.db is not a score cache. The file was left unchanged, and scores of this run are not cached." in text
        for text in english
    )
    assert any("m is given twice; give each model once." in text for text in english)
    assert any(
        "in bf16: over the 300 sentences compared, Bias_c differs from fp32 by at most 0.0123" in text
        for text in english
    )
    assert any("x.db 不是得分缓存文件" in text for text in chinese)
    assert any("最多相差 0.0123" in text for text in chinese)


def test_the_time_is_estimated_from_similar_runs(fresh_store, finished, sample_project):
    page = open_page("scoring")
    page.multiselect(key="score-models").set_value(["known"]).run()
    assert any("At the speed of earlier runs, about" in text for text in captions_of(page).splitlines())
    page.radio(key="score-precision").set_value("bf16").run()
    assert any("can be estimated a few seconds after the start" in text for text in captions_of(page).splitlines())


def test_a_failed_job_can_be_resumed(fresh_store, sample_project):
    page = open_page("scoring")
    page.button(key="start").click().run()
    [job] = jobs.jobs(fresh_store)
    with fresh_store.write() as db:
        db.execute("UPDATE job SET state = 'cancelled' WHERE uid = ?", (job.uid,))
    without_errors(page.run())
    assert "Nothing is lost: finished scores are in the cache." in captions_of(page).splitlines()
    page.button(key=f"resume-{job.uid}").click().run()
    assert jobs.find(fresh_store, job.uid).state == "waiting"


def test_a_job_links_to_its_run_and_can_be_dismissed(fresh_store, sample_project):
    page = open_page("scoring")
    page.button(key="start").click().run()
    [job] = jobs.jobs(fresh_store)
    with fresh_store.write() as db:
        db.execute("UPDATE job SET state = 'done' WHERE uid = ?", (job.uid,))
    page = without_errors(open_page("jobs"))
    name = kinds.run_name(job)
    assert f"run {name}" in captions_of(page)
    [link] = [element.proto for element in page.main.get("page_link")]
    assert (link.page, parse_qs(link.query_string)["run"]) == ("model-bias", [name])
    without_errors(page.button(key=f"dismiss-{job.uid}").click().run())
    assert jobs.jobs(fresh_store) == []


def test_the_page_is_translated_into_chinese(sample_project):
    page = without_errors(open_page("scoring", "zh"))
    assert page.title[0].value == translate("Score a file", "zh") == "批量打分"
    assert page.button(key="start").label == "开始"


@pytest.mark.usefixtures("finished", "sample_project")
def test_home_counts_scored_sentences():
    shown = html_of(open_page("home"))
    assert "<b>8</b>" in shown
