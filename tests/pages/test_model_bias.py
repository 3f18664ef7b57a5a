"""The page Models, as a visitor uses it: a run of made-up scores, every section, clicks, filters, hostile text."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.core.language import translate
from evenhand.core.model_bias import read_scores, seed_groups, summarise
from evenhand.core.model_bias.extremes import saved_filters
from evenhand.core.report.numbers import plain_number
from evenhand.core.runs.records import runs_folder
from tests.support.english_left import english_left
from tests.support.made_up_scores import write
from tests.support.pages import captions_of, html_of, open_page

pytestmark = pytest.mark.early
ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("overview", "distribution", "agreement", "groups", "extremes", "words", "audit", "report")
HOSTILE = "他<script>alert(1)</script> $x$ :red[y] <b>护士</b>。"


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three models on 300 sentences; the first sentence of each is hostile."""
    path = write(tmp_path_factory.mktemp("scores") / "made-up.csv", 300, 2, names=("bert-base-chinese", "random-zh"))
    frame = pd.read_csv(path, keep_default_na=False)
    first = frame["row"] == 1
    frame.loc[first, ["sentence", "pair", "keyword", "side", "start", "end"]] = [HOSTILE, "他/她", "他", "male", 0, 1]
    frame.loc[first, ["p_male", "p_female", "pair_mass"]] = [0.9, 0.00009, 0.90009]
    frame.loc[first, ["bias_log10", "bias_ln"]] = [4.0, 9.21]
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def run(made_up: Path, tmp_path: Path) -> Path:
    """Store the made-up scores as a run named "first" of this test's database."""
    st.cache_data.clear()
    with Store.open(tmp_path / "evenhand.db") as store:
        folder = runs_folder(store.path, "scores")
    folder.mkdir()
    (folder / "first.csv").write_bytes(made_up.read_bytes())
    models = [{"model": name, "scored": 299} for name in ("bert-base-chinese", "random-zh")]
    record = {"sentences": 300, "created": "2026-01-01T00:00:00Z", "models": models}
    (folder / "first.json").write_text(json.dumps(record))
    return folder / "first.csv"


def charts(page: AppTest) -> list[dict[str, Any]]:
    return [json.loads(element.proto.spec) for element in page.get("vega_lite_chart")]


def test_without_a_run_the_page_explains_what_to_do() -> None:
    page = open_page("model_bias")
    assert page.title[0].value == "Models side by side"
    assert [heading.value for heading in page.header] == ["No scores yet"]
    assert not page.multiselect


def test_page_and_report_print_the_numbers_of_the_command(run: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["bias", str(run), "--json"], catch_exceptions=False)
    numbers = json.loads(done.stdout)["quantities"]
    out = tmp_path / "report.html"
    CliRunner().invoke(cli, ["report", str(run), "--out", str(out)], catch_exceptions=False)
    places = {"page": html_of(open_page("model_bias", section="overview")), "report": out.read_text(encoding="utf-8")}
    assert numbers.keys() == {"bert-base-chinese", "random-zh"}
    wanted = {
        f"{id_}:{model}": plain_number(found["value"]).removeprefix("−")
        for model, quantities in numbers.items()
        for id_, found in quantities.items()
    }
    for place, text in places.items():
        shown = dict(re.findall(r'<td data-quantity="([^"]+)"[^>]*><b>[+−]?([^<]*)</b>', text))
        assert shown == wanted and len(shown) == 12, place


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("section", "language"), [*((section, "en") for section in SECTIONS), ("overview", "zh"), ("words", "zh")]
)
def test_every_section_opens_without_errors(section: str, language: str) -> None:
    page = open_page("model_bias", section=section, lang=language)
    assert page.title[0].value == translate("Models side by side", "zh" if language == "zh" else "en")
    assert not page.error, [error.value for error in page.error]
    assert "<script>alert" not in html_of(page)
    assert "nan" not in re.sub(r"<[^>]*>", " ", html_of(page)).lower()


def test_reasons_on_the_chinese_page_of_correlations_are_chinese(run: Path) -> None:
    """Five stems have no interval, which the page explains in a sentence with values."""
    frame = pd.read_csv(run, keep_default_na=False)
    few = frame["pair"].isin(("他/她", "爸爸/妈妈", "儿子/女儿", "哥哥/姐姐", "叔叔/阿姨"))
    frame[few].to_csv(run, index=False)
    shown = captions_of(open_page("model_bias", section="agreement", lang="zh"))
    assert "只有 5 个独立单位" in shown and not english_left(shown)


