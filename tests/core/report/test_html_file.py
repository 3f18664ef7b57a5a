"""The report: its numbers are those of `bias --json`, hostile text stays text, nothing is fetched, both languages."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.quantities.runs import bias_numbers
from evenhand.core.errors import BadFile
from evenhand.core.files.readers import file_sha256
from evenhand.core.model_bias import models_of, paired_differences, read_scores, summarise
from evenhand.core.model_bias.compare_models import against_margins
from evenhand.core.report.html_file import ReportSettings, report_html, write_report
from evenhand.core.report.html_tables import list_html, marked, numbers, table_lines
from evenhand.core.report.numbers import interval, percent, plain_number, probability, signed_number
from evenhand.core.report.several_models import differences_html, seeds_html
from evenhand.core.statistics.equivalence import Margins
from tests.support.english_left import english_left
from tests.support.made_up_scores import write

HOSTILE = "<script>alert(1)</script>他<img src=x onerror=alert(2)>说 $x$ :red[y] &amp; \"'。"


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two models, 400 sentences, one of them hostile, one undefined, one infinite."""
    path = write(tmp_path_factory.mktemp("report") / "scores.csv", 400, 2, names=("bert-base-chinese",))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in (rows[0], rows[400]):
        row.update(sentence=HOSTILE, pair="他/她", keyword="他", side="male", start="25", end="26")
        row.update(p_male="0.9", p_female="0.0001", bias_log10="3.9542", bias_ln="9.105", pair_mass="0.9001")
    rows[1].update(p_male="", p_female="", bias_log10="", bias_ln="", pair_mass="", status="A reason of the model.")
    rows[2].update(p_female="0", bias_log10="inf", bias_ln="inf")
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return path


