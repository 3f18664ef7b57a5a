"""Published scores of GEST: the packaged means against the printed ones, a copy of its layout, a model of one's own."""

import csv
import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from evenhand.commands.main import cli
from evenhand.core import model_bias
from evenhand.core.errors import BadFile, NotFound
from evenhand.core.published.gest import (
    packaged_correlations,
    packaged_means,
    read_gest,
    stereotyped,
    stereotypes,
)
from evenhand.core.published.score_tables import read_table
from evenhand.core.resources import read_table as read_tsv
from evenhand.core.resources import table

SENTENCES = [("I lead the team.", 13), ("I cried, and told everybody.", 1), ("I lift weights.", 16), ("I sew.", 4)]
SCORES = {
    "mlm__bert-base-uncased_template-0": [0.4, -0.2, 0.3, -0.1],
    "mlm__bert-base-uncased_template-1": [0.2, -0.4, 0.1, -0.3],
    "glm__gpt2_template-0": [0.1, 0.1, 0.5, 0.3],
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder in the layout of GEST with sentences of our own."""
    (tmp_path / "predictions").mkdir()
    with (tmp_path / "gest.csv").open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([("sentence", "stereotype"), *SENTENCES])
    for name, values in SCORES.items():
        with gzip.open(tmp_path / "predictions" / f"{name}.txt.gz", "wt") as lines:
            lines.writelines(f"{value}\n" for value in values)
    # exp(0.4) = 1.4918, exp(0.1) = 1.1052: the second is printed wrongly.
    printed = [
        "kind\tmodel\ttemplate\tstereotype\tprinted_mean",
        "mlm\tbert-base\t0\t13\t1.49",
        "glm\tgpt2\t0\t13\t1.12",
    ]
    (tmp_path / "printed_means.tsv").write_text("\n".join(printed) + "\n", encoding="utf-8")
    return tmp_path


def test_every_packaged_mean_is_the_printed_one() -> None:
    """The printed means were taken from the paper's repository, ours from its scores."""
    means = packaged_means()
    printed = means[means["printed"] != ""]
    assert len(printed) == 1408 and printed["model"].nunique() == 33 and means["model"].nunique() == 34
    # A mean in four digits, and a printed one in two.
    apart = np.abs(np.exp(printed["value"]) - printed["printed"].astype(float))
    assert (apart <= 0.005 + np.exp(printed["value"]) * 0.00005 + 1e-9).all()
    assert ((means["low"] < means["value"]) & (means["value"] < means["high"])).all()
    assert means["stereotype"].isin(stereotypes()).all() and set(stereotypes()) == set(stereotypes("zh"))


def test_the_packaged_tables_follow_from_a_copy(tmp_path: Path) -> None:
    folder = os.environ.get("EVENHAND_GEST")
    if not folder:
        pytest.skip("EVENHAND_GEST does not name a copy of GEST")
    done = CliRunner().invoke(
        cli, ["published", "gest", folder, "--tables", str(tmp_path), "--json"], catch_exceptions=False
    )
    answer = json.loads(done.stdout)
    assert (answer["printed"], answer["equal"], len(answer["models"]), answer["sentences"]) == (1408, 1408, 34, 3565)
    for name in ("gest_means", "gest_correlations"):
        assert tuple(read_tsv(tmp_path / f"{name}.tsv")) == table(name)
    counts = np.bincount(read_gest(Path(folder)).stereotypes)[1:]
    assert counts.tolist() == [int(row["sentences"]) for row in table("gest_stereotypes")]


def test_all_models_lean_as_the_stereotypes_do() -> None:
    for kind, count in (("mlm", 11), ("glm", 23)):
        means = packaged_means()[lambda rows, kind=kind: rows["kind"] == kind]
        assert {stereotyped(part) for _, part in means.groupby("template")} == {(count, count)}
    correlations = packaged_correlations()
    assert len(correlations) == 34 * 34 and (correlations["value"] <= 1).all()


def test_a_copy_becomes_a_run_with_groups(copy: Path) -> None:
    out = copy / "scores.csv"
    done = CliRunner().invoke(
        cli, ["published", "gest", str(copy), "--out", str(out), "--json"], catch_exceptions=False
    )
    answer = json.loads(done.stdout)
    assert (answer["printed"], answer["equal"], answer["models"]) == (2, 1, ["bert-base-uncased", "gpt2"])
    assert [(one["model"], one["printed"], round(one["recalculated"], 4)) for one in answer["different"]] == [
        ("gpt2", "1.12", 1.1052)
    ]
    rows = model_bias.rows_of(model_bias.read_scores(out), "bert-base-uncased")
    assert rows["bias_log10"].tolist() == pytest.approx([0.3, -0.3, 0.2, -0.2])  # means of both templates
    assert (
        rows["pair_mass"].isna().all() and rows["signature"].iloc[0] == "gest|bert-base-uncased|templates:0+1|log-ratio"
    )
    groups = {one.group: one.n for one in model_bias.summarise_by(rows, "group")}
    assert groups == {"01 women: emotional": 1, "04 women: neat": 1, "13 men: leaders": 1, "16 men: strong": 1}


def test_templates_are_models_of_their_own_when_asked(copy: Path) -> None:
    out = copy / "scores.csv"
    CliRunner().invoke(
        cli, ["published", "gest", str(copy), "--out", str(out), "--by-template"], catch_exceptions=False
    )
    frame = model_bias.read_scores(out)
    assert model_bias.models_of(frame) == ["bert-base-uncased · 0", "bert-base-uncased · 1", "gpt2"]


def test_a_model_of_ones_own_is_placed_among_them(copy: Path) -> None:
    mine = copy / "mine.csv"
    lines = ["row,sentence,pair,keyword,model,p_male,p_female,bias_log10,signature"]
    for number, (text, value) in enumerate(
        [("He said: “I lead the team.”", 0.26), ("I sew.", -0.15), ("Else.", 9.0)], 1
    ):
        lines.append(f"{number},{text},he/she,he,mine,0.1,0.1,{value},own")
    mine.write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = ["published", "gest", str(copy), "--with", str(mine), "--out", str(copy / "both.csv"), "--json"]
    (place,) = json.loads(CliRunner().invoke(cli, asked, catch_exceptions=False).stdout)["yours"]
    # On these two sentences: mine .055, bert (.3 - .2) / 2 = .05, gpt2 .2.
    assert place["mean_log10"]["value"] == pytest.approx(0.055) and place["higher"] == 1
    rows = model_bias.rows_of(model_bias.read_scores(copy / "both.csv"), "mine")
    assert rows["signature"].eq("own").all() and int(np.isfinite(rows["bias_log10"]).sum()) == 2


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("predictions/glm__gpt2_template-0.txt", "0.1\nx\n0.2\n0.3\n", "template-0.txt, line 2: x is not a number"),
        ("predictions/glm__gpt2_template-9.txt", "0.1\n", "holds 1 values, but there are 4 sentences"),
        ("gest.csv", "sentence,stereotype\nI sew.,four\n", "gest.csv, line 2: four in the column stereotype"),
        ("gest.csv", "text\nI sew.\n", "needs the columns sentence and stereotype"),
        ("predictions/mlm__x_template-0.txt.gz", "not packed", "cannot be read"),
    ],
)
def test_a_bad_copy_is_one_sentence_with_file_and_line(copy: Path, file: str, text: str, message: str) -> None:
    (copy / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=message):
        read_gest(copy)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gest\.csv is missing"):
        read_gest(tmp_path)