def test_the_table_contains_the_measures_of_the_file(run: Path) -> None:
    page = open_page("model_bias")
    table = html_of(page)
    for model in ("bert-base-chinese", "random-zh"):
        summary = summarise(read_scores(run), model=model)
        for estimate in (summary.bias_man, summary.bias_woman, summary.model_bias):
            assert f"<b>{plain_number(estimate.value)}</b>" in table
        assert summary.signature in table
    assert "Table 4: 1.2103 (ln)" in table  # docs/methods.md#bias-of-a-model
    assert "untrained, as a reference" in table
    assert "rank" not in table.lower()


@pytest.mark.usefixtures("run")
def test_the_visitor_chooses_the_order_of_models() -> None:
    page = open_page("model_bias")
    heads = re.findall(r'<th scope="col">([\w-]+)', html_of(page))
    assert heads == ["bert-base-chinese", "random-zh"]
    page.multiselect(key="models").set_value(["random-zh", "bert-base-chinese"]).run()
    assert re.findall(r'<th scope="col">([\w-]+)', html_of(page)) == ["random-zh", "bert-base-chinese"]
    assert page.query_params["models"] == ["random-zh", "bert-base-chinese"]
    page.multiselect(key="models").set_value([]).run()
    assert not page.exception
    assert "Choose at least one model" in page.info[0].value


def test_the_denominator_and_the_pair_mass_change_the_numbers(run: Path) -> None:
    page = open_page("model_bias")
    page.radio(key="denominator").set_value("all").run()
    wanted = summarise(read_scores(run), model="bert-base-chinese", denominator="all")
    assert f"<b>{plain_number(wanted.model_bias.value)}</b>" in html_of(page)
    page.select_slider(key="least-mass").set_value(0.1).run()
    fewer = summarise(read_scores(run), model="bert-base-chinese", denominator="all", least_mass=0.1)
    assert fewer.left_out > 0
    assert f"small pair mass: {fewer.left_out:,}" in html_of(page)
    assert f"<b>{plain_number(fewer.model_bias.value)}</b>" in html_of(page)


@pytest.mark.usefixtures("run")
def test_the_section_and_the_run_are_in_the_address() -> None:
    page = open_page("model_bias", section="extremes", run="first")
    assert page.selectbox(key="extremes-model").value == "bert-base-chinese"
    page.session_state["section"] = "Pairs"  # the title of its tab
    page.run()
    assert page.query_params["section"] == "groups"
    assert page.query_params["run"] == "first"
    page = open_page("model_bias", section="no-such", run="gone")
    assert page.session_state["section"] == "Overview"
    assert "The run gone no longer exists." in page.warning[0].value.replace("\\", "")


@pytest.mark.usefixtures("run")
def test_a_click_on_a_bin_lists_its_sentences() -> None:
    page = open_page("model_bias", section="distribution")
    assert "Obvious bias towards the male word in " in html_of(page)
    chosen = {"model": "bert-base-chinese", "low_text": "1.45", "high_text": "inf"}
    page.session_state["density"] = {"selection": {"bin": [chosen]}}
    page.run()
    assert not page.exception
    assert page.query_params["pick"] == "bin|bert-base-chinese|1.45|inf"
    assert "Sentences: Bias_c above +1.45 (bert-base-chinese)" in [one.value.replace("\\", "") for one in page.header]
    assert page.button(key="chip-pick").label
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html_of(page)
    page.segmented_control(key="distribution").set_value("order").run()
    assert "of the sentences are below 0; the middle half lies between" in captions_of(page)


def test_extremes_are_listed_and_narrowed_by_filters(run: Path) -> None:
    page = open_page("model_bias", section="extremes")
    rows = read_scores(run)
    rows = rows[(rows["model"] == "bert-base-chinese") & rows["bias_log10"].abs().lt(99)]
    lowest = rows.nsmallest(5, "bias_log10")
    values = re.findall(r"<li><b[^>]*>([+−]\d\.\d+) ◀", html_of(page))
    assert values == [f"{value:+.3f}".replace("-", "−") for value in lowest["bias_log10"]]
    assert '<mark class="m">他</mark>&lt;script&gt;' in html_of(page)
    page.selectbox(key="extremes-pair").set_value("他/她").run()
    everything = read_scores(run)
    everything = everything[everything["model"] == "bert-base-chinese"]
    kept = (everything["pair"] == "他/她").sum()
    assert f"{kept} of {len(everything)} sentences;" in captions_of(page)
    page.text_input(key="extremes-contains").set_value("no such text").run()
    assert "No sentence leans this way." in captions_of(page)