@pytest.fixture(scope="module")
def english(scores: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("out") / "report.html"
    done = CliRunner().invoke(cli, ["report", str(scores), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["models"] == ["bert-base-chinese", "made-up-2"]
    return out.read_text(encoding="utf-8")


def cells_of(text: str, line: str) -> list[str]:
    row = re.search(rf'<th scope="row">{re.escape(line)}<small>.*?</tr>', text, re.S)
    assert row, line
    return re.findall(r"<td[^>]*>(.*?)</td>", row[0], re.S)


def test_numbers_equal_those_of_the_command_bias(scores: Path, english: str) -> None:
    done = CliRunner().invoke(cli, ["bias", str(scores), "--json"])
    assert done.exit_code == 0, done.output
    models: dict[str, dict[str, Any]] = json.loads(done.stdout)["models"]
    for key, line in (("bias_man", "Bias_man"), ("bias_woman", "Bias_woman"), ("model_bias", "Model_bias")):
        for model, cell in zip(models.values(), cells_of(english, line), strict=True):
            assert f"<b>{plain_number(model[key]['log10'])}</b>" in cell
            assert interval(model[key]["low"], model[key]["high"]) in cell
            assert f"ln: {plain_number(model[key]['ln'])}" in cell
    for model, cell in zip(models.values(), cells_of(english, "Obvious"), strict=True):
        counts = model["obvious"]
        assert f"◀ {counts['female']:,} · {counts['none']:,} · {counts['male']:,} ▶" in cell


def test_table_4_is_next_to_the_model_of_the_paper(english: str) -> None:
    first, second = cells_of(english, "Model_bias")
    assert "Table 4: 1.3113 (ln)" in first  # docs/methods.md#bias-of-a-model, BERT-base
    assert "Table 4" not in second


def test_hostile_text_is_escaped(english: str) -> None:
    assert "<script" not in english
    assert "<img" not in english
    assert "onerror=alert" not in english.replace("&lt;img src=x onerror=alert(2)&gt;", "")
    assert '&lt;/script&gt;<mark class="m">他</mark>&lt;img src=x' in english


def test_nothing_is_fetched_and_nothing_runs(english: str) -> None:
    assert "default-src 'none'" in english
    addresses = set(
        re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", re.sub(r"<text.*?</text>", "", english))
    )
    assert {address for address in addresses if not address.startswith("#")} <= {"x"}  # the hostile sentence's own
    assert not re.search(r"<(script|iframe|object|embed|link|base|form)\b", english)


def test_pictures_have_unique_ids(english: str) -> None:
    names = re.findall(r'\bid="([^"]+)"', english)
    assert len(names) == len(set(names))
    used = re.findall(r"url\(#([^)]+)\)", english)
    assert set(used) <= set(names)
    assert english.count("<svg") == 8


def test_left_out_rows_are_counted_with_their_reason(english: str) -> None:
    assert "1 × A reason of the model." in english
    assert "1 × infinite: one of the two words has probability 0" in english


def test_the_report_describes_how_it_was_made(scores: Path, english: str) -> None:
    assert file_sha256(scores) in english
    for signature in read_scores(scores)["signature"].unique():
        assert signature in english
    assert "unit:sentence|jackknife-t:400|bootstrap-t:2000|seed:0" in english
    assert f"pandas {pd.__version__}" in english


def test_a_chinese_report_of_chosen_models(scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "zh.html"
    arguments = [
        "report",
        str(scores),
        "--out",
        str(out),
        "--lang",
        "zh",
        "--model",
        "made-up-2",
        "--least-mass",
        "0.001",
    ]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    assert '<html lang="zh-CN">' in text
    assert "模型对照" in text
    assert "bert-base-chinese" not in text
    assert "0.1%" in text
    assert len(cells_of(text, "Model_bias")) == 1


@pytest.mark.parametrize(
    ("arguments", "part"),
    [(["--model", "nobody"], "nobody"), (["--least-mass", "2"], "least-mass"), (["--lang", "eu"], "lang")],
    ids=["model", "mass", "language"],
)
def test_invalid_report_options_are_refused(scores: Path, tmp_path: Path, arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(cli, ["report", str(scores), "--out", str(tmp_path / "x.html"), *arguments])
    assert done.exit_code != 0
    assert part in done.output + str(done.exception)
    assert not (tmp_path / "x.html").exists()


def test_an_unwritable_place_is_refused(scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.core.report.html_file.report_html", lambda *_, **__: "<html>")
    frame = read_scores(scores).head(30)
    with pytest.raises(BadFile, match="cannot be written"):
        write_report(frame, tmp_path / "no" / "such" / "folder.html", bias_numbers)


def test_one_side_only_is_a_dash_with_its_reason(scores: Path) -> None:
    frame = read_scores(scores)
    frame = frame[(frame["bias_log10"] > 0) & (frame["model"] == "made-up-2")]
    text = report_html(frame, bias_numbers, settings=ReportSettings(data="<b>.csv"))
    cell = cells_of(text, "Bias_woman")[0]
    assert "<b>—</b>" in cell
    assert "No sentence leans towards the female word." in cell
    assert "nan" not in re.sub(r"<[^>]*>", " ", text).lower()
    assert "&lt;b&gt;.csv" in text


def test_an_exported_row_has_every_number_and_its_signature(scores: Path) -> None:
    frame = read_scores(scores)
    summary = summarise(frame, model="made-up-2", resamples=50)
    row = numbers(summary, bias_numbers, None, {"bias_man": 1.0})
    assert row["model_bias_ln"] == summary.ln("model_bias").value
    assert (row["signature"], row["bias_man_table4_ln"], row["n"]) == (summary.signature, 1.0, summary.n)
    groups = table_lines([summary], bias_numbers, corrected={}, papers={}, say=lambda text: text)
    assert all(len(line.cells) == 1 for group in groups for line in group.lines)


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.98654, "0.987"), (4.191e-7, "4.19 × 10⁻⁷"), (0.0, "0"), (None, "—"), (float("nan"), "—"), (0.001, "0.001")],
)
def test_probabilities_are_formatted(p: float | None, text: str) -> None:
    assert probability(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5314, "+0.531"), (-0.00001, "+0.000"), (float("inf"), "+∞"), (float("-inf"), "−∞"), (None, "—")],
)
def test_signed_numbers_are_formatted(value: float | None, text: str) -> None:
    assert signed_number(value) == text


def test_percentages_and_intervals_are_formatted() -> None:
    assert [percent(share) for share in (0, 1, 0.431, 0.0008, 1e-6, 1e-33, None)] == [
        *("0%", "100%", "43.1%", "0.08%", "< 0.001%", "0%", "—")
    ]
    assert interval(None, 1.0) == ""
    assert interval(-0.5, 0.25, 2, signed=True) == "[−0.50, +0.25]"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2, 'a<mark class="f">她</mark>b'),
        (5, 9, 'a<mark class="f">她</mark>b'),
        (pd.NA, pd.NA, 'a<mark class="f">她</mark>b'),
    ],
    ids=["given", "outside", "missing"],
)
def test_the_keyword_of_a_sentence_is_marked(start: Any, end: Any, expected: str) -> None:
    assert marked({"sentence": "a她b", "start": start, "end": end, "keyword": "她", "side": "female"}) == expected


