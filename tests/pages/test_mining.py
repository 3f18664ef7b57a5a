"""The page Mine through the frame: folder, settings, dry run, job, figures, forecast, into a project."""

import json
from dataclasses import replace

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import counts, project, projects
from evenhand.core.errors import NotFound, Refused
from evenhand.core.mining import sources
from evenhand.core.mining.report import Report
from evenhand.core.mining.runs import mining_runs, new_mining_run
from evenhand.core.mining.settings import Settings
from tests.support.pages import open_page, text_of, without_errors
from tests.support.waiting import until

NASTY = "<script>alert(1)</script>昨天她把伞还给了门房 **x** $y$。"
TEXT = [
    "昨天傍晚她把雨伞还到了门房。",
    "今天早上他把报纸放在了窗台。",
    "那个男孩在操场上练习投篮球。",
    "这位女孩正在准备期末的考试。",
    "他每个周末都在河边弹吉他唱歌。",
    "爸爸和妈妈在车站等末班的车。",
    "天黑以后街上的灯一盏盏亮了。",
    NASTY,
]


@pytest.fixture
def texts_folder(tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    (folder / "晚报").mkdir(parents=True)
    (folder / "晚报" / "一.txt").write_text("\n".join(TEXT), encoding="utf-8")
    monkeypatch.setenv("EVENHAND_CORPUS", str(folder))
    return folder


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def test_a_dry_run_shows_figures_reasons_and_candidates(texts_folder):
    app = without_errors(open_page("mining"))
    assert "Files\\: 1" in text_of(app)
    without_errors(app.toggle(key="trying").set_value(True).run())
    assert metrics(app)["Sentences"] == "8"
    assert int(metrics(app)["Candidates"]) >= 4
    without_errors(app.segmented_control(key="trial_view").set_value("kept").run())
    assert '<span class="word female">她<span' in text_of(app)
    assert "<script>alert" not in text_of(app)
    without_errors(app.segmented_control(key="trial_view").set_value("rejected").run())
    without_errors(app.selectbox(key="trial-filter").set_value("length").run())
    assert "0 rejected" not in text_of(app)
    with Store.open() as store:
        assert jobs.jobs(store) == [] and mining_runs(store.path) == []


def test_a_mode_changes_the_candidates(texts_folder):
    app = without_errors(open_page("mining"))
    without_errors(app.toggle(key="trying").set_value(True).run())
    before = int(metrics(app)["Candidates"])
    app.slider(key="length").set_value((1, 12))
    without_errors(app.run())
    less = int(metrics(app)["Candidates"])
    without_errors(app.segmented_control(key="mode-length").set_value("off").run())
    after = int(metrics(app)["Candidates"])
    assert less < before <= after


@pytest.mark.rehearsal
def test_the_run_of_a_job_is_imported_into_a_new_project(texts_folder):
    app = without_errors(open_page("mining"))
    without_errors(app.button(key="start").click().run())
    with Store.open() as store:
        (job,) = jobs.jobs(store)
        assert job.title == "Mine corpus" and job.kind == "mine"
        until(lambda: not jobs.find(store, job.uid).active, 600)
        done = jobs.find(store, job.uid)
        assert done.state == "done", done.message
        (run,) = until(lambda: mining_runs(store.path))
    lines = [json.loads(line) for line in run.candidates.read_text(encoding="utf-8").splitlines()]
    app = without_errors(open_page("mining", run=run.name))
    assert metrics(app)["Candidates"] == str(len(lines))
    without_errors(app.segmented_control(key="part").set_value("project").run())
    app.text_input(key="new_project").set_value("晚报")
    app.text_area(key="new_people").set_value("甲\n乙\n丙")
    without_errors(app.segmented_control(key="new_quotas").set_value("table1").run())
    assert any("19,000" in warning.value and "20,000" in warning.value for warning in app.warning)
    without_errors(app.button(key="create_add").click().run())
    assert f"{len(lines)} candidates added to" in text_of(app)
    with Store.open() as store:
        made = project(store, "晚报")
        assert counts(store, made).items == len({line["sentence"] for line in lines})
    assert app.selectbox(key="into").value == "晚报"  # the project just made, not once more a new one
    without_errors(app.button(key="add").click().run())
    assert "0 candidates added to" in text_of(app)
    without_errors(app.segmented_control(key="part").set_value("forecast").run())
    assert "reviewed" in text_of(app) or "No items have been reviewed yet" in text_of(app)
    without_errors(app.selectbox(key="pilot").set_value("").run())
    assert "This text can meet" in text_of(app)
    with Store.open() as store:
        assert len(projects(store)) == 1


@pytest.fixture
def finished(fresh_store):
    """Make a run as a job leaves it, without a job."""
    run = new_mining_run(fresh_store.path, "晚报")
    report = Report(Settings())
    cell = report.cells["他/她", "female"]
    cell.with_keyword, cell.exactly_one, cell.candidates = 900, 800, 700
    cell.rejected["names"] = 100
    report.read.files, report.read.characters, report.read.sentences = 1, 2_000_000, 50_000
    run.candidates.write_text("", encoding="utf-8")
    run.report.write_text(json.dumps(report.to_json(), ensure_ascii=False), encoding="utf-8")
    return run


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["figures", "examples", "forecast", "project"])
def test_every_part_of_a_run_is_shown(finished, part, language):
    app = without_errors(open_page("mining", language, run=finished.name))
    without_errors(app.segmented_control(key="part").set_value(part).run())
    assert app.header[0].value == "晚报"