def test_filters_can_be_saved_next_to_the_built_in_one(run: Path) -> None:
    page = open_page("model_bias", section="extremes")
    page.selectbox(key="saved-filter").set_value("男童/女童").run()
    assert page.selectbox(key="extremes-pair").value == "男/女"
    assert page.text_input(key="extremes-followed_by").value == "童"
    shown = re.findall(r"<mark[^>]*>([男女])</mark>(.)", html_of(page))
    assert shown
    assert {after for _word, after in shown} == {"童"}
    page.text_input(key="filter-name").set_value("mine").run()
    page.button(key="filter-save").click().run()
    assert [filter_.name for filter_ in saved_filters(run.parent)] == ["男童/女童", "mine"]
    page.text_input(key="filter-name").set_value("男童/女童").run()
    page.button(key="filter-save").click().run()
    assert "built-in" in page.error[0].value.replace("\\", "")


@pytest.mark.usefixtures("run")
def test_two_models_are_compared() -> None:
    page = open_page("model_bias", section="agreement")
    assert page.selectbox(key="two-a").value == "bert-base-chinese"
    page.selectbox(key="two-a").set_value("random-zh")
    page.selectbox(key="two-b").set_value("bert-base-chinese").run()
    assert (page.selectbox(key="two-a").value, page.selectbox(key="two-b").value) == ("random-zh", "bert-base-chinese")
    assert len(page.dataframe[0].value) == 6
    assert page.number_input(key="difference-margin").value == 0.1  # the default of the scale, and of the AUC its own
    page.number_input(key="difference-margin").set_value(5.0)
    page.number_input(key="difference-margin-auc").set_value(0.0)
    page.text_area[0].set_value("bert=bert-base-chinese,random-zh").run()
    answers = page.dataframe[0].value["against the margin"].tolist()
    assert set(answers[:5]) == {"smaller than the margin"} and answers[5] == "inconclusive"
    assert "Margins: 5 (log10); none (AUC, 0 to 1)." in captions_of(page)
    assert "counted as one: bert (bert-base-chinese, random-zh)" in captions_of(page) and len(page.dataframe) == 2
    page.selectbox(key="two-b").set_value("random-zh").run()
    assert not page.exception
    assert "two different models" in page.info[0].value


@pytest.mark.usefixtures("run")
def test_a_click_on_a_pair_lists_its_sentences() -> None:
    page = open_page("model_bias", section="groups")
    page.session_state["groups-chart"] = {"selection": {"cell": [{"group": "他/她", "model": "random-zh"}]}}
    page.run()
    assert "Sentences: 他/她 (random-zh)" in [one.value.replace("\\", "") for one in page.header]
    for by in ("side", "masks"):
        page.segmented_control(key="groups-by").set_value(by).run()
        assert not page.exception
    page.selectbox(key="groups-measure").set_value("mass").run()
    assert not page.exception


@pytest.mark.usefixtures("run")
def test_a_changed_report_must_be_made_again() -> None:
    page = open_page("model_bias", section="report")
    assert "report" not in {one.key for one in page.get("download_button")}
    page.button(key="report-make").click().run()
    assert not page.exception
    assert "report" in {one.key for one in page.get("download_button")}
    page.multiselect(key="models").set_value(["random-zh"]).run()
    assert page.button(key="report-make")


def test_a_broken_run_is_one_sentence(run: Path) -> None:
    run.write_text("a,b\n1,2\n")
    page = open_page("model_bias")
    assert "is not a score file" in page.error[0].value.replace("\\", "")


def test_a_changed_score_file_is_read_again(run: Path) -> None:
    page = open_page("model_bias", section="extremes")
    text = run.read_text().replace("护士", "医生")
    run.write_text(text)
    page.run()
    assert "医生" in html_of(page)


def test_two_seeds_of_a_model_count_as_one_model() -> None:
    from evenhand.pages.model_bias.correlation import _each_once

    names = ["m-seed1", "m-seed2", "other"]
    result = pd.DataFrame([{"a": a, "b": b} for a in names for b in names])
    assert _each_once(result, seed_groups(names)).to_numpy().tolist() == [["m-seed1", "other"], ["m-seed2", "other"]]


@pytest.mark.usefixtures("run")
def test_a_click_on_a_correlation_chooses_its_two_models() -> None:
    st.cache_data.clear()
    page = open_page("model_bias", section="agreement")
    assert "models-correlation" not in str(page.get("vega_lite_chart"))  # of two models, one number: a sentence
    assert "Pearson, sentence by sentence: " in html_of(page)


