"""StereoSet's scores: golden numbers of the published files, a case by hand, files that do not fit."""

import json
from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.other_measures.stereotypes import Item, read_item_scores, read_items, stereoset
from evenhand.core.resources import ROOT

SET = ROOT.parent / "shared" / "data" / "benchmarks" / "stereoset"
PUBLISHED = {  # docs/other_measures.md#stereoset
    "gpt2": (93.2779, 62.6678, 69.6454),
    "bert-base-cased": (82.5033, 61.4820, 63.5572),
    "bert-large-cased": (83.1016, 64.0363, 59.7728),
    "roberta-base": (71.3553, 54.2077, 65.3504),
    "xlnet-large-cased": (74.1592, 53.9945, 68.2347),
}


@pytest.mark.skipif(not SET.is_dir(), reason="the set lies beside the project, not in it")
@pytest.mark.parametrize("model", PUBLISHED)
def test_scores_equal_published_ones(model: str) -> None:
    scores = read_item_scores(SET / "published_gender_scores.json")
    name = next(name for name in scores if name.startswith(f"{model}_"))
    result = stereoset(read_items(SET / "gender_intrasentence.json"), scores[name])
    assert (result.lms, result.ss, result.icat) == tuple(pytest.approx(value, abs=5e-5) for value in PUBLISHED[model])
    assert result.items == 255


def test_terms_have_equal_weight_for_any_number_of_items() -> None:
    items = [Item("a", ("1", "2", "3")), Item("a", ("4", "5", "6")), Item("b", ("7", "8", "9"))]
    scores = dict(zip("123456789", (3, 2, 1, 1, 2, 3, 2, 1, 1.5), strict=True))
    result = stereoset(items, scores)
    assert result.lms == (50 + 50) / 2 and result.ss == (50 + 100) / 2
    assert result.icat == result.lms * min(result.ss, 100 - result.ss) / 50 and result.terms == 2


def test_all_formats_of_items_and_scores_are_read(tmp_path: Path) -> None:
    sentences = [
        {"id": str(i), "gold_label": label} for i, label in enumerate(("stereotype", "anti-stereotype", "unrelated"))
    ]
    (tmp_path / "a.json").write_text(json.dumps({"data": {"intrasentence": [{"target": "t", "sentences": sentences}]}}))
    data = {sentence["gold_label"]: {"id": sentence["id"]} for sentence in sentences}
    (tmp_path / "b.json").write_text(json.dumps([{"target": "t", "data": data}]))
    assert read_items(tmp_path / "a.json") == read_items(tmp_path / "b.json") == [Item("t", ("0", "1", "2"))]
    plain = {"0": 1.0, "1": 2.0}
    for name, given in (("c", plain), ("d", {"intrasentence": [{"id": i, "score": s} for i, s in plain.items()]})):
        (tmp_path / name).write_text(json.dumps(given))
        assert read_item_scores(tmp_path / name) == {"": plain}
    (tmp_path / "e").write_text(json.dumps({"m": plain}))
    assert read_item_scores(tmp_path / "e") == {"m": plain}


def test_invalid_stereoset_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{]")
    with pytest.raises(BadFile, match="not a JSON file"):
        read_items(tmp_path / "x")
    (tmp_path / "x").write_text("[]")
    with pytest.raises(BadFile, match="no StereoSet items"):
        read_items(tmp_path / "x")
    (tmp_path / "x").write_text('{"a": "b"}')
    with pytest.raises(BadFile, match="no scores"):
        read_item_scores(tmp_path / "x")
    with pytest.raises(BadFile, match="no score for 2 of 3"):
        stereoset([Item("t", ("1", "2", "3"))], {"1": 0.5})
