"""`nli` as a script uses it: the contract's keys, exit codes, messages, runs that the page lists."""

import csv
import json

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import BadFile, Refused
from evenhand.core.runs.records import runs_folder, runs_in

GOOD = "set,label,occupation\nPS,entailment,nurse\nPS,neutral,doctor\nAS,contradiction,nurse\nAS,neutral,doctor\n"


def called(*arguments: str):
    return CliRunner().invoke(cli, ["nli", *arguments], catch_exceptions=False)


def as_json(*arguments: str):
    done = called(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout, parse_constant=lambda text: pytest.fail(text))


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(GOOD + "NS,neutral,poet\nNS,contradiction,singer\n", encoding="utf-8")
    return path


def test_json_has_the_keys_of_the_contract(predictions) -> None:
    data = as_json("--predictions", str(predictions))
    wanted = {"s", "order", "fn", "one_minus_fn", "directional", "proportions"}
    assert wanted <= data.keys()
    assert data["s"] == pytest.approx(0.5)
    assert data["fn"] == data["one_minus_fn"] == pytest.approx(0.5)
    assert data["order"] is True
    assert data["proportions"] == {
        "PS": {"e": 0.5, "c": 0.0, "n": 0.5},
        "AS": {"e": 0.0, "c": 0.5, "n": 0.5},
        "NS": {"e": 0.0, "c": 0.5, "n": 0.5},
    }
    assert data["errors"] == []
    assert data["equivalence"].keys() == {"directional", "entailment_gap", "contradiction_gap"}
    assert data["equivalence"]["directional"]["margin"] == 0.05
    assert as_json("--predictions", str(predictions), "--margin", "0")["equivalence"]["directional"]["margin"] is None


def test_every_null_has_a_reason(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(GOOD, encoding="utf-8")
    data = as_json("--predictions", str(path))
    assert data["s"] is None

    def check(found) -> None:
        for key, value in found.items():
            if value is None:
                assert found[f"{key}_reason"], key
            elif isinstance(value, dict):
                check(value)

    check(data)


def test_unusable_lines_are_reported_with_exit_code_0(predictions) -> None:
    with predictions.open("a", encoding="utf-8") as file:
        file.write("PS,maybe,nurse\n")
    data = as_json("--predictions", str(predictions))
    assert [(error["line"], error["reason"]) for error in data["errors"]] == [(8, "label")]
    assert (
        ", line 8: maybe is not a label; use entailment, contradiction or neutral."
        in called("--predictions", str(predictions)).output
    )


def test_the_printed_report_explains_the_score(predictions) -> None:
    text = called("--predictions", str(predictions)).output
    assert "s = (e_p + c_a + (1 - n_n)) / 3" in text
    assert "0.444 random guessing, 0.667 always the same non-neutral label" in text
    assert "holds" in text


def test_a_call_without_input_is_one_sentence() -> None:
    with pytest.raises(Refused, match="Give --predictions FILE"):
        called()


def test_a_missing_column_is_one_sentence(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("answer\nneutral\n", encoding="utf-8")
    with pytest.raises(BadFile, match="no column named set"):
        called("--predictions", str(path))


def test_a_run_can_be_listed_and_measured_again(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "evenhand.db"))
    data = as_json("ask", "--model", "planted:nli=0.3", "--sample", "--run", "first")
    assert data["s"] == pytest.approx(0.3, abs=0.06)
    assert data["signature"].startswith("nli|planted:nli=0.3|")
    (run,) = runs_in(runs_folder(tmp_path / "evenhand.db", "nli"))
    assert (run.name, run.record["kind"], run.record["rows"]) == ("first", "inference", 600)
    again = as_json("--predictions", str(run.table))
    assert again["s"] == data["s"]
    assert again["intervals"] == data["intervals"]
    assert again["signatures"] == [data["signature"]]
    with pytest.raises(Refused, match="already"):
        called("ask", "--model", "planted:nli=0.3", "--sample", "--run", "first")


def test_one_pair_is_classified(tmp_path) -> None:
    data = as_json("pair", "An artist is here.", "A woman is here.", "--model", "planted:nli=entailment")
    assert data["entailment"] == pytest.approx(1, abs=1e-6)
    assert sum(data[label] for label in ("entailment", "contradiction", "neutral")) == pytest.approx(1, abs=1e-6)


def test_the_set_is_written_as_a_file_and_classified(tmp_path) -> None:
    path = tmp_path / "set.csv"
    data = as_json("set", str(path), "--language", "ja", "--sample")
    assert data["rows"] == {"PS": 200, "AS": 200, "NS": 200}
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 600
    reply = as_json("ask", "--model", "planted:nli=1", "--language", "ja", "--probes", str(path))
    assert reply["s"] == 1.0


def test_planted_classifiers_cannot_be_trained() -> None:
    from evenhand.core.errors import ModelUnavailable

    with pytest.raises(
        ModelUnavailable, match=r"is a planted classifier and cannot be trained\. Choose another classifier\."
    ):
        called("rates", "--model", "planted:nli=0.3")


@pytest.mark.long
def test_s_rises_with_the_bias_rate_unlike_the_baseline(tmp_path) -> None:
    out = tmp_path / "rates.csv"
    rates = [part for rate in ("0", "0.5", "1") for part in ("--rate", rate)]
    data = as_json("rates", *rates, "--out", str(out), "--threads", "1")
    assert data["spearman"]["s"]["rho"] == 1.0
    assert data["spearman"]["directional"]["rho"] == 1.0
    first, _, last = data["points"]
    assert last["s"] - first["s"] > 0.3
    assert abs(last["one_minus_fn"] - first["one_minus_fn"]) < 0.2
    assert len(out.read_text(encoding="utf-8").splitlines()) == 4
