"""The part What to label next of the page Labelling plan: a sample is drawn, shown and closed."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.run import Request, run_judge
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.projects.projects import set_quotas
from evenhand.annotations.sampling.samples import open_sample, samples
from tests.support.judged_generations import all_written, judged_project
from tests.support.pages import captions_of, html_of, open_page, text_of, without_errors
from tests.support.projects import filled_project, new_store


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of 80 generations, which the rule has labelled."""
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "a.db"))
    with new_store(tmp_path / "a.db") as store:
        run_judge(store, judged_project(store, all_written(1)), Request(rule=True))
    return tmp_path / "a.db"


def opened(lang: str = "en") -> AppTest:
    return without_errors(open_page("plan", lang, project="made", part="sample"))


def test_a_sample_is_drawn_and_closed(path: Path) -> None:
    app = opened("zh")
    assert "没有抽取过样本" in captions_of(app)
    app.segmented_control(key="sample-design").set_value("stratified").run()
    app.number_input(key="sample-items").set_value(16)
    without_errors(app.button(key="sample-start").click().run())
    assert [metric.value for metric in app.metric][:2] == ["16", "0"]
    without_errors(app.button(key="sample-close").click().run())
    with Store.open(path) as store:
        project = find_project(store, "made")
        (sample,) = samples(store, project)
        assert (sample.design, sample.items, sample.settings["by"]) == ("stratified", 16, ["model"])
        assert open_sample(store, project) is None and sample.closed is not None


@pytest.mark.parametrize("lang", ["zh"])
def test_the_labels_needed_by_each_design_are_shown(path: Path, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.core.sampling.labels_needed.TIMES", 2)
    app = opened(lang)
    app.number_input(key="needed-width").set_value(12.0)
    without_errors(app.button(key="needed-start").click().run())
    assert "labels-needed|measure=misgendering|width=0.24|judges=" in text_of(app)
    assert ("Simple random" if lang == "en" else "简单随机") in html_of(app)


def test_sampling_by_disagreement_needs_two_judges(path: Path) -> None:
    app = opened()
    app.segmented_control(key="sample-design").set_value("disagreement").run()
    app.button(key="sample-start").click().run()
    assert "run two judges" in " ".join(error.value for error in app.error) + text_of(app)


def test_quotas_are_closed_from_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "a.db"))
    with new_store(tmp_path / "a.db") as store:
        project, _people = filled_project(store, 60, words=("他", "她"))
        cell = next((item.pair, item.side) for item in items(store, project))
        set_quotas(store, project, {cell: 5})
    app = without_errors(open_page("plan", "zh", project=project.name, part="sample"))
    app.segmented_control(key="sample-design").set_value("quotas").run()
    without_errors(app.button(key="sample-start").click().run())
    assert "若按随机顺序" in captions_of(app) and app.metric[0].value == "10", "half are expected to be kept"
