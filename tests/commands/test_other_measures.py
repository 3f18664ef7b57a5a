"""`weat`, `crows`, `stereoset` as scripts read them."""

import json
from pathlib import Path

from tests.support.terminal import answered, typed
from tests.support.tiny_models import bert


def test_weat(tmp_path: Path) -> None:
    sets = {name: [f"{name}{i}" for i in range(2)] for name in "XYAB"}
    (tmp_path / "s.json").write_text(json.dumps(sets))
    lines = [
        f"{word} {i + 1} {(3 * i) % 7} 1" for i, word in enumerate(word for words in sets.values() for word in words)
    ]
    (tmp_path / "v.txt").write_text("\n".join(["8 3", *lines]))
    found = answered("weat", "--sets", tmp_path / "s.json", "--vectors", tmp_path / "v.txt", "--test", "X,Y,A,B",
                     "--test", "Y,X,A,B")  # fmt: skip
    first, second = found["tests"]
    assert set(first) >= {"test", "effect", "p", "exact", "partitions"} and first["partitions"] == 6
    assert first["effect"] == -second["effect"]


def test_crows(tmp_path: Path) -> None:
    bert(tmp_path / "m", num_hidden_layers=1)
    (tmp_path / "c.csv").write_text("sent_more,sent_less,bias_type\n他是医生。,她是医生。,gender\n", encoding="utf-8")
    for variant in ("published", "changed", "mean"):
        found = answered(
            "crows", tmp_path / "c.csv", "--model", tmp_path / "m", "--variant", variant, "--device", "cpu"
        )
        assert found["variant"] == variant and found["pairs"] == 1 and "weights:" in found["signature"]
        assert found["score"] in (0.0, 100.0) and found["ties"] == 0


def test_stereoset(tmp_path: Path) -> None:
    data = {label: {"id": str(i)} for i, label in enumerate(("stereotype", "anti-stereotype", "unrelated"))}
    (tmp_path / "i.json").write_text(json.dumps([{"target": "t", "data": data}]))
    (tmp_path / "s.json").write_text(json.dumps({"0": 2, "1": 1, "2": 0}))
    found = answered("stereoset", "--items", tmp_path / "i.json", "--scores", tmp_path / "s.json")
    assert found == {"lms": 100.0, "ss": 100.0, "icat": 0.0, "items": 1, "terms": 1}
    (tmp_path / "s.json").write_text(json.dumps({"a": {"0": 2}, "b": {"0": 2}}))
    ended = typed("stereoset", "--items", tmp_path / "i.json", "--scores", tmp_path / "s.json")
    assert ended.code == 2 and "name one with --model: a, b" in ended.stderr
