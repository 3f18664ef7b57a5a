"""The page Reference scale and the section Leaks, as a visitor uses them; planted models answer in this process."""

import pytest
import streamlit as st

from evenhand.annotations.audit import audit_projects
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project
from evenhand.core.audit.sample import draw
from evenhand.core.language import translate
from evenhand.core.models import open_scorer
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.ruler import planted as ruler
from evenhand.core.runs.records import run_file, runs_folder, write_record
from tests.support.audits import NUMBERS, judge, scores
from tests.support.pages import open_page, text_of


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    st.cache_data.clear()
    monkeypatch.setattr(
        "evenhand.pages.ruler.own_model.scorer",
        lambda model: open_scorer("planted:pairs" if model == RANDOM else model),
    )
    monkeypatch.setattr(ruler.measure_marks, "__defaults__", (("planted:+0.3", "planted:context"),))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_passing_ruler_shows_the_model(language) -> None:
    page = open_page("ruler", language, model="planted:context")
    assert not page.exception and not page.error
    assert page.title[0].value == translate("Reference scale", language)
    assert "2" in page.success[0].value and "24" in page.success[0].value
    text = text_of(page)
    assert "planted:+0.3" in text and "+0.300 → +0.300" in text
    assert translate("the two words are swapped, stem by stem", language) in text
    assert any(code.value.startswith("masked|planted:context|") for code in page.code)


def test_a_failing_ruler_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(ruler, "expected", lambda plant: dict.fromkeys(ruler.QUANTITIES, 0.7))
    page = open_page("ruler", model="planted:context")
    assert "quantities are not recovered" in page.error[0].value and not page.success


def test_an_unknown_planted_model_is_reported() -> None:
    page = open_page("ruler", model="planted:nonsense")
    assert not page.exception
    assert "is not a planted model" in page.error[0].value
    assert page.success  # the ruler itself is straight


def test_without_a_run_the_page_links_to_scoring() -> None:
    page = open_page("ruler", model="planted:context")
    page.segmented_control(key="ruler-kind").set_value("run").run()
    assert not page.exception
    assert "no scores yet" in page.info[0].value


def test_a_run_is_shown_on_the_ruler(fresh_store) -> None:
    frame = ruler.scored(ruler.ruler_items(), open_scorer("planted:context"), "planted:context")
    make_run(fresh_store, frame, "planted:context")
    page = open_page("ruler", model="planted:context")
    page.segmented_control(key="ruler-kind").set_value("run").run()
    assert not page.exception and not page.error
    assert page.selectbox(key="ruler-run-model").value == "planted:context"
    assert "0.750" in text_of(page)  # the side AUC that was planted


def make_run(store, frame, model: str) -> None:
    table = run_file(runs_folder(store.path, "scores"), "first run")
    table.parent.mkdir(parents=True)
    frame.to_csv(table, index=False)
    facts = {"created": "2026-01-01", "sentences": len(frame), "models": [{"model": model, "scored": len(frame)}]}
    write_record(table, facts)


@pytest.fixture
def section(fresh_store):
    """Return the section Leaks of the page Models, on a run of hand-made scores."""
    make_run(fresh_store, scores(NUMBERS), "m")
    return open_page("model_bias", section="audit")


def send_button(page):
    return next(button for button in page.button if button.label == "Send to the desk")


def test_a_new_audit_is_drawn_counted_and_sent(section) -> None:
    page = section.run()
    assert not page.exception
    page.number_input(key="audit-n").set_value(3).run()
    assert [tile.value for tile in page.metric] == ["3", "3", "6", "36"]
    page.text_input(key="audit-name").set_value("leaks of m")
    page.text_area(key="audit-annotators").set_value("Ada，Bo, Chen")
    send_button(page).click().run()
    assert not page.exception and not page.error
    assert "leaks of m" in text_of(page)
    with Store.open() as store:
        result = audit_projects.audit(store, project(store, "leaks of m"))
    assert (len(result.sentences), result.run, result.labels_wanted) == (12, "first run", 36)
    # Until everything is labelled, only how far it is.
    assert "leak-table" not in {frame.key for frame in page.dataframe}
    assert page.toggle


def test_the_result_of_a_finished_audit_is_shown(section, fresh_store) -> None:
    sample = draw(scores(NUMBERS), "m", 3)
    made = audit_projects.create_audit_project(fresh_store, sample, "done", ["Ada"], per_item=1, run="first run")
    extremes = {item.sentence for item in sample.items if item.stratum == "extreme"}
    judge(fresh_store, made, lambda text, who: text in extremes)
    page = section.run()
    assert not page.exception and not page.error
    text = "\n".join([text_of(page), *(heading.value for heading in page.header)])
    assert "more often than comparable sentences" in text
    assert "all sentences of the run" in text and "0.951 →" in text  # (9.5 / 13 + 8.2 / 7) / 2
    page.segmented_control(key="audit-rule").set_value("any").run()
    assert not page.exception


def test_a_taken_name_and_a_shortage_are_reported(section, fresh_store) -> None:
    audit_projects.create_audit_project(fresh_store, draw(scores(NUMBERS), "m", 2), "taken", ["Ada"])
    page = section.run()
    page.number_input(key="audit-n").set_value(25).run()
    assert "Too few ordinary sentences" in page.warning[0].value
    page.text_input(key="audit-name").set_value("taken")
    send_button(page).click().run()
    assert not page.exception
    assert "already a project named taken" in page.error[0].value
