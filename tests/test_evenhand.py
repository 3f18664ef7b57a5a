"""The six verbs on DataFrames against the functions and programs that they call, and the cells of the notebook."""

import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

import evenhand
from evenhand.annotations.release.verify import verify
from evenhand.core.errors import BadFile, NotAllowed, Refused
from evenhand.core.models import open_scorer
from evenhand.core.sentence_bias.model_answer import read
from tests.support.coincidences import alpha

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = ["他把雨伞借给了同事。", "那位女孩在操场上跑步。", "今天的天气很好。", "爸爸和妈妈一起去买菜。"]
LONG = "他今天早上把雨伞借给了公司里的一位新同事，然后走回家去吃饭。"
SAID = ("AAA", "AAR", "RRR", "AAA", "RRA", "AAA", "AAA", "RRR", "ARA", "AAA", "RRR", "AAA")


def labels(said: tuple[str, ...] = SAID) -> pd.DataFrame:
    rows = [(item, who, label) for item, row in enumerate(said) for who, label in zip("xyz", row, strict=True)]
    return pd.DataFrame(rows, columns=["item", "annotator", "choice"])


def test_score_equals_the_sentence_reader() -> None:
    frame = evenhand.score(pd.DataFrame({"sentence": SENTENCES}), "demo-zh")
    expected = [read(text, open_scorer("demo-zh")).bias_log10 for text in SENTENCES[:2]]
    assert frame["bias_log10"][:2].tolist() == pytest.approx(expected, abs=1e-5)  # sentences are scored together
    assert frame["bias_log10"].isna().tolist() == [False, False, True, True]
    assert frame["status"].tolist()[:2] == ["ok", "ok"] and "Several keywords" in frame["status"][3]
    two = pd.DataFrame({"sentence": [SENTENCES[3]], "start": [3]})
    assert evenhand.score(two, "demo-zh")["keyword"].tolist() == ["妈妈"]


def test_mine_returns_candidates_as_a_table() -> None:
    frame = evenhand.mine(pd.Series([LONG, SENTENCES[3]]))
    assert frame[["sentence", "keyword", "counterpart", "side"]].to_dict("records") == [
        {"sentence": LONG, "keyword": "他", "counterpart": "她", "side": "male"}
    ]
    assert frame.attrs["report"]["candidates"] == 1
    assert list(evenhand.mine([SENTENCES[2]]).columns)[:2] == ["sentence", "keyword"]


def test_agreement_equals_statsmodels_and_the_definition_of_alpha() -> None:
    frame = evenhand.agreement(labels())
    rows = np.array([[{"A": 0, "R": 1}[label] for label in row] for row in SAID])
    pairs = [a == b for row in SAID for a, b in combinations(row, 2)]
    expected = {
        "full agreement": sum(len(set(row)) == 1 for row in SAID) / len(SAID),
        "pairwise agreement": sum(pairs) / len(pairs),
        "Fleiss' kappa": fleiss_kappa(aggregate_raters(rows)[0]),
        "Krippendorff's alpha": alpha(rows.tolist()),
    }
    for name, value in expected.items():
        one = frame.loc[name]
        assert one["value"] == pytest.approx(value, abs=1e-9) and one["low"] < value < one["high"], name
    assert (frame["n"] == len(SAID)).all()
    alike = evenhand.agreement(labels(("AAA",) * 12)).loc["Fleiss' kappa"]
    assert math.isnan(alike["value"]) and alike["reason"]
    more = evenhand.agreement(labels(), categories=("A", "R", "unsure"))
    assert more.loc["Gwet's AC1", "value"] > frame.loc["Gwet's AC1", "value"]


def test_rule_adds_verdict_columns() -> None:
    given = pd.DataFrame({"completion": ["they said so.", "he ran.", "nobody."], "pronouns": ["they", "she", "xe"]})
    result = evenhand.rule(given)
    assert result["rule_correct"].tolist()[:2] == [1.0, 0.0] and result["rule_pronoun"].tolist() == ["they", "he", None]
    assert "rule_correct" not in given and "text" not in result


def test_release_writes_verified_files(tmp_path: Path) -> None:
    labels = [
        (item, who, "accept" if item == 0 or who == "Ada" else "reject") for item in (0, 1) for who in ("Ada", "Bo")
    ]
    given = pd.DataFrame(labels, columns=["item", "annotator", "choice"])
    rights = {"name": "nb", "licence": "CC BY 4.0", "source": "Own sentences."}
    frame = evenhand.release(SENTENCES, given, tmp_path / "out", **rights)
    assert frame["status"].tolist() == ["accepted", "rejected"] and frame.attrs["labels"] == 4
    assert [row["reason"] for row in frame.attrs["left_out"]] == ["no_keyword", "several_keywords"]
    stated = frame.attrs["quantities"]
    assert (stated["items.kept"]["value"], stated["labels.valid"]["value"]) == (1, 4)
    assert verify(tmp_path / "out").intact and verify(tmp_path / "out").hash == frame.attrs["release"]["hash"]
    kept = [json.loads(line)["text"] for line in (tmp_path / "out/data/train.jsonl").read_text("utf-8").splitlines()]
    assert kept == [SENTENCES[0]]
    for wrong, out, kind in (
        (given.assign(choice="maybe"), "new", BadFile),
        (given.assign(item=given["item"] + 7), "new", BadFile),
        (given.drop(columns="choice"), "new", Refused),
        (given, "out", NotAllowed),  # it exists
    ):
        with pytest.raises(kind):
            evenhand.release(SENTENCES, wrong, tmp_path / out, **rights)
    assert not (tmp_path / "new").exists()


def test_describe_returns_values_with_reasons() -> None:
    frame = evenhand.describe(SENTENCES)
    assert frame.loc["sentences", "value"] == 4 and frame.loc["characters.total", "value"] == sum(map(len, SENTENCES))
    assert frame[frame["value"].isna()]["reason"].notna().all()


def test_describe_skips_missing_sentences() -> None:
    frame = evenhand.describe(pd.DataFrame({"sentence": [*SENTENCES, None, float("nan")]}))
    assert frame.loc["sentences", "value"] == len(SENTENCES)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(Refused, match="no column sentence; it has text"):
        evenhand.score(pd.DataFrame({"text": SENTENCES}), "demo-zh")


def test_every_verb_is_documented_and_importing_is_light() -> None:
    assert evenhand.__all__ == sorted(["score", "mine", "agreement", "rule", "release", "describe"])
    assert all((getattr(evenhand, verb).__doc__ or "").count("Returns") for verb in evenhand.__all__)
    code = "import sys, evenhand; print(sorted({'torch', 'streamlit', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_cells_of_the_notebook_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "docs")
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) and not any(cell.get("outputs") for cell in notebook["cells"])
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert all(f"evenhand.{verb}(" in json.dumps(notebook) for verb in evenhand.__all__)
    assert names["kept"]["status"].tolist() == ["accepted", "accepted"] and len(names["candidates"]) == 1
