"""`tune`: a folder with its record, what is refused, and kill -9."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.core.models.loading import load_masked
from evenhand.core.resources import ROOT
from evenhand.core.runs.records import runs_folder
from evenhand.core.tune.report import tuned_runs
from tests.support.released_project import ready_project
from tests.support.terminal import answered, typed
from tests.support.waiting import until

FEW = ("--steps", "4", "--batch", "4", "--rate", "0.01", "--every", "2", "--held-out", "0.2", "--device", "cpu")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text(
        "".join(f"他来了{'，很好' * (i % 7)}{'。' * (i % 5 + 1)}\n男孩在家{i}。\n" for i in range(30)), encoding="utf-8"
    )
    return path


def test_a_model_is_tuned_into_a_folder(texts: Path, tmp_path: Path) -> None:
    result = answered("tune", "planted:+1", texts, "--swap", "cda", "--language", "zh", "--leave-out", "男孩/女孩",
                     "--lora", "0", "--out", tmp_path / "out", *FEW)  # fmt: skip
    assert result["steps"] == 4 and result["source"]["swap"]["left_out"] == ["男孩/女孩"]
    assert "他/她" in result["source"]["swap"]["pairs"] and "女孩/男孩" not in result["source"]["swap"]["pairs"]
    assert load_masked(str(tmp_path / "out")).weights != result["base"]["weights"]


def test_a_run_is_listed_and_a_direction_taken_out(texts: Path, tmp_path: Path) -> None:
    db = str(tmp_path / "lab.db")
    ended = typed("tune", "planted:+1", texts, "--method", "sentence-debias", "--language", "zh", "--run", "debiased",
                  "--db", db, "--device", "cpu")  # fmt: skip
    assert ended.code == 0 and "SentenceDebias: 1 directions" in ended.stdout and "probe accuracy" in ended.stdout
    (run,) = tuned_runs(db)
    assert run.name == "debiased" and (runs_folder(db, "tunes") / "debiased" / "README.md").is_file()


def test_a_model_is_tuned_on_the_accepted_sentences_of_a_project(fresh_store: Store, tmp_path: Path) -> None:
    project = ready_project(fresh_store)
    ended = typed("tune", "planted:+1", f"project:{project.name}", "--out", tmp_path / "out", *FEW, "--held-out", "0.4",
                  "--db", fresh_store.path)  # fmt: skip
    assert (ended.code, ended.stderr) == (0, "") or "texts for training and" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--swap", "cda", "--out", "x"), "need the language"),
        (("--method", "inlp", "--out", "x"), "need the language"),
        ((), "Give an output for the model"),
        (("--out", "x", "--steps", "0"), "steps must be between 1 and"),
        (
            ("--out", "x", "--language", "zh", "--leave-out", "他/男"),
            "他/男 is not one of the swapped pairs; write it like 男孩/女孩.",
        ),
    ],
)
def test_wrong_options_of_tune_are_one_sentence(texts: Path, arguments: tuple[str, ...], says: str) -> None:
    ended = typed("tune", "planted:+1", texts, *arguments)
    assert ended.code == 2 and says in ended.stderr


@pytest.mark.long
def test_a_killed_run_is_continued_by_the_same_command(texts: Path, tmp_path: Path) -> None:
    """The weights are bit for bit those of a run without interruption."""

    def command(name: str) -> list[str]:
        numbers = ["--steps", "40", "--batch", "4", "--rate", "0.001", "--every", "5", "--device", "cpu"]
        return [sys.executable, "cli.py", "tune", "demo-zh", str(texts), "--out", str(tmp_path / name),
                "--held-out", "0.2", *numbers, "--dropout", "0.2", "0.15", "--json"]  # fmt: skip

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command("killed"), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    work = tmp_path / ".killed.work"
    until(lambda: len(list(work.glob("checkpoint-*/whole"))) > 0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    records = {}
    for name in ("killed", "whole"):
        done = subprocess.run(command(name), cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        records[name] = json.loads(done.stdout)
    assert records["killed"]["resumed_at"] > 0 == records["whole"]["resumed_at"]
    assert records["killed"]["curve"] == records["whole"]["curve"]
    assert len({load_masked(str(tmp_path / name)).weights for name in records}) == 1
