"""Planted models before and after: the planted change is found, the placebo finds none; table, record, cost."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenhand.core.before_after.appendix import appendix
from evenhand.core.before_after.report import ModelsReport, read_record
from evenhand.core.before_after.run import before_and_after, built_in_language, built_in_source, columns
from evenhand.core.before_after.settings import Settings
from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.models.planted.masked import save
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import runs_folder, runs_in
from evenhand.core.scoring.settings import ScoreInput
from evenhand.core.typed_json import to_json

TEXTS = ["雨停了，他走了。", "男孩在家。", "爸爸来了，老师说他好。"] * 4


def few() -> ScoreInput:
    """Return two sentences of each pair."""
    whole = built_in_source()
    items = [item for item in whole.items() if item.row % 10 in (1, 2)]
    return ScoreInput("built-in", "few", "sentences", len(items), "0" * 64, lambda: iter(items))


def compared(
    folder: Path, before: str, after: tuple[str, ...], placebo: tuple[str, ...] = (), texts: bool = False, **more: Any
) -> ModelsReport:
    """Return the report of a comparison on a few sentences."""
    text = folder / "t.txt"
    text.write_text("\n".join(f"{text}{'好' * i}" for i, text in enumerate(TEXTS)) + "\n", encoding="utf-8")
    settings = Settings("", before, after, placebo, text if texts else None, **more)
    return before_and_after(settings, few(), Place(folder / "lab.db"))


def test_a_planted_change_is_recovered(tmp_path: Path) -> None:
    """planted:+1 leans by 1 on every sentence and planted:+0.3 by 0.3: every difference is -0.7."""
    report = compared(tmp_path, "planted:+1", ("planted:+0.3",), ("planted:+1",), texts=True, run_name="first")
    (after,), (placebo,) = report.after, report.placebo
    assert report.effect.value == pytest.approx(-0.7, abs=1e-4)
    assert placebo.size.value == 0 and after.before == pytest.approx(1, abs=1e-4)
    assert after.cost and placebo.cost and after.cost.tokens == placebo.cost.tokens > 0
    (run,) = runs_in(runs_folder(tmp_path / "lab.db", "comparisons"))
    table = pd.read_csv(run.table)
    names = columns(Settings("", "a", ("b",), ("c",)))
    assert run.name == "first" and list(table.columns) == names and len(table) == report.sentences
    read = read_record(run.record)
    assert isinstance(read, ModelsReport) and appendix(read) == appendix(report)
    assert json.loads(json.dumps(to_json(read), allow_nan=False)) == run.record


def test_a_record_of_another_kind_gives_no_report() -> None:
    assert read_record({"kind": "grid"}) is None and read_record({"measures": 1}) is None


def test_a_change_that_differs_by_pair_has_an_interval_and_a_verdict(tmp_path: Path) -> None:
    """planted:pairs leans by 0.35 or 0.6 either way: less than 1 everywhere."""
    result = compared(tmp_path, "planted:+1", ("planted:pairs",))
    assert (result.verdict, result.code) == ("leans less", "less") and (result.effect.high or 0) < 0
    assert [item.difference for item in result.moved] == sorted(item.difference for item in result.moved)
    back = compared(tmp_path, "planted:pairs", ("planted:+1",))
    assert back.verdict == "leans more"
    same = compared(tmp_path, "planted:pairs", ("planted:pairs",))
    assert same.verdict == "no difference shown" and same.effect.value == 0


def test_seeds_are_compared_with_their_placebos(tmp_path: Path) -> None:
    after = ("planted:+0.2", "planted:+0.3", "planted:+0.4")
    result = compared(tmp_path, "planted:+1", after, ("planted:+1",) * 3)
    effect = result.effect
    assert effect.method == "Welch's t over the seeds of a model and those of its placebo" and effect.units == 3
    assert effect.value == pytest.approx(-0.7, abs=1e-4) and result.verdict == "leans less"
    assert "only one seed" not in " ".join(result.rests) and "no placebo" not in " ".join(result.rests)


def test_the_report_contains_the_figures(tmp_path: Path) -> None:
    report = compared(tmp_path, "planted:+1", ("planted:pairs",), texts=True)
    text = appendix(report)
    assert "**leans less" in text and "| +1.000 | +0.350 |" in text and "| 他/她 |" in text
    assert "- Before: planted:+1. Models after: 1, placebos: 0." in text and f"SHA-256: `{'0' * 64}`" in text
    assert "What the verdict cannot rule out:" in text and "perplexity before" in text
    assert "There is no placebo" in text and report.models[1].signature in text
    assert "**偏向减小" in appendix(report, lambda said: {"leans less": "偏向减小"}.get(said, said))


def test_unswapped_pairs_are_reported_separately(tmp_path: Path) -> None:
    place = save("planted:+0.3", tmp_path / "tuned")
    swap = {"mode": "cds", "left_out": ["他/她", "老公/老婆"]}
    (place / "tuning.json").write_text(json.dumps({"source": {"swap": swap}}), encoding="utf-8")
    report = compared(tmp_path, "planted:+1", (str(place),))
    apart = report.left_out
    assert apart is not None and apart.pairs == ["他/她", "老公/老婆"]
    assert apart.left_out.items + apart.swapped.items == len(list(few().items()))
    assert apart.left_out.value == pytest.approx(-0.7, abs=1e-4) == apart.swapped.value
    assert "Pairs left out of the swap (他/她 老公/老婆): −0.700" in appendix(report)
    data = to_json(report)["left_out"]["left_out"]
    assert data["items"] == apart.left_out.items and data["units"] == 2


def test_models_with_different_tokenizers_have_no_cost(tmp_path: Path) -> None:
    result = compared(tmp_path, "planted:+1", ("demo-zh",), texts=True)
    assert result.after[0].cost is None and "tokenize text differently" in result.notices[0].text


def test_incomparable_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="one placebo for each seed"):
        Settings("", "a", ("b", "c"), ("d",))
    with pytest.raises(Refused, match="at least one model after"):
        Settings("", "a", ())
    with pytest.raises(ModelUnavailable):
        compared(tmp_path, "planted:+1", ("/nowhere",))


def test_the_built_in_items_are_in_the_language_of_the_model() -> None:
    languages = [
        built_in_language("built-in", model) for model in ("demo-zh", "demo-en", "bert-base-multilingual-cased")
    ]
    assert languages == ["zh", "en", "zh"]
    assert built_in_language("built-in:en", "demo-zh") == "en" == built_in_language("built-in", "demo-zh", "en")
    assert built_in_language("sentences.txt", "demo-zh") is None
    with pytest.raises(Refused, match="no built-in neutral sentences in eu"):
        built_in_language("built-in:eu", "demo-zh")


def test_the_language_of_a_tuned_model_is_that_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "tuning.json").write_text('{"base": {"name": "demo-en"}}', encoding="utf-8")
    assert built_in_language("built-in", str(tmp_path)) == "en"
    (tmp_path / "tuning.json").write_text("[]", encoding="utf-8")
    assert built_in_language("built-in", str(tmp_path)) == "zh"


def test_the_english_items_have_each_pair_in_its_contexts() -> None:
    source = built_in_source("en")
    results = list(source.items())
    first = results[0]
    assert (source.name, len(results)) == ("built-in:en", source.rows)
    assert (first.sentence, first.options, first.pair) == ("He came in.", ("He", "She"), "he/she")
    assert all(entry.sentence[entry.start : entry.end] == entry.options[0] for entry in results)