def test_a_sentence_without_its_keyword_is_not_marked() -> None:
    row = {"sentence": "a<b", "start": None, "end": None, "keyword": "她", "side": "", "pair": "他/她"}
    assert marked(row) == "a&lt;b"
    row |= {
        "bias_log10": float("nan"),
        "p_male": None,
        "p_female": None,
        "status": "<no>",
        "model": "m",
        "signature": "s",
    }
    text = list_html([row], say=lambda text: text)
    assert "—" in text
    assert "&lt;no&gt;" in text


def test_correlations_have_a_null_band_and_raw_ones_a_warning(english: str) -> None:
    corrected, raw = (
        english.index("Correlation (Pearson), prior-corrected"),
        english.index("Correlation (Pearson), raw"),
    )
    assert corrected < raw
    assert "within the null band of ±" in english[corrected:raw]
    assert (
        "Raw: includes the preferences of the word pairs themselves. If sentences are treated as independent, "
        "80% of the intervals between unrelated untrained models exclude 0" in english[raw:]
    )


def test_reasons_of_a_chinese_report_are_chinese(scores: Path, tmp_path: Path) -> None:
    """Five stems give no interval, and one row has a reason that was stored with its values."""
    path = tmp_path / "few.csv"
    frame = pd.read_csv(scores, keep_default_na=False, dtype=str)
    few = frame[frame["pair"].isin(("他/她", "爸爸/妈妈", "儿子/女儿", "哥哥/姐姐", "叔叔/阿姨"))].reset_index(
        drop=True
    )
    few.loc[1, ["p_male", "p_female", "bias_log10", "bias_ln", "pair_mass"]] = ""
    few.loc[1, "status"] = "The position cannot be repaired: 2 words match, but exactly one must."
    few.to_csv(path, index=False)
    text = report_html(
        read_scores(path), bias_numbers, settings=ReportSettings(data="few.csv", digest="0"), language="zh"
    )
    shown = re.sub("<[^>]+>", " ", re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S))
    assert "位置无法修复" in shown and "只有 5 个独立单位" in shown and "没有区间：只有" not in shown
    assert not english_left(shown)


def test_differences_of_two_models_are_next_to_their_margins(scores: Path) -> None:
    """In the report as in `bias`, and two seeds of one model do not count as two models."""
    frame = read_scores(scores)
    models = models_of(frame)
    margins: Margins = {"log10": 5.0, "auc": None}
    how: dict[str, Any] = {"margins": margins, "denominator": "side", "say": str}
    text = differences_html(frame, models, groups={}, **how)
    assert "bert-base-chinese − made-up-2, on the sentences both models scored" in text
    assert text.count("smaller than the margin") == 5 and "Margins: 5 (log10); none (AUC, 0 to 1)." in text
    result = paired_differences(frame, *models)
    smallest = [entry.smallest for entry in against_margins(result, margins).values()]
    assert all(f"<td>{plain_number(value)}</td>" in text for value in smallest) and "Set a margin" in text
    html = differences_html(frame, models, groups={"bert": tuple(models)}, **how)
    assert "<table" not in html and "seeds of one" in html
    means = seeds_html({name: summarise(frame, model=name) for name in models}, {"bert": tuple(models)}, str)
    assert "counted as one: bert (bert-base-chinese, made-up-2)" in means and "three seeds" in means