def test_a_table_of_other_scores_is_read_in_its_base(tmp_path: Path) -> None:
    file = tmp_path / "paper.tsv"
    file.write_text(
        "sentence\tmodel\tlog_ratio\tgroup\nA.\tone\t1\tg\nB.\tone\t\tg\nA.\ttwo\t-2\tg\nB.\ttwo\t3\th\n",
        encoding="utf-8",
    )
    one, two = read_table(file, base="2", pair="he/she", source="paper").models
    assert one.mean[0] == pytest.approx(math.log10(2)) and math.isnan(one.mean[1])
    assert two.mean.tolist() == pytest.approx([-2 * math.log10(2), 3 * math.log10(2)])
    asked = ["published", "table", str(file), "--base", "2", "--out", str(tmp_path / "o.csv"), "--json"]
    answer = json.loads(CliRunner().invoke(cli, asked, catch_exceptions=False).stdout)
    assert (answer["models"], answer["sentences"]) == (2, 2)
    frame = model_bias.read_scores(tmp_path / "o.csv")
    assert frame["status"].tolist() == ["ok", "No value was published.", "ok", "ok"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sentence,model\nA.,m\n", "lacks the columns log_ratio"),
        ("sentence,model,log_ratio\nA.,m,a lot\n", "line 2: a lot in the column log_ratio is not a number"),
        ("sentence,model,log_ratio\nA.,m,1\nA.,m,2\n", "line 3: this sentence has a value of this model"),
        ("", "cannot be read as CSV"),
    ],
)
def test_a_bad_table_is_one_sentence_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "paper.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=message):
        read_table(file, base="10", pair="he/she", source="paper")
