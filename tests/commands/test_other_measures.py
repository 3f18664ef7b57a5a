"""`weat`, `crows`, `stereoset` as scripts read them."""

import json
from pathlib import Path

from tests.support.terminal import answered, typed
from tests.support.tiny_models import bert


def test_weat_prints_effects_of_word_vectors(tmp_path: Path) -> None:
    sets = {name: [f"{name}{i}" for i in range(2)] for name in "XYAB"}
    (tmp_path / "s.json").write_text(json.dumps(sets))
    lines = [
        f"{word} {i + 1} {(3 * i) % 7} 1" for i, word in enumerate(word for words in sets.values() for word in words)
    ]
    (tmp_path / "v.txt").write_text("\n".join(["8 3", *lines]))
    result = answered("weat", "--sets", tmp_path / "s.json", "--vectors", tmp_path / "v.txt", "--test", "X,Y,A,B",
                     "--test", "Y,X,A,B")  # fmt: skip
    first, second = result["tests"]
    assert set(first) >= {"test", "effect", "p", "exact", "partitions"} and first["partitions"] == 6
    assert first["effect"] == -second["effect"]


def test_crows_prints_score_and_ties(tmp_path: Path) -> None:
    bert(tmp_path / "m", num_hidden_layers=1)
    (tmp_path / "c.csv").write_text("sent_more,sent_less,bias_type\n他是医生。,她是医生。,gender\n", encoding="utf-8")
    for variant in ("published", "changed", "mean"):
        result = answered(
            "crows", tmp_path / "c.csv", "--model", tmp_path / "m", "--variant", variant, "--device", "cpu"
        )
        assert result["variant"] == variant and result["pairs"] == 1 and "weights:" in result["signature"]
        assert result["score"] in (0.0, 100.0) and result["ties"] == 0


def test_stereoset_prints_scores_of_a_model(tmp_path: Path) -> None:
    data = {label: {"id": str(i)} for i, label in enumerate(("stereotype", "anti-stereotype", "unrelated"))}
    (tmp_path / "i.json").write_text(json.dumps([{"target": "t", "data": data}]))
    (tmp_path / "s.json").write_text(json.dumps({"0": 2, "1": 1, "2": 0}))
    result = answered("stereoset", "--items", tmp_path / "i.json", "--scores", tmp_path / "s.json")
    assert result == {"lms": 100.0, "ss": 100.0, "icat": 0.0, "items": 1, "terms": 1}
    (tmp_path / "s.json").write_text(json.dumps({"a": {"0": 2}, "b": {"0": 2}}))
    ended = typed("stereoset", "--items", tmp_path / "i.json", "--scores", tmp_path / "s.json")
    assert ended.code == 2 and "choose one with --model: a, b" in ended.stderr


def test_other_measures_are_run_on_a_model(tmp_path: Path) -> None:
    bert(tmp_path / "m", seed=3, num_hidden_layers=1)
    sets = {name: list(words) for name, words in zip("XYAB", ("医护", "老师", "男爸", "女妈"), strict=True)}
    (tmp_path / "w.json").write_text(json.dumps(sets), encoding="utf-8")
    words = ("other-measures", "weat", "--model", tmp_path / "m", "--set", tmp_path / "w.json", "--test", "X,Y,A,B",
             "--device", "cpu", "--db", tmp_path / "e.db")  # fmt: skip
    result = answered(*words, "--run", "first")
    assert [figure["role"] for figure in result["models"][0]["figures"]] == ["model", "control", "untrained"]
    assert (tmp_path / "e-measures" / "first.csv").is_file() and result["published"][0][
        "source"
    ] == "Caliskan et al. 2017"
    text = typed(*words, "--no-untrained").stdout
    assert "by chance" in text and "Ethayarajh" in text and "untrained" not in text
    assert typed("other-measures", "crows", "--model", "known").code == 2


def test_classifier_gaps_prints_fped_and_fned(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("gold,predicted,group\n0,1,a\n0,0,b\n1,1,a\n1,1,b\n", encoding="utf-8")
    result = answered("classifier-gaps", tmp_path / "p.csv")
    assert result["fped"]["value"] == 1.0 and result["fned"]["value"] == 0.0 and result["fped"]["p"] > 0.4
    text = typed("classifier-gaps", tmp_path / "p.csv").stdout
    assert "groups by chance" in text and "fped  1.0000" in text