def test_a_finished_run_is_listed_and_deleted(finished):
    app = without_errors(open_page("mining"))
    without_errors(app.segmented_control(key="mine_view").set_value("runs").run())
    assert "700 candidates from 2,000,000 characters" in text_of(app) and " UTC" in text_of(app)
    without_errors(app.button(key="delete-晚报").click().run())
    assert "Nothing has been mined yet" in text_of(app)
    assert not finished.candidates.parent.exists()


def test_a_run_gets_its_name_and_a_taken_one_is_refused(texts_folder, finished, monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda store, kind, request, title, **_: started.append(request))
    app = without_errors(open_page("mining"))
    assert app.text_input(key="name").placeholder.startswith("corpus 20")
    app.text_input(key="name").set_value("../x")
    app.button(key="start").click().run()
    assert "is not a valid run name" in app.error[0].value and not started
    app.text_input(key="name").set_value("晚报")  # the name of a finished run
    app.button(key="start").click().run()
    assert "A run named 晚报 already exists" in app.error[0].value and not started
    app.text_input(key="name").set_value("早报")
    without_errors(app.button(key="start").click().run())
    [request] = started
    assert request.out.parent.name == "早报" and request.settings_path == request.out.with_name("settings.json")
    assert request.settings_path.is_file()


def test_the_forecast_of_an_assumed_share_has_no_interval(finished):
    app = without_errors(open_page("mining", run=finished.name))
    without_errors(app.segmented_control(key="part").set_value("forecast").run())
    text = text_of(app)
    assert "assumes that 70% of the candidates are accepted" in text
    assert "490" in text and "10.2 M" in text and "✗ no" in text
    assert "95% interval: " not in text and "Expected within the quotas: 490 of 19,000 sentences." in text


def test_the_forecast_of_a_typed_pilot_has_an_interval(finished):
    app = without_errors(open_page("mining", run=finished.name))
    without_errors(app.segmented_control(key="part").set_value("forecast").run())
    app.number_input(key="reviewed").set_value(1000)
    without_errors(app.number_input(key="accepted").set_value(700).run())
    assert "assumes" not in text_of(app) and "95% interval: " in text_of(app)
    # 700 candidates at 700 of 1000 kept: 490 of 3,000; the rest takes 2,510 / 0.7 / 350 a million characters = 10.2 M
    text = text_of(app)
    assert "490" in text and "10.2 M" in text and "✗ no" in text
    assert "The rows of Table 1 sum to 19,000; the printed total is 20,000." in text


def test_missing_and_broken_runs_are_reported(finished):
    assert "no finished run" in without_errors(open_page("mining", run="nothing")).warning[0].value
    finished.report.write_text('{"settings": {}}', encoding="utf-8")
    app = open_page("mining", run=finished.name)
    assert "cannot be read" in app.error[0].value


def test_only_files_of_the_corpus_folder_are_read(texts_folder, tmp_path):
    root = sources.root()
    assert root == texts_folder.resolve()
    assert sources.inside(root, "晚报/一.txt") == root / "晚报" / "一.txt"
    assert sources.inside(root, "") == root and sources.folders(root) == ["", "晚报"]
    secret = tmp_path / "secret.txt"
    secret.write_text("他", encoding="utf-8")
    for typed in ("../secret.txt", "晚报/../../secret.txt", f"../{tmp_path.name}"):
        with pytest.raises(Refused, match=r"is outside the corpus folder; only files inside it can be read\."):
            sources.inside(root, typed)
    for typed in (str(secret), "没有.txt"):
        with pytest.raises(NotFound):
            sources.inside(root, typed)
    with pytest.raises(Refused):
        sources.inside(root, "a\0b")
    (root / "晚报" / "二.txt").symlink_to(secret)
    with pytest.raises(Refused, match="二\\.txt links outside the corpus folder; choose another file or folder\\."):
        sources.inside(root, "晚报")
    assert sources.survey(root / "晚报" / "一.txt").files == 1


def test_without_a_corpus_folder_the_page_explains_how_to_set_one(monkeypatch):
    monkeypatch.delenv("EVENHAND_CORPUS", raising=False)
    app = without_errors(open_page("mining"))
    without_errors(app.segmented_control(key="mine-source").set_value("folder").run())
    assert "EVENHAND_CORPUS" in text_of(app)


def test_the_check_of_pairs_gives_a_verdict_for_each(texts_folder):
    app = without_errors(open_page("mining"))
    without_errors(app.toggle(key="checking").set_value(True).run())
    text = text_of(app)
    assert "男孩/女孩" in text and "too rare to assess" in text and "pairs-check" in text


def test_a_cancelled_mining_job_restarts_and_counts_bytes():
    from evenhand.pages.ui.jobs import progress_text, resuming_text

    mining = jobs.Job(
        "u",
        (),
        "Mine x",
        "running",
        1,
        None,
        26_213_907,
        102_496_700,
        "",
        None,
        "",
        None,
        None,
        None,
        kind="mine",
    )
    assert progress_text(mining) == "26.2 MB of 102 MB"
    assert "Mining restarts from the beginning of the text; the interrupted run wrote nothing." in resuming_text(mining)
    importing = replace(mining, kind="association", done=1200, total=3400)
    assert progress_text(importing) == "1,200 of 3,400"
    assert progress_text(replace(importing, done=0, total=0)) == "Preparing …"
    assert "Nothing is lost: resuming adds only what is still missing." in resuming_text(importing)


def test_the_template_for_own_pairs_is_valid(tmp_path):
    from evenhand.core.mining.keyword_lists import read_pairs
    from evenhand.pages.mining.settings import PATTERN

    (tmp_path / "pairs.tsv").write_text(PATTERN, encoding="utf-8-sig")
    assert [pair.language for pair in read_pairs(tmp_path / "pairs.tsv")] == ["zh", "zh", "en"]
