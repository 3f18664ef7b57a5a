"""model_names and the checks of score_files: no number under the wrong name, none out of range."""

import csv
import json
import math

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import BadFile, NotFound
from evenhand.core.files.csv_out import neutralised
from evenhand.core.model_bias import label_of, models_of, plain_names, read_scores, rows_of, summarise
from evenhand.core.scoring.rows import COLUMNS
from evenhand.core.sentence_bias.bias import NO_SLOT

MASKED = "masked|{}|weights:0a|independent|fp32|v1"
PAIR_SUM = "pair-sum|{}|weights:0b|sum|fp32|v1"
GEOMETRIC = "masked|{}|weights:0c|geometric_mean|fp32|v1"


def rows(model, signature, *biases, **cells):
    made = []
    for row, bias in enumerate(biases, 1):
        p_female = 0.01
        p_male = p_female * 10**bias
        made.append(
            {
                "row": row, "sentence": f"他走了{row}步。", "pair": "他/她", "keyword": "他", "model": model,
                "p_male": p_male, "p_female": p_female, "pair_mass": p_male + p_female, "bias_log10": bias,
                "bias_ln": bias * math.log(10), "status": "ok", "signature": signature.format(model), "side": "male",
                "masks": 1, "start": 0, "end": 1, "source": "", "logp_male": math.log(p_male),
                "logp_female": math.log(p_female),
            }
            | cells
        )  # fmt: skip
    return made


def written(path, found):
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(found)
    return path


def test_models_with_different_methods_are_labelled(tmp_path):
    table = written(tmp_path / "s.csv", [*rows("bert", MASKED, 0.5, -0.5), *rows("gpt", PAIR_SUM, 0.2, -0.1)])
    frame = read_scores(table)
    assert models_of(frame) == ["bert", "gpt (pair-sum)"]
    assert len(rows_of(frame, "gpt")) == 2  # by its own name too
    assert label_of(frame, "gpt") == "gpt (pair-sum)"
    assert plain_names(frame) == {"bert": "bert", "gpt (pair-sum)": "gpt"}
    assert models_of(read_scores(frame)) == models_of(frame)


def test_models_with_one_method_are_not_labelled(tmp_path):
    frame = read_scores(written(tmp_path / "s.csv", [*rows("a", PAIR_SUM, 0.5), *rows("b", PAIR_SUM, 0.2)]))
    assert models_of(frame) == ["a", "b"]
    bf16 = rows("a", MASKED.replace("fp32", "bf16"), 0.5, 0.1)
    frame = read_scores(written(tmp_path / "t.csv", [*bf16, *rows("b", MASKED, 0.2)]))
    assert models_of(frame) == ["a", "b"]


def test_models_with_different_joints_are_labelled(tmp_path):
    frame = read_scores(written(tmp_path / "s.csv", [*rows("a", MASKED, 0.5), *rows("b", GEOMETRIC, 0.2)]))
    assert models_of(frame) == ["a", "b (geometric_mean)"]


def test_a_name_scored_twice_has_both_labels(tmp_path):
    same = PAIR_SUM.replace("0b", "0a")
    frame = read_scores(written(tmp_path / "s.csv", [*rows("a", MASKED, 0.5), *rows("a", same, 0.2)]))
    assert models_of(frame) == ["a (masked, independent)", "a (pair-sum, sum)"]
    assert plain_names(frame) == {name: name for name in models_of(frame)}
    with pytest.raises(NotFound, match=r"a \(masked, independent\), a \(pair-sum, sum\)"):
        rows_of(frame, "a")


def test_whole_sentences_have_no_pair_mass(tmp_path):
    summary = summarise(read_scores(written(tmp_path / "s.csv", rows("gpt", PAIR_SUM, 0.2, -0.1))), resamples=100)
    assert (summary.pair_mass.median, summary.pair_mass.n) == (None, 0)
    assert str(summary.pair_mass.reason) == NO_SLOT


def test_the_command_keeps_the_names_of_the_file(tmp_path):
    table = written(tmp_path / "s.csv", [*rows("bert", MASKED, 0.5, -0.5), *rows("gpt", PAIR_SUM, 0.2, -0.1)])
    answer = CliRunner().invoke(cli, ["bias", str(table), "--model", "gpt", "--resamples", "100", "--json"])
    assert answer.exit_code == 0, answer.stderr
    result = json.loads(answer.stdout)["models"]
    assert list(result) == ["gpt"]
    assert result["gpt"]["pair_mass"]["median"] is None
    assert result["gpt"]["pair_mass"]["median_reason"] == NO_SLOT


@pytest.mark.parametrize("text", ["=1+1，他说。", "-他走了。", "'+他来了。", "'他'来了。"])
def test_guarded_cells_of_a_file_are_restored(tmp_path, text):
    table = written(tmp_path / "s.csv", rows("m", MASKED, 0.5, sentence=neutralised(text)))
    assert read_scores(table)["sentence"].tolist() == [text]
    exact = written(
        tmp_path / "e.csv", rows("m", MASKED, 0.5, sentence=text, start=text.index("他"), end=text.index("他") + 1)
    )
    assert read_scores(exact)["sentence"].tolist() == [text]
    frame = read_scores(table).assign(sentence=text)
    assert read_scores(frame)["sentence"].tolist() == [text]  # a frame is not guarded


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("p_male", "1.5", ", line 2: 1.5 in the column p_male is not a probability."),
        ("p_female", "-0.1", ", line 2: -0.1 in the column p_female is not a probability."),
        ("start", "0.5", ", line 2: 0.5 in the column start is not a whole number."),
        ("masks", "inf", ", line 2: inf in the column masks is not a whole number."),
        ("masks", "-1", ", line 2: -1 in the column masks is not a whole number."),
        ("model", "", "line 2: the column model is empty"),
    ],
)
def test_impossible_cells_are_refused(tmp_path, column, cell, says):
    table = written(tmp_path / "s.csv", [rows("m", MASKED, 0.5)[0] | {column: cell}])
    with pytest.raises(BadFile, match=says):
        read_scores(table)
