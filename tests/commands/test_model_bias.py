"""`bias SCORES`: the names that others rely on, undefined as null with a reason, the same numbers as the functions."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import BadFile, NotFound
from evenhand.core.model_bias import paired_difference, read_scores, summarise
from tests.support.bias_scores import stemmed

PROMISED = {
    *("n", "undefined", "n_man", "n_woman", "bias_man", "bias_woman", "model_bias", "denominator", "obvious"),
    *("pair_mass", "variance_shares", "side_auc"),
}


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Write two models on 40 sentences, one undefined for the second; one model never leans to the female word."""
    random = np.random.default_rng(3)
    parts = []
    for model, values in (
        ("b", random.normal(0.1, 0.5, 40)),
        ("a", random.normal(0, 0.4, 40)),
        ("up", np.full(40, 0.3)),
    ):
        parts.append(
            pd.DataFrame(
                {
                    "row": range(1, 41),
                    "sentence": [f"第{i}句。" for i in range(40)],
                    "pair": ["他/她", "爸爸/妈妈"] * 20,
                    "keyword": ["他", "爸爸", "她", "妈妈"] * 10,
                    "model": model,
                    "p_male": 0.2,
                    "p_female": 0.1,
                    "bias_log10": values,
                    "status": "ok",
                    "signature": f"masked|{model}|weights:0|independent|fp32|v1",
                }
            )
        )
    parts[1].loc[[4, 5], ["bias_log10", "status"]] = [[math.nan, "No token."], [math.inf, "ok"]]
    path = tmp_path / "scores.csv"
    pd.concat(parts).to_csv(path, index=False)
    return path


