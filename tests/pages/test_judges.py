"""The page Judges: who sees it, a judge that is started, compared, tested and shown next to another one."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs.jobs import jobs
from evenhand.annotations.jobs.kinds import settings_of
from evenhand.annotations.judges.against_people import against_people
from evenhand.annotations.judges.judges import Spec, add_judge, judge, store_labels
from evenhand.annotations.judges.run import Request, run_judge
from evenhand.annotations.projects.projects import project as find_project
from evenhand.core.judges.prompts import JudgeLabel
from evenhand.core.language import share_text
from evenhand.pages.judges.against_people import _row
from tests.support.judged_generations import all_written, judged_project, say_all
from tests.support.pages import captions_of, html_of, open_page, text_of, without_errors
from tests.support.projects import new_store
from tests.support.terminal import answered

TEXTS = all_written(1)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of 80 generations, 40 labelled by two people; the rule and a file have labelled all of them."""
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "a.db"))
    with new_store(tmp_path / "a.db") as store:
        project = judged_project(store, TEXTS)
        say_all(store, project, TEXTS[::2])
        run_judge(store, project, Request(rule=True))
        result = add_judge(store, project, "<b>file</b>", Spec("file", 1, "f", "f"))
        store_labels(store, result, [JudgeLabel(item.id, "correct", False) for item in items(store, project)])
    return tmp_path / "a.db"


def opened(part: str, lang: str = "en") -> AppTest:
    return without_errors(open_page("judges", lang, project="made", part=part))


def test_the_test_is_shown_once_eps_is_recorded(path: Path) -> None:
    app = opened("people")
    assert "Winning rate" not in text_of(app) and "Can it replace an annotator" in str(
        [head.value for head in app.header]
    )
    app.number_input(key="judge-eps-now").set_value(0.2)
    without_errors(app.button(key="judge-test").click().run())
    assert "Winning rate" in text_of(app).replace("\\", "") and "when the judge had given 80 labels" in captions_of(app)
    with Store.open(path) as store:
        assert store.db.execute("SELECT eps, labels FROM judge_margin").fetchone() == (0.2, 80)


@pytest.mark.parametrize("lang", ["zh"])  # the rehearsal opens both
def test_rates_and_differences_of_judges_are_shown(path: Path, lang: str) -> None:
    app = opened("rates", lang)
    assert "owl-1b − wren-3b" in html_of(app) and len(app.metric) == 3
    app.segmented_control(key="judge-measure").set_value("extraneous").run()  # the rule does not judge it
    assert "—" in [metric.value for metric in without_errors(app).metric]
    app = opened("versions", lang)
    shown = html_of(app)
    assert "首个代词规则" in shown and "&lt;b&gt;file&lt;/b&gt;" in shown and "<b>file" not in shown


def test_a_judge_is_started_as_a_job(path: Path, nothing_runs: None) -> None:
    app = opened("run")
    assert "labelled every text" in captions_of(app)  # the rule has
    app.segmented_control(key="judge-source").set_value("server").run()
    assert app.button(key="judge-start").disabled
    app.text_input(key="judge-server-model").set_value("big-model")
    app.text_input(key="judge-server").set_value("http://127.0.0.1:9/v1")
    app.number_input(key="judge-eps").set_value(0.15)
    app.text_area(key="judge-prompt-full-generations").set_value("Mine: {text}").run()
    assert app.code[0].value.endswith(f"Mine: {TEXTS[0].text}")
    assert "80 texts" in captions_of(app) and "80 requests" in captions_of(app)
    without_errors(app.button(key="judge-start").click().run())
    with Store.open(path) as store:
        (job,) = jobs(store)
        settings = settings_of(job)
        assert (job.kind, settings.project, settings.no_key) == ("judge run", "made", True)
        assert settings.prompt.read_text() == "Mine: {text}"
        assert settings.eps == 0.15 and job.project is not None


@pytest.mark.parametrize("address", ["http://169.254.169.254/v1", "ftp://host/v1"])
def test_a_forbidden_server_address_starts_no_job(path: Path, address: str) -> None:
    app = opened("run")
    app.segmented_control(key="judge-source").set_value("server").run()
    app.text_input(key="judge-server-model").set_value("m")
    app.text_input(key="judge-server").set_value(address).run()
    app.button(key="judge-start").click().run()
    assert app.error
    with Store.open(path) as store:
        assert jobs(store) == []


def test_the_file_of_disagreements_contains_no_text(path: Path) -> None:
    with Store.open(path) as store:
        project = find_project(store, "made")
        result = against_people(store, project, judge(store, project, "first-pronoun rule"))
    rows = [_row(project, disagreement, "s") for disagreement in result.disagreements]
    assert rows and not any(
        disagreement.text in str(row) for disagreement, row in zip(result.disagreements, rows, strict=True)
    )


def test_an_open_desk_must_confirm_before_seeing_judges(path: Path) -> None:
    state = {"desk_project": "made", "desk_annotator": "Ada"}
    app = open_page("judges", state=state, project="made", part="people")
    assert "Your desk as Ada is open" in text_of(app) and not html_of(app).count("first-pronoun")
    without_errors(app.button(key="judges-show").click().run())
    assert "first-pronoun rule" in html_of(app)


def test_a_project_without_judges_explains_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "a.db"))
    with new_store(tmp_path / "a.db") as store:
        judged_project(store, TEXTS)
    assert "No judge has labelled anything here yet" in text_of(opened("rates"))


@pytest.mark.long
def test_command_and_page_show_equal_numbers(path: Path) -> None:
    result = answered(
        "estimate", "--project", "made", "--judge", "first-pronoun rule", "--by", "model", EVENHAND_DB=str(path)
    )
    assert {row["model"] for row in result["rates"]} == {"owl-1b", "wren-3b"} and len(result["differences"]) == 2
    shown = answered("judge", "show", "made", "first-pronoun rule", EVENHAND_DB=str(path))
    assert shown["items"] == 40 and shown["test"] is None and "No eps" in shown["test_reason"]
    app = opened("rates")
    value = next(row for row in result["rates"] if row["measure"] == "misgendering" and row["model"] == "owl-1b")
    assert share_text(value["both"]["value"]) in html_of(app)
    with Store.open(path) as store:
        assert judge(store, find_project(store, "made"), "first-pronoun rule").labels == 80
