"""The page Before and after: the job that it starts, a finished comparison in both languages."""

import json

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.jobs.kinds import settings_of
from evenhand.annotations.projects.projects import project as find_project
from evenhand.core.before_after.run import before_and_after, built_in_source
from evenhand.core.before_after.settings import Settings
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import TEXTS, run_file, runs_folder, write_record
from evenhand.core.scoring.settings import ScoreInput
from evenhand.pages.ui.choose import model_label
from tests.support.pages import open_page, text_of, without_errors

pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture
def finished(fresh_store: Store) -> None:
    items = [item for item in built_in_source().items() if item.row % 10 == 1]
    source = ScoreInput("file", "[a](b) $x$", "sentences", len(items), "0" * 64, lambda: iter(items))
    settings = Settings("", "planted:+1", ("planted:pairs",), ("planted:+1",), run_name="back")
    before_and_after(settings, source, Place(fresh_store.path))


@pytest.mark.usefixtures("finished")
def test_a_finished_comparison_is_shown_in_both_languages() -> None:
    text = text_of(without_errors(open_page("before_after")))
    assert '<p class="says">leans less</p>' in text and "beyond the placebo" in text
    assert "There is only one seed" in text and "planted:pairs" in text
    chinese = text_of(without_errors(open_page("before_after", "zh")))
    assert '<p class="says">偏向减小</p>' in chinese and "只有一个随机种子" in chinese


def test_the_form_starts_its_job(fresh_store: Store) -> None:
    page = open_page("before_after", before="demo-zh", after="random-zh")
    page.button(key="ba-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    settings = settings_of(job)
    assert job.kind == "before-after" and (settings.before, settings.after) == ("demo-zh", ("random-zh",))
    assert settings.items == "built-in" and settings.run_name


def test_built_in_items_are_in_the_language_of_the_model_before(fresh_store: Store) -> None:
    page = open_page("before_after", before="demo-en", after="demo-en")
    assert "Built-in neutral sentences (English)" in page.segmented_control(key="ba-source").options
    page.button(key="ba-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    assert settings_of(job).items == "built-in:en" and settings_of(job).margin == 0.1
    strange = open_page("before_after", before="demo-en", after="demo-zh")
    assert "was not trained on English" in text_of(strange)


def test_a_tuned_model_is_chosen_by_its_name() -> None:
    assert model_label("/srv/lab-tunes/back") == "back (tuned)"
    assert [model_label(name) for name in ("org/back", "/srv/models/back")] == ["org/back", "/srv/models/back"]


def test_a_wrong_number_of_placebos_is_one_sentence(fresh_store: Store) -> None:
    state = {"ba-before": ["demo-zh"], "ba-after": ["random-zh"], "ba-placebo": ["known", "demo-en"]}
    page = open_page("before_after", state=state)
    assert "one placebo for each seed" in page.error[0].value


def _answers(store: Store, name: str, biased: int) -> None:
    """Write a finished run of inference in which the first *biased* of ten occupations follow the stereotype."""
    labels = {"PS": "entailment", "AS": "contradiction", "NS": "neutral"}
    out = run_file(runs_folder(store.path, "nli"), name)
    out.parent.mkdir(exist_ok=True)
    rows = [
        f"{kind},o{i},[p](q){i},{kind}?,{label if i < biased else 'neutral'}"
        for kind, label in labels.items()
        for i in range(10)
    ]
    out.write_text("\n".join(["set,occupation,premise,hypothesis,label", *rows]) + "\n", encoding="utf-8")
    models = [{"model": f"model {name}", "signature": f"nli|{name}"}]
    write_record(out, {"kind": "inference", "models": models, "created": f"2026-01-0{biased}T00:00:00+00:00"})


def test_two_finished_runs_are_compared(fresh_store: Store) -> None:
    empty = text_of(without_errors(open_page("before_after", compare="runs", kind="nli")))
    assert "This needs two finished runs of this kind" in empty
    _answers(fresh_store, "old", 8)
    _answers(fresh_store, "new", 2)
    page = without_errors(open_page("before_after", compare="runs", kind="nli"))
    page.selectbox(key="ba-run-before").set_value("old · model old")
    text = text_of(without_errors(page.multiselect(key="ba-run-after").set_value(["new · model new"]).run()))
    assert '<p class="says">follows the stereotype less</p>' in text and "before: model old, after: model new" in text
    assert "−0.600 [" in text and "One run per model" in text and "[p](q)3" in text
    page.multiselect(key="ba-run-placebos").set_value(["old · model old"])
    text = text_of(without_errors(page.run()))
    assert "after: model new; placebos: model old" in text and "Seeds: 1. An interval" in text
    assert "Choose at least one run" in text_of(page.multiselect(key="ba-run-after").set_value([]).run())
    chinese = text_of(without_errors(open_page("before_after", "zh", compare="runs", kind="nli")))
    assert "未显示差异" in chinese or "刻板印象" in chinese


def test_generations_are_mixed_blind_into_a_project(fresh_store: Store) -> None:
    for model, word in (("Old-7B", "he"), ("New-7B", "she")):
        out = run_file(runs_folder(fresh_store.path, "generations"), model, TEXTS)
        out.parent.mkdir(exist_ok=True)
        row = {"completion": f" Then {word} left.", "model": model, "name": "Noa", "pronouns": ["she"], "index": 1}
        rows = [{"context": f"Noa keeps bees ({i}).", **row} for i in range(4)]
        out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        write_record(out, {"model": model, "created": f"2026-01-01T00:00:0{len(word)}+00:00"})
    page = without_errors(open_page("before_after", compare="people"))
    page.text_input(key="ba-mix-project").set_value("mixed")
    page.text_area(key="ba-mix-people").set_value("Ada, Bo")
    text = text_of(without_errors(page.button(key="ba-mix-start").click().run()))
    assert "8 generations of 4 contexts are in the project mixed" in text
    project = find_project(fresh_store, "mixed")
    assert {item.file for item in items(fresh_store, project)} == {"generations.jsonl"}
    page = without_errors(open_page("before_after", compare="people"))
    text = text_of(page)
    assert "before: Old-7B, after: New-7B" in text and "8 generations are still awaiting" in text
    without_errors(page.segmented_control(key="ba-mix-way").set_value("pairs").run())
    page.text_input(key="ba-pairs-project").set_value("compared")
    text = text_of(without_errors(page.button(key="ba-pairs-start").click().run()))
    assert "4 comparisons of 4 contexts are in the project compared" in text
    pairs = {
        (item.extra["model"], item.extra["second_model"])
        for item in items(fresh_store, find_project(fresh_store, "compared"))
    }
    assert {frozenset(pair) for pair in pairs} == {frozenset(("Old-7B", "New-7B"))}


def test_a_grid_starts_and_fills_in(fresh_store: Store) -> None:
    out = run_file(runs_folder(fresh_store.path, "grids"), "grid")
    out.parent.mkdir(exist_ok=True)
    heads = "model,intervention,seed,status,size_before,size_after,rise"
    out.write_text(f"{heads}\na,cds,0,ok,1.0,0.5,0.01\na,cds,1,waiting,,,\n", encoding="utf-8")
    effect = {"value": -0.5, "low": -0.7, "high": -0.3}
    write_record(out, {"kind": "grid", "effects": [{"model": "a", "intervention": "cds", "effect": effect}]})
    page = without_errors(open_page("before_after", compare="grid"))
    text = text_of(page)
    assert "6 models will be trained and measured" in text and "−0.500 [−0.700, −0.300]" in text
    assert "waiting" in text and "finished" in text and page.button(key="ba-grid-start").disabled
