"""`misgendering run`: both ways in one go with a planted model, ended and gone on with, models that cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.misgendering import run as misgendering
from evenhand.core.misgendering.metrics import by_cell
from evenhand.core.misgendering.run import Settings, run
from evenhand.core.misgendering.verdict_table import read_verdicts
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import runs_folder, runs_in
from evenhand.core.text.pronouns import first_pronoun_result

MODEL = "planted:pronouns"
FEW = ["--limit", "8", "--passes", "1", "--each", "2", "--new-tokens", "4"]


def command(folder: Path, *options: str) -> Any:
    words = ["misgendering", "run", "--model", MODEL, "--db", str(folder / "evenhand.db"), *options]
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def test_a_run_writes_table_texts_and_record(tmp_path: Path) -> None:
    data = json.loads(command(tmp_path, *FEW, "--run", "one", "--json").stdout)
    (run,) = runs_in(runs_folder(tmp_path / "evenhand.db", "misgendering"))
    assert run.name == "one" and run.models == (MODEL,) and data["instances"] == 8
    frame = read_verdicts(run.table)
    assert len(frame) == 8 and {"template", "name", "gen1", "gen2", "prob", "prob_sum"} <= set(frame)
    texts = [json.loads(line) for line in run.table.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(texts) == 16
    assert run.table.with_suffix(".jsonl").stat().st_mode & 0o077 == 0
    for text in texts:  # every verdict of the table is that of its text
        row = frame[frame["instance"] == text["instance"]].iloc[0]
        assert (
            row[f"gen{text['index'] + 1}"] == first_pronoun_result(text["completion"], text["pronouns"], "own").correct
        )
    assert not [path for path in run.table.parent.iterdir() if path.name.startswith(".")]


def test_intervals_contain_the_planted_rates(tmp_path: Path) -> None:
    """he, she, they, xe misgendered for 0.1, 0.2, 0.4, 0.6 of the names: the shares of right verdicts are the rest."""
    command(tmp_path, "--run", "planted", "--each", "0", "--passes", "5")
    (run,) = runs_in(runs_folder(tmp_path / "evenhand.db", "misgendering"))
    results = {key["pronoun"]: cell.prob for key, cell in by_cell(read_verdicts(run.table, generations=False))}
    for pronoun, rate in {"he": 0.1, "she": 0.2, "they": 0.4, "xe": 0.6}.items():
        low, high = results[pronoun].low, results[pronoun].high
        assert low is not None and high is not None and low <= 1 - rate <= high


def both(folder: Path, name: str, *, model: str = MODEL, progress: Any = lambda *_: None) -> Path:
    """Return the table of a run on six instances."""
    settings = Settings(models=(model,), run_name=name, each=2, passes=1, limit=6, new_tokens=4)
    return run(settings, Place(folder / "evenhand.db", progress)).out


def test_an_interrupted_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = both(tmp_path, "whole")

    def ended(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    out = whole.with_name("ended.csv")
    with monkeypatch.context() as patch:
        patch.setattr(misgendering, "verdicts_on", ended)
        with pytest.raises(KeyboardInterrupt):
            both(tmp_path, "ended")
    assert not out.exists()
    with monkeypatch.context() as patch:  # what was written is not written again
        patch.setattr(misgendering, "write_texts", ended)
        assert both(tmp_path, "ended") == out
    assert out.read_bytes() == whole.read_bytes()
    assert out.with_suffix(".jsonl").read_bytes() == whole.with_suffix(".jsonl").read_bytes()


def test_progress_covers_texts_and_verdicts(tmp_path: Path) -> None:
    progress: list[tuple[int, int | None]] = []
    both(tmp_path, "a", progress=lambda done, total=None, message="": progress.append((done, total)))
    assert {total for _, total in progress} == {6 * 2 + 6}
    assert [done for done, _ in progress] == sorted(done for done, _ in progress) and progress[-1][0] == 18


def test_a_masked_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for model in ("known", "no-such-folder/model"):
        with pytest.raises((ModelUnavailable, Refused)):
            both(tmp_path, "a", model=model)
    assert not list(tmp_path.rglob("*.csv"))


def test_a_taken_run_name_is_refused(tmp_path: Path) -> None:
    command(tmp_path, *FEW, "--run", "one")
    with pytest.raises(Refused, match="A run named one already exists"):
        command(tmp_path, *FEW, "--run", "one")