@pytest.fixture
def three(run: Path) -> Path:
    """Add a third model to the run: the second again, with all preferences turned round."""
    frame = pd.read_csv(run, keep_default_na=False)
    third = frame[frame["model"] == "random-zh"].assign(model="third")
    for name in ("bias_log10", "bias_ln"):
        third[name] = [f"{-float(value)}" if value else value for value in third[name]]
    third[["p_male", "p_female"]] = third[["p_female", "p_male"]].to_numpy()
    pd.concat([frame, third]).to_csv(run, index=False)
    st.cache_data.clear()
    return run


@pytest.mark.usefixtures("three")
def test_a_click_on_a_matrix_chooses_two_models() -> None:
    page = open_page("model_bias", section="agreement")
    page.session_state["models-correlation"] = {"selection": {"cell": [{"a": "third", "b": "random-zh"}]}}
    page.run()
    assert (page.selectbox(key="two-a").value, page.selectbox(key="two-b").value) == ("third", "random-zh")


def sentences_shown(page: AppTest) -> list[str]:
    return re.findall(r"<li>.*?<p>(.*?)</p>", html_of(page), flags=re.DOTALL)


@pytest.mark.usefixtures("three")
def test_a_span_selects_the_sentences_inside_it_in_every_model(three: Path) -> None:
    rows = read_scores(three)
    inside = rows[(rows["bias_log10"] >= -0.2) & (rows["bias_log10"] <= 0.2)]
    wanted = set.intersection(*(set(found["row"]) for _model, found in inside.groupby("model")))
    assert 0 < len(wanted) < inside.groupby("model").size().min()
    for section in ("overview", "distribution", "agreement", "groups"):
        page = open_page("model_bias", section=section, pick="span||-0.2|0.2")
        assert f"{len(wanted)} sentences, largest difference first." in captions_of(page)
        assert page.button(key="chip-pick").label.replace("\\", "") == "Bias_c −0.2 … +0.2 (in all models)"
    one = open_page("model_bias", section="distribution", pick="span|third|-0.2|0.2")
    assert f"{(inside['model'] == 'third').sum()} sentences, largest value first." in captions_of(one)
    whole = open_page("model_bias", section="words", pick="span||-0.2|0.2")
    assert "This view uses all sentences" in captions_of(whole)
    page = open_page("model_bias", section="extremes", pick="span||-0.2|0.2")
    assert f"{len(wanted)} of {len(wanted)} sentences;" in captions_of(page)


@pytest.mark.usefixtures("run")
def test_a_span_is_typed_marked_and_removed() -> None:
    page = open_page("model_bias", section="distribution")
    page.session_state["density"] = {"selection": {"span": {"from": [0.3, -0.8]}}}
    page.run()
    assert page.query_params["pick"] == "span||-0.8|0.3"
    page.button(key="chip-pick").click().run()
    assert "pick" not in page.query_params and "chip-pick" not in {button.key for button in page.button}
    low, high = (box for box in page.number_input if box.label in ("from", "to"))
    low.set_value(0.5)
    high.set_value(0.1)
    next(button for button in page.button if button.label == "Show").click().run()
    assert page.query_params["pick"] == "span||0.1|0.5"


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    "pick", ["span|gone|0|1", "bin|random-zh|x|1", "pair|random-zh", "x", "square|a|b|1", "span||nan|1", "bin|||"]
)
def test_a_selection_that_cannot_be_read_selects_nothing(pick: str) -> None:
    page = open_page("model_bias", section="distribution", pick=pick)
    assert "chip-pick" not in {button.key for button in page.button}


@pytest.mark.usefixtures("run")
def test_a_square_of_two_models_is_selected_by_click_or_from_the_list() -> None:
    page = open_page("model_bias", section="agreement")
    squares = page.selectbox(key="select-pick")
    first = squares.options[0]
    squares.select_index(0).run()
    count = int(first.rpartition("(")[2].rstrip(")"))
    assert f"{count} sentences, largest difference first." in captions_of(page)
    assert page.query_params["pick"].startswith("square|bert-base-chinese|random-zh|")


def test_sentences_lead_to_try_and_to_their_project(run: Path) -> None:
    page = open_page("model_bias", section="groups", pick="pair|random-zh|他/她")
    shown = html_of(page)
    assert 'href="sentence-bias?text=' in shown and "model=random-zh&amp;lang=en" in shown and ">Try</a>" in shown
    assert ">Open</a>" not in shown
    record = run.with_suffix(".json")
    facts = json.loads(record.read_text()) | {"source": {"name": "my <b>", "format": "project", "kind": "project"}}
    record.write_text(json.dumps(facts))
    page = open_page("model_bias", section="groups", pick="pair|random-zh|他/她")
    assert "browse?project=my+%3Cb%3E&amp;q=%22" in html_of(page)