def run(*words: str) -> Any:
    done = CliRunner().invoke(cli, ["bias", *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def no_null_without_reason(data: Any) -> None:
    if isinstance(data, dict):
        assert not [key for key, value in data.items() if value is None and not data.get(f"{key}_reason")]
        for value in data.values():
            no_null_without_reason(value)
    elif isinstance(data, list):
        for value in data:
            no_null_without_reason(value)


def test_json_has_the_promised_keys_and_models_in_file_order(scores: Path) -> None:
    models = run(str(scores))["models"]
    assert list(models) == ["b", "a", "up"]  # never sorted by bias or by name
    for model in models.values():
        assert set(model) >= PROMISED
        assert set(model["model_bias"]) >= {"log10", "ln", "low", "high"}
        assert sum(model["obvious"].values()) == model["n"]


def test_numbers_equal_those_of_the_functions(scores: Path) -> None:
    frame = read_scores(scores)
    result = run(str(scores), "--denominator", "all", "--pair-difference", "a", "b")
    summary = summarise(frame, model="a", denominator="all")
    assert result["models"]["a"]["model_bias"]["log10"] == summary.model_bias.value
    assert result["models"]["a"]["bias_man"]["high"] == summary.bias_man.high
    difference = paired_difference(frame, "a", "b", "mean_abs", denominator="all")
    assert result["differences"][0]["mean_abs"]["low"] == difference.low
    assert result["differences"][0]["units"] == difference.units


def test_undefined_values_are_null_with_a_reason(scores: Path) -> None:
    data = run(str(scores), "--by", "pair", "--nulls", "--resamples", "200")
    no_null_without_reason(data)
    up = data["models"]["up"]
    assert up["model_bias"]["log10"] is None and "mean of both sides" in up["model_bias"]["log10_reason"]
    assert up["variance_shares"]["contexts"] is None


def test_unusual_sentences_are_listed(scores: Path) -> None:
    result = run(str(scores))["models"]["a"]
    assert (result["n"], result["undefined"], result["infinite"]) == (38, 1, 1)
    assert result["undefined_rows"] == [{"row": "5", "sentence": "第4句。", "reason": "No token."}]
    assert result["infinite_rows"][0]["leans"] == "male"


def test_groups_come_with_the_number_excluding_0_by_chance(scores: Path) -> None:
    by = run(str(scores), "--model", "b", "--by", "pair")["models"]["b"]["by"]
    assert [(row["name"], row["n"]) for row in by["rows"]] == [("他/她", 20), ("爸爸/妈妈", 20)]
    assert by["several"]["by_chance"] == pytest.approx(0.1)


def test_the_printed_report_contains_no_nan(scores: Path) -> None:
    text = (
        CliRunner()
        .invoke(cli, ["bias", str(scores), "--by", "pair", "--nulls", "--list", "1", "--resamples", "200"])
        .stdout
    )
    for part in (
        "Model_bias",
        "a smaller bias is not necessarily better",
        "爸爸/妈妈",
        (
            "Null hypothesis for the side AUC: the source words are swapped, stem by stem. It does not "
            "apply to Model_bias."
        ),
        "undefined: row 5",
    ):
        assert part in text
    assert "nan" not in text


def test_unknown_models_and_other_tables_are_refused(scores: Path) -> None:
    with pytest.raises(NotFound, match="These scores do not contain the model x"):
        run(str(scores), "--model", "x")
    scores.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadFile, match="lacks the columns"):
        run(str(scores))


def stemmed_scores(folder: Path) -> Path:
    """Write two models on 144 sentences of twelve stems; b is a less 0.5, and some noise."""
    values = np.random.default_rng(8).normal(0, 0.4, 144)
    frames = [
        stemmed(list(values), "a"),
        stemmed(list(values - 0.5 + np.random.default_rng(9).normal(0, 0.1, 144)), "b"),
    ]
    path = folder / "stems.csv"
    pd.concat(frames).drop(columns="named").to_csv(path, index=False)
    return path


def test_a_difference_has_equivalence_and_detectable_effect(tmp_path: Path) -> None:
    path = stemmed_scores(tmp_path)
    [difference] = run(str(path), "--pair-difference", "a", "b", "--margin", "1")["differences"]
    no_null_without_reason(difference)
    mean = difference["signed_mean"]
    assert mean["low"] < 0.5 < mean["high"] and mean["p"] == 2 / 4096 and difference["units"] == 12
    assert mean["equivalence"]["answer"] == "yes" and 0 < mean["equivalence"]["smallest_shown"] < 0.2
    assert difference["side_auc"]["equivalence"]["answer"] == "undecided"  # it has a margin of its own
    assert difference["fixed_pairs"]["signed_mean"]["low"] is not None
    [narrow] = run(str(path), "--pair-difference", "a", "b", "--margin", "0.1")["differences"]
    assert narrow["signed_mean"]["equivalence"]["answer"] == "no"
    [none] = run(str(path), "--pair-difference", "a", "b", "--margin", "0")["differences"]
    assert "Set a margin" in none["signed_mean"]["equivalence"]["says"]
    assert none["side_auc"]["equivalence"]["margin"] == 0.05  # the default of its scale


def test_correlations_are_corrected_and_have_a_band(scores: Path, tmp_path: Path) -> None:
    [correlation] = run(str(stemmed_scores(tmp_path)), "--correlations")["correlations"]
    assert (correlation["a"], correlation["b"], correlation["kind"], correlation["stems"]) == (
        "a",
        "b",
        "prior-corrected",
        12,
    )
    assert (
        correlation["low"] < correlation["value"] < correlation["high"]
        and correlation["value"] > correlation["band"] > 0.25
    )
    assert correlation["raw"] is not None
    few = run(str(scores), "--correlations")["correlations"]
    no_null_without_reason(few)
    assert len(few) == 3 and few[0]["low"] is None
    words = ["bias", str(scores), "--correlations", "--pair-difference", "a", "b"]
    text = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "prior-corrected" in text and "nan" not in text
    assert "Margins: 0.1 (log10, default); 0.05 (AUC, 0 to 1, default)." in text


def test_seeds_of_a_model_are_summarised_as_one(scores: Path) -> None:
    assert "seeds" not in run(str(scores))
    result = run(str(scores), "--seeds", "mine=a,b")["seeds"]
    no_null_without_reason(result)
    assert result["mine"]["models"] == ["a", "b"] and result["mine"]["signed_mean"]["low"] is None
    text = CliRunner().invoke(cli, ["bias", str(scores), "--seeds", "mine=a,b,up"], catch_exceptions=False).stdout
    assert "Seeds of one model, counted as one: mine (a, b, up)." in text
