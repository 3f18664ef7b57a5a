"""`ruler` and `audit` as a person types them, on files."""

import csv
import json

import pytest
from click.testing import CliRunner

import evenhand.core.ruler.planted
from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project
from evenhand.core.errors import BadFile, Refused
from tests.support.audits import NUMBERS, judge, scores


def run(*arguments: str, ok: int = 0):
    answer = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert answer.exit_code == ok, answer.output
    return answer


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scores.csv"
    scores(NUMBERS).to_csv(path, index=False)
    return str(path)


@pytest.fixture
def few_marks(monkeypatch):
    monkeypatch.setattr(evenhand.core.ruler.planted.measure_marks, "__defaults__", (("planted:+0.3",),))


def test_ruler_prints_json(few_marks) -> None:
    data = json.loads(run("ruler", "--json").stdout)
    assert data["passed"] is True and "model" not in data
    by = {mark["quantity"]: mark for mark in data["planted"]}
    assert by["offset"]["measured"] == pytest.approx(0.3, abs=1e-6)
    assert by["bias_woman"]["planted"] is None and by["bias_woman"]["planted_reason"]
    assert by["model_bias"]["measured"] is None and by["model_bias"]["measured_reason"]


def test_ruler_reads_scores_without_references(few_marks, file) -> None:
    data = json.loads(run("ruler", "--scores", file, "--no-references", "--json").stdout)["model"]
    assert (data["model"], data["n"], data["sentences"]) == ("m", 20, "scores.csv")
    assert data["neutral_words"] is None and "switched off" in data["neutral_words_reason"]
    assert data["untrained"] is None and data["untrained_reason"]
    assert {null["null_of"] for null in data["nulls"]} == {"signed_mean", "side_difference", "side_auc"}
    assert "No shuffle" in data["model_bias_null_reason"]


def test_ruler_prints_a_readable_report(few_marks) -> None:
    shown = run("ruler", "--model", "planted:context").stdout
    assert "12 of 12 quantities come back as planted." in shown
    assert "Model_bias has no null" in shown and "neutral words" in shown


def test_a_failing_ruler_exits_with_1(few_marks, monkeypatch) -> None:
    monkeypatch.setattr(
        evenhand.core.ruler.planted,
        "expected",
        lambda plant: dict.fromkeys(evenhand.core.ruler.planted.QUANTITIES, 0.7),
    )
    answer = run("ruler", "--json", ok=1)
    assert json.loads(answer.stdout)["passed"] is False


def test_several_models_need_a_name(tmp_path) -> None:
    path = tmp_path / "two.csv"
    first, second = scores({"他": [1.0, 0.1]}), scores({"他": [1.0, 0.1]}, model="other")
    import pandas as pd

    pd.concat([first, second]).to_csv(path, index=False)
    for words in (["audit", "draw", str(path)], ["ruler", "--scores", str(path)]):
        with pytest.raises(Refused, match="several models"):
            run(*words)
    assert json.loads(run("audit", "draw", str(path), "--model", "other", "--json").stdout)["model"] == "other"


def test_audit_draw_counts_and_writes_a_sample(tmp_path, file) -> None:
    out = tmp_path / "sample.csv"
    data = json.loads(run("audit", "draw", file, "--n", "3", "--out", str(out), "--json").stdout)
    assert data["extremes"] == {"male": 3, "female": 3} and data["controls"] == 6
    assert data["reach"] == pytest.approx(1.96 * (0.25 / 6 * 2) ** 0.5)
    with out.open(encoding="utf-8", newline="") as rows:
        kinds = [row["stratum"] for row in csv.DictReader(rows)]
    assert kinds.count("extreme") == kinds.count("control") == 6


def test_an_audit_runs_from_scores_to_answer(tmp_path, file) -> None:
    db = str(tmp_path / "evenhand.db")
    sent = json.loads(
        run(
            "audit",
            "send",
            file,
            "leaks",
            "--n",
            "3",
            "--annotators",
            "Ada，Bo",
            "--per-item",
            "2",
            "--db",
            db,
            "--json",
        ).stdout
    )
    assert sent["project"] == "leaks" and sent["labels"] == 24
    early = run("audit", "result", "leaks", "--db", db, "--json")
    assert json.loads(early.stdout)["judged"] == 0 and "No sentence has all its labels" in early.stderr
    assert json.loads(early.stdout)["shares"]["any"][0]["difference"]["value"] is None
    with Store.open(db) as store:
        judge(store, project(store, "leaks"), lambda text, who: "爸爸" in text, people=("Ada", "Bo"))
    data = json.loads(run("audit", "result", "leaks", "--scores", file, "--db", db, "--json").stdout)
    assert data["finished"] and data["judged"] == 12
    both = data["shares"]["unanimous"][0]
    assert both["extremes"]["leaks"] == both["controls"]["leaks"] == 1  # one 爸爸 sentence each
    assert both["difference"]["value"] == 0 and both["difference"]["equivalence"]["answer"] == "undecided"
    assert 0.3 < both["difference"]["equivalence"]["smallest_shown"] < 1  # of six against six: not much can be shown
    run_ = data["measures"]["unanimous"]["run"]
    assert run_["sentences"] == 20 and run_["leaks"] == 2 and run_["all"]["n"] == 20
    shown = run("audit", "result", "leaks", "--scores", file, "--db", db).stdout
    assert (
        ": this audit gives no evidence that leaks cause the strongest values." in shown
        and "margin 0.05: inconclusive; " in shown
        and "12 of 12 sentences judged" in shown
    )


def test_an_unwritable_sample_is_one_sentence(file, tmp_path) -> None:
    (tmp_path / "in the way").write_text("", encoding="utf-8")
    with pytest.raises(BadFile, match=r"x\.csv cannot be written"):
        run("audit", "draw", file, "--n", "3", "--out", str(tmp_path / "in the way" / "x.csv"))
