"""The page Before and after: the job that it starts, a finished comparison in both languages."""

import pytest
import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from core.before_after.run import Asked, before_and_after, built_in_source
from core.runs.records import run_file, runs_folder
from core.scoring.input import ScoreInput
from tests.support.pages import open_page, text_of, without_errors


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_data.clear()
    monkeypatch.setattr(jobs, "_spawn", lambda *_: None)


@pytest.fixture
def finished(fresh_store: Store) -> None:
    items = [item for item in built_in_source().items() if item.row % 10 == 1]
    source = ScoreInput("file", "[a](b) $x$", "sentences", len(items), "0" * 64, lambda: iter(items))
    out = run_file(runs_folder(fresh_store.path, "comparisons"), "back")
    before_and_after(
        Asked("planted:+1", ("planted:pairs",), ("planted:+1",)), source, ["雨停了。"] * 3, out=out, record=True
    )


@pytest.mark.usefixtures("finished")
def test_a_finished_comparison() -> None:
    text = text_of(without_errors(open_page("before_after")))
    assert '<p class="says">leans less</p>' in text and "beyond the placebo" in text
    assert "One seed" in text and "planted:pairs" in text
    chinese = text_of(without_errors(open_page("before_after", "zh")))
    assert '<p class="says">偏向减小</p>' in chinese and "只有一个种子" in chinese


def test_it_starts_the_job_that_the_form_says(fresh_store: Store) -> None:
    page = open_page("before_after", before="demo-zh", after="random-zh")
    page.button(key="ba-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    words = list(job.command)
    assert words[:5] == ["before-after", "--before", "demo-zh", "--after", "random-zh"]
    assert words[-1] == "built-in" and "--run" in words


def test_placebos_that_do_not_fit_are_one_sentence(fresh_store: Store) -> None:
    state = {"ba-before": ["demo-zh"], "ba-after": ["random-zh"], "ba-placebo": ["known", "demo-en"]}
    page = open_page("before_after", state=state)
    assert "one placebo for each seed" in page.error[0].value
