"""The page Other measures: the job that it starts, finished runs in both languages, own files, the map of methods."""

from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs, kinds
from evenhand.core.other_measures.methods_map import FAMILIES, of
from evenhand.core.other_measures.run import run
from evenhand.core.other_measures.settings import Settings
from evenhand.core.runs.kinds import Place
from evenhand.pages.other_measures import own_predictions, start
from tests.support.pages import html_of, open_page, text_of, without_errors

HOSTILE = "[a](b) <b>x</b> $x$"


pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture
def finished(fresh_store: Store, tmp_path: Path) -> None:
    crows = tmp_path / "c.csv"
    crows.write_text("sent_more,sent_less\nHe came.,She came.\nMen left.,Women left.\n", encoding="utf-8")
    name = HOSTILE.replace("<", "(").replace(">", ")").replace("/", "-")
    settings = Settings("crows", ("known", "random-zh"), file=crows, device="cpu", language="zh", run_name=name)
    run(settings, Place(fresh_store.path))


@pytest.mark.usefixtures("finished")
def test_a_finished_run_is_shown_in_both_languages() -> None:
    page = without_errors(open_page("other_measures"))
    text = text_of(page)
    title = "CrowS-Pairs (as published: sum over shared tokens)"
    assert any(title in markdown.value.replace("\\", "") for markdown in page.markdown)
    assert '<p class="says">known: ' in html_of(page) and "(no bias: 50; " in html_of(page)
    assert "Pikuliak" in text and "untrained" in text and "bert-base-uncased" in text
    assert "Hollow circle: a randomly initialised copy" in text.replace("\\", "")
    chinese = text_of(without_errors(open_page("other_measures", "zh")))
    assert "已知局限" in chinese and "未训练" in chinese and "句对比例" in chinese


def test_the_form_starts_its_job(fresh_store: Store) -> None:
    page = open_page("other_measures", view="measure", measure="seat")
    page.button(key="om-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    settings, tests = kinds.settings_of(job), ("career", "math", "science")
    assert settings == Settings("seat", ("demo-en",), "sentences", tests=tests, run_name=settings.run_name)
    assert settings.run_name


def test_the_chinese_page_preselects_a_chinese_set_and_model(fresh_store: Store) -> None:
    page = open_page("other_measures", "zh", view="measure")
    page.button(key="om-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    settings = kinds.settings_of(job)
    assert (settings.measure, settings.models, settings.language) == ("lpbs", ("demo-zh",), "zh")
    english = text_of(open_page("other_measures", "zh", view="measure", measure="seat"))
    assert "数据集是英文的" in english


def test_a_set_that_is_not_included_must_be_uploaded(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("other_measures", view="measure", measure="crows")
    assert page.button(key="om-start").disabled and "Choose your copy" in text_of(page)
    path = tmp_path / "c.csv"
    path.write_text("sent_more,sent_less,bias_type\na,b,age\n", encoding="utf-8")
    monkeypatch.setattr(start, "choose_upload", lambda *_a, **_k: path)
    page = open_page("other_measures", view="measure", measure="crows")
    assert "no pair of the kind gender" in page.error[0].value
    page.text_input(key="om-bias").set_value("").run()
    page.button(key="om-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    assert kinds.settings_of(job).file == path


def test_own_predictions_and_vectors_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.csv"
    path.write_text("set,gold,predicted,group,predicted_swapped\npro,1,1,a,1\nanti,0,1,b,0\nanti,0,0,a,0\n", "utf-8")
    monkeypatch.setattr(own_predictions, "choose_upload", lambda *_a, **_k: path)
    text = text_of(without_errors(open_page("other_measures", view="own")))
    assert "FPED (Dixon" in text and "A group has no positive texts" in text and "swapped copies" in text
    vectors = tmp_path / "v.txt"
    words = {
        word
        for test in own_predictions.TESTS.values()
        for name in test.split(",")
        for word in own_predictions.built_in_sets()[name]
    }
    vectors.write_text("".join(f"{word} {len(word)} {i % 7} 1\n" for i, word in enumerate(sorted(words))), "utf-8")
    results = {"om-vectors": vectors}
    monkeypatch.setattr(own_predictions, "choose_upload", lambda *_a, key, **_k: results.get(key))
    text = text_of(without_errors(open_page("other_measures", view="own", state={"om-own": "vectors"})))
    assert "12,870 partitions" in text and "mathematics and arts" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_the_map_of_methods_links_to_pages(family: str) -> None:
    page = without_errors(open_page("other_measures", "zh", view="methods", family=family))
    text = text_of(page)
    every = [*of(family, "measure"), *of(family, "mitigation")]
    assert all(entry.against["zh"] in text for entry in every)
    links = [link.proto for link in page.get("page_link") if "在应用中的位置" in link.proto.label]
    assert len(links) == sum(bool(entry.page) for entry in every)
