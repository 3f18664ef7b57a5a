"""The page Inference, as a visitor uses it: ask, look at a run, predictions, bias rates, one pair."""

import json

import pytest
import streamlit as st
from streamlit.config import set_option
from streamlit.testing.v1 import AppTest

from annotations.jobs import jobs
from core.files.csv_out import csv_line
from core.nli.sets import packaged
from core.runs.nli import run
from core.runs.nli_bias_rates import COLUMNS
from core.runs.records import run_file, runs_folder, write_record
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture
def nothing_runs(monkeypatch):
    st.cache_data.clear()
    monkeypatch.setattr(jobs, "_spawn", lambda *given: None)


def visit(language="en", **query):
    set_option("client.showErrorDetails", "full")
    page = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=300)
    for key, value in {"lang": language, **query}.items():
        page.query_params[key] = value
    page.run()  # a page with an address of its own is known only after the navigation was drawn
    return page.switch_page("nli/page.py").run()


def whole(page):
    assert not page.exception, [error.value for error in page.exception]
    assert not page.error, [error.value for error in page.error]
    return page


def html_of(page):
    return "\n".join(str(element.proto.body) for element in page.get("html"))


def said(page):
    return [caption.value.replace("\\", "") for caption in page.caption]


@pytest.fixture
def finished(fresh_store):
    table = run_file(runs_folder(fresh_store.path, "nli"), "first [run](x) $y$")
    return run("planted:nli=0.3", packaged("en", sample=True), table, record=True)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_with_nothing_there_it_asks_for_a_classifier(language) -> None:
    page = whole(visit(language))
    assert page.selectbox(key="nli-model").value == "demo-nli"
    assert page.button(key="nli-start")


def test_start_writes_down_the_job(fresh_store) -> None:
    page = whole(visit())
    page.segmented_control(key="nli-language").set_value("ja").run()
    page.segmented_control(key="nli-size").set_value("sample").run()
    page.text_input(key="nli-name").set_value("my run").run()
    page.button(key="nli-start").click().run()
    whole(page)
    (job,) = jobs.jobs(fresh_store)
    assert list(job.command[:6]) == ["nli", "ask", "--model", "demo-nli", "--language", "ja"]
    assert job.command[-4:] == ("--sample", "--run", "my run", "--json")


def test_a_name_that_is_no_model_is_told_at_once(fresh_store) -> None:
    page = whole(visit(model="/no/such/folder"))
    page.button(key="nli-start").click().run()
    assert "There is no folder" in page.error[0].value.replace("\\", "")
    assert jobs.jobs(fresh_store) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_run_with_everything_about_it(finished, language) -> None:
    page = whole(visit(language))
    assert page.segmented_control(key="nli-view").value == "results"
    assert f"{finished.found['s'].value:.3f}" in html_of(page)
    assert any(finished.signature in code.value for code in page.code)
    assert "Waseda RoBERTa" in html_of(page)
    assert len(page.dataframe) == 1


def test_the_neutral_occupations(finished) -> None:
    page = visit()
    page.segmented_control(key="nli-group").set_value("neutral").run()
    whole(page)
    assert "NS: e / c / n" in page.dataframe[0].value.columns


def test_delete(finished, fresh_store) -> None:
    page = visit()
    page.button(key="nli-delete").click().run()
    whole(page)
    assert list(runs_folder(fresh_store.path, "nli").glob("*.csv")) == []


def test_bias_rates_of_a_run(fresh_store) -> None:
    table = run_file(runs_folder(fresh_store.path, "nli"), "rates")
    table.parent.mkdir(exist_ok=True)
    cells = [[r, *[r / 2, r / 2, r / 2] * 4, True, 1.0, "nli|x"] for r in (0.0, 0.5, 1.0)]
    table.write_text("".join(map(csv_line, [COLUMNS, *cells])), encoding="utf-8")
    rho = {"s": {"rho": -0.5}, "one_minus_fn": {"rho": None, "rho_reason": "All values are the same."}}
    write_record(table, {"kind": "rates", "model": "demo-nli", "spearman": rho, "points": [], "seconds": 1.0})
    page = whole(visit(view="rates"))
    assert "−0.500" in html_of(page)
    assert "—" in html_of(page)
    page.button(key="rates-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    assert json.dumps(job.command).count("--rate") == 11


def test_one_pair_is_asked_of_the_worker() -> None:
    page = whole(visit(view="pair", model="planted:nli=entailment"))
    assert "100 %" in html_of(page)
    page.text_input(key="hypothesis").set_value("").run()
    assert any("Type two sentences" in info.value for info in page.info)


def test_a_bad_model_is_one_sentence_on_the_page() -> None:
    page = visit(view="pair", model="demo-zh")
    assert not page.exception
    assert "no classifying head" in page.error[0].value.replace("\\", "")
