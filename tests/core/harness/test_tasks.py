"""Tasks for the harnesses: what is in the folder, and, where lm_eval is installed, that it gives our own numbers."""

import ast
import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.core.errors import Refused
from evenhand.core.harness.logs import read_log
from evenhand.core.harness.tasks import HARNESSES, Harness, pairs, task_files, task_name
from evenhand.core.models import open_scorer
from evenhand.core.types import MaskedSentence
from tests.support.tiny_models import tiny_causal

SENTENCES = [
    ("the nurse said he was tired", "he", "she", "male"),
    ("a doctor said she was here", "she", "he", "female"),
    ("he will go", "he", "she", "male"),
]


def released(sentences: list[tuple[str, str, str, str]] = SENTENCES) -> list[dict[str, Any]]:
    """Return rows as data/train.jsonl of a release has them."""
    results = []
    for number, (text, keyword, counterpart, side) in enumerate(sentences):
        start = f" {text} ".index(f" {keyword} ")
        span = {"start": start, "end": start + len(keyword)}
        results.append({"id": f"i{number}", "text": text, "pair": "he/she", "side": side, "keyword": keyword,
                      "counterpart": counterpart, **span, "stem_start": start, "stem_end": start})  # fmt: skip
    return results


def files(harness: Harness, **more: Any) -> dict[str, str]:
    metadata = {"project": "My set", "version": "1.0", "language": "en", "content_hash": "ab"} | more
    return task_files(harness, released(), **metadata)


def test_the_male_sentence_is_first_and_letters_alternate() -> None:
    first, second, third = pairs(released())
    assert first["choices"] == ["the nurse said he was tired", "the nurse said she was tired"]
    assert second["choices"] == ["a doctor said he was here", "a doctor said she was here"]
    assert (first["gap"], first["options"], first["male_is"]) == ("the nurse said ____ was tired", ["he", "she"], "A")
    assert (second["options"], second["male_is"], third["male_is"]) == (["she", "he"], "B", "A")


@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("project", ["My set", '"""\nimport os #', "示例 · Demo", "{x}", "a: b\n- c"])
@pytest.mark.parametrize("language", ["zh", "en", "ja"])
def test_task_files_are_valid_for_any_project_name(harness: Harness, project: str, language: str) -> None:
    made = files(harness, project=project, language=language)
    assert [json.loads(line)["id"] for line in made["pairs.jsonl"].splitlines()] == ["i0", "i1", "i2"]
    name = task_name(project, "1.0")
    assert name.isidentifier() and name.startswith("evenhand")
    for file, text in made.items():
        if file.endswith(".py"):
            tree = ast.parse(text)
            assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import) and "os" in ast.dump(node)]
        elif file.endswith(".yaml"):
            data = yaml.safe_load(text.replace("!function ", ""))
            assert (data["task"], data["doc_to_choice"], data["target_delimiter"]) == (name, "choices", "")


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(Refused, match="contains no sentence with a keyword"):
        task_files("inspect", [], project="x", version="1", language="zh", content_hash="")


@pytest.mark.long
@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm_eval is not installed")
def test_lm_eval_gives_equal_numbers(tmp_path: Path) -> None:
    """The real harness on a tiny model; its sums are of whole sentences, in which the shared beginning cancels."""
    model, task = tmp_path / "model", tmp_path / "task"
    model.mkdir()
    task.mkdir()
    tiny_causal(model, "llama")
    for file, text in files("lm-eval").items():
        (task / file).write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "lm_eval",
        "run",
        "--model",
        "hf",
        "--model_args",
        f"pretrained={model},dtype=float32",
    ]
    command += [
        "--tasks",
        "evenhand_my_set_1_0",
        "--include_path",
        task,
        "--log_samples",
        "--output_path",
        tmp_path / "out",
    ]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    subprocess.run([*command, "--device", "cpu", "--batch_size", "1"], check=True, env=os.environ | offline)
    (log,) = (tmp_path / "out").rglob("samples_*.jsonl")
    results = [score.bias_log10 for score in read_log(log).scores]
    probes = [MaskedSentence(row["text"], row["start"], row["end"], ("he", "she")) for row in released()]
    own = [entry.logprobs for entry in open_scorer(str(model), method="pair-sum").score(probes)]
    expected = [(male - female) / math.log(10) for male, female in own if male is not None and female is not None]
    assert len(expected) == 3 and results == pytest.approx(expected, abs=2e-5)
