"""The page NLI bias, as a visitor uses it: start a run, look at it, predictions, bias rates, one pair."""

import json
import re

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.jobs import jobs, kinds
from evenhand.core import resources
from evenhand.core.files.csv_out import csv_line
from evenhand.core.language import translate
from evenhand.core.nli.bias_rates import COLUMNS
from evenhand.core.nli.run import run
from evenhand.core.nli.sets import RATES
from evenhand.core.nli.settings import AskSettings, RateSettings
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import run_file, runs_folder, write_record
from tests.support.pages import html_of, open_page, quantities_of, without_errors

pytestmark = pytest.mark.usefixtures("nothing_runs")


@pytest.fixture
def finished(fresh_store):
    settings = AskSettings("planted:nli=0.3", sample=True, run_name="first [run](x) $y$")
    return run(settings, Place(fresh_store.path))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_runs_the_page_offers_a_classifier(language) -> None:
    page = without_errors(open_page("nli", language))
    assert page.selectbox(key="nli-model").value == "demo-nli"
    assert page.button(key="nli-start")


def test_start_stores_the_job(fresh_store) -> None:
    page = without_errors(open_page("nli"))
    page.segmented_control(key="nli-language").set_value("ja").run()
    page.segmented_control(key="nli-size").set_value("sample").run()
    page.text_input(key="nli-name").set_value("my run").run()
    page.button(key="nli-start").click().run()
    without_errors(page)
    (job,) = jobs.jobs(fresh_store)
    assert kinds.settings_of(job) == AskSettings("demo-nli", "ja", sample=True, run_name="my run")


def test_an_unknown_model_is_reported_at_once(fresh_store) -> None:
    page = without_errors(open_page("nli", model="/no/such/folder"))
    page.button(key="nli-start").click().run()
    assert "There is no folder" in page.error[0].value.replace("\\", "")
    assert jobs.jobs(fresh_store) == []


def test_the_tiles_of_a_run_are_the_numbers_of_the_command(finished) -> None:
    done = CliRunner().invoke(cli, ["nli", "--predictions", str(finished.out), "--json"], catch_exceptions=False)
    numbers = json.loads(done.stdout)["quantities"]
    shown = quantities_of(open_page("nli"))
    assert shown == {id_: f"{found['value']:z.3f}" for id_, found in numbers.items()} and len(numbers) == 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_run_is_shown_with_all_its_numbers(finished, language) -> None:
    page = without_errors(open_page("nli", language))
    assert page.session_state["nli-view"] == translate("Results", language)
    said = re.findall(r'<p class="says">(.*?)</p>', html_of(page))
    assert len(said) == 1 and f"{finished.answers.found['directional'].value:+z.3f}".replace("-", "−") in said[0]
    assert f"{finished.answers.found['s'].value:.3f}" in html_of(page)
    assert any(finished.answers.signature in code.value for code in page.code)
    assert "Waseda RoBERTa" in html_of(page)
    assert len(page.dataframe) == 1


def test_published_shares_give_the_published_sums(finished) -> None:
    shown = html_of(without_errors(open_page("nli")))
    sets: dict[str, dict[str, dict[str, str]]] = {}
    for row in resources.table("published_inference_shares"):
        sets.setdefault(row["model"], {})[row["set"]] = row
        assert all(f">{row[name]}<" in shown for name in ("entailment", "contradiction", "neutral"))
        assert sum(float(row[name]) for name in ("entailment", "contradiction", "neutral")) == pytest.approx(
            1, abs=2e-3
        )
    sums = [
        float(of["PS"]["entailment"]) + float(of["AS"]["contradiction"]) + 1 - float(of["NS"]["neutral"])
        for of in sets.values()
    ]
    assert sums == pytest.approx([float(row["shares_sum"]) for row in resources.table("published_inference")], abs=1e-9)


def test_shares_of_neutral_occupations_are_shown(finished) -> None:
    page = open_page("nli")
    page.segmented_control(key="nli-group").set_value("neutral").run()
    without_errors(page)
    assert "NS: e / c / n" in page.dataframe[0].value.columns


def test_a_run_is_deleted(finished, fresh_store) -> None:
    page = open_page("nli")
    page.button(key="nli-delete").click().run()
    without_errors(page)
    assert list(runs_folder(fresh_store.path, "nli").glob("*.csv")) == []


def test_bias_rates_of_a_run_are_shown(fresh_store) -> None:
    table = run_file(runs_folder(fresh_store.path, "nli"), "rates")
    table.parent.mkdir(exist_ok=True)
    cells = [[r, *[r / 2, r / 2, r / 2] * 4, True, 1.0, "nli|x"] for r in (0.0, 0.5, 1.0)]
    table.write_text("".join(map(csv_line, [COLUMNS, *cells])), encoding="utf-8")
    rho = {"s": {"rho": -0.5}, "one_minus_fn": {"rho": None, "rho_reason": "All values are the same."}}
    write_record(table, {"kind": "rates", "model": "demo-nli", "spearman": rho, "points": [], "seconds": 1.0})
    page = without_errors(open_page("nli", view="rates"))
    assert "−0.500" in html_of(page)
    assert "—" in html_of(page)
    page.text_input(key="rates-name").set_value("all eleven").run()
    page.button(key="rates-start").click().run()
    (job,) = jobs.jobs(fresh_store)
    assert kinds.settings_of(job) == RateSettings(rates=RATES, run_name="all eleven")
    without_errors(page.button(key="rates-delete").click().run())
    assert (
        not table.exists()
        and "No training run yet. The built-in classifier takes about ten minutes for all eleven rates."
        in page.info[0].value
    )


def test_one_pair_is_classified_by_the_worker() -> None:
    page = without_errors(open_page("nli", view="pair", model="planted:nli=entailment"))
    assert "100%" in html_of(page)
    page.text_input(key="hypothesis").set_value("").run()
    assert any("Type two sentences" in info.value for info in page.info)


def test_a_bad_model_is_one_sentence_on_the_page() -> None:
    page = open_page("nli", view="pair", model="demo-zh")
    assert not page.exception
    assert (
        "has no classification head; its labels would be random. Choose a model trained for inference."
        in page.error[0].value.replace("\\", "")
    )
