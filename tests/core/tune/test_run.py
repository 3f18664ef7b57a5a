"""A run of tuning on planted and tiny models: folder, card, record, going on after a stop."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.errors import Refused
from evenhand.core.models.loading import load_masked
from evenhand.core.models.tuning.settings import Memory, Tuning
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.swap.word_tables import word_table
from evenhand.core.text.keywords import find, probe
from evenhand.core.tune import run as runs
from evenhand.core.tune.report import (
    delete_run,
    model_of,
    read_report,
    stopped_early,
    tuned_folder,
    tuned_runs,
    write_run,
)
from evenhand.core.tune.run import project, sides
from evenhand.core.tune.settings import Settings
from evenhand.core.tune.texts import TrainingTexts, training_texts
from evenhand.core.typed_json import fields_of

SENTENCES = ["他来了，今天。", "雨停了，他走了。", "男孩在家。", "爸爸来了。", "老师说他好。"]
TEXTS = [text + "。" * (i % 3) + "很好" * (i % 4) for i in range(12) for text in SENTENCES]
FEW = Tuning(steps=4, batch=4, rate=1e-3, every=2)


def texts(swap: Any = "none") -> TrainingTexts:
    return training_texts(TEXTS, "some.txt", swap=swap, words=word_table("zh"), share=0.2)


def tune(model: str, given: TrainingTexts, tuning: Tuning, folder: Path, watch: Any = None, **more: Any) -> Any:
    settings = Settings(**fields_of(tuning), model=model, texts=given.name, **more)
    return runs.tune(settings, given, folder, watch)


def bias(model: str) -> float:
    from evenhand.core.models import open_scorer

    value = bias_of(open_scorer(model, device="cpu").score([probe(find("他来了。")[0])])[0])
    assert value is not None
    return value


def test_tuning_removes_a_planted_lean_and_a_placebo_does_not(tmp_path: Path) -> None:
    """planted:+1 leans by 1 (log10). Swapped texts with as much 她 as 他 take it away; the same unswapped ones
    cannot."""
    tuning = Tuning(steps=40, batch=16, rate=0.1, every=40, patience=0)
    for swap in ("cda", "none"):
        tune("planted:+1", texts(swap), tuning, tmp_path / swap, device="cpu")
    assert bias("planted:+1") == pytest.approx(1, abs=1e-4)
    assert abs(bias(str(tmp_path / "cda"))) < 0.35
    assert bias(str(tmp_path / "none")) > 0.9


def test_a_run_writes_folder_card_and_record(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    report = tune(
        "planted:+1", texts("cds"), FEW, tmp_path / "out", device="cpu", watch=lambda a, b, _: seen.append((a, b))
    )
    record = json.loads((report.folder / "tuning.json").read_text(encoding="utf-8"))
    assert record == report.record and record["steps"] == 4 and len(record["curve"]) == 2
    read = read_report(record)
    assert read is not None and read.record == record and "folder" not in record
    assert record["held_out"]["before"]["tokens"] == record["held_out"]["after"]["tokens"] > 0
    card = (report.folder / "README.md").read_text(encoding="utf-8")
    assert 'base_model: "planted:+1"' in card and "(CDS)" in card and FEW.signature in card
    assert seen[-1] == (4, 4) and load_masked(str(report.folder)).weights != record["base"]["weights"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # no checkpoints are left
    with pytest.raises(Refused, match="out already exists"):
        tune("planted:+1", texts(), FEW, tmp_path / "out", device="cpu")


def test_an_equal_call_resumes_and_another_starts_again(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def kill(done: int, total: int | None, said: str) -> None:
        if done == 3:
            raise Killed

    for name in ("same", "other"):
        with pytest.raises(Killed):
            tune("planted:+1", texts(), FEW, tmp_path / name, device="cpu", watch=kill)
    same = tune("planted:+1", texts(), FEW, tmp_path / "same", device="cpu")
    whole = tune("planted:+1", texts(), FEW, tmp_path / "whole", device="cpu")
    assert same.resumed_at == 2 and same.curve == whole.curve
    assert load_masked(str(same.folder)).weights == load_masked(str(whole.folder)).weights
    other = tune("planted:+1", texts(), Tuning(steps=4, batch=4, rate=2e-3, every=2), tmp_path / "other", device="cpu")
    assert other.resumed_at == 0


def test_a_run_that_stops_early_is_reported_as_done(tmp_path: Path) -> None:
    """planted:+1 cannot learn anything at a rate near 0, so the second look is the last."""
    seen: list[tuple[int, int | None]] = []
    tuning = Tuning(steps=40, batch=4, rate=1e-9, every=1, patience=1)
    result = tune(
        "planted:+1", texts(), tuning, tmp_path / "out", device="cpu", watch=lambda a, b, _: seen.append((a, b))
    )
    steps = result.steps
    assert result.stopped_early and steps < 40 and seen[-1] == (steps, steps)
    notice = stopped_early(result)
    assert notice is not None and notice.text == (
        f"Stopped early at step {steps} of 40: no improvement on held-out text in 1 consecutive evaluations."
        f" The result is the model of step {result.best_step}."
    )
    assert stopped_early(replace(result, stopped_early=False)) is None


def test_too_little_memory_is_refused_before_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.core.models.tuning.training import Changeable

    monkeypatch.setattr(Changeable, "forecast", lambda *_: Memory(2**30, 0, 0, 0, 2**29))
    with pytest.raises(
        Refused,
        match=r"about 1\.0 GiB of memory, but 0\.5 GiB are free",
    ):
        tune("planted:+1", texts(), FEW, tmp_path / "out", device="cpu")
    assert tune("planted:+1", texts(), FEW, tmp_path / "out", device="cpu", force=True).memory["total"] == 2**30


def test_a_direction_is_removed_from_a_model(tmp_path: Path) -> None:
    report = project(
        Settings(model="demo-zh", texts="t", method="sentence-debias", device="cpu"), texts(), word_table("zh"),
        tmp_path / "out",
    )  # fmt: skip
    assert report.directions == 1 and "SentenceDebias" in (report.folder / "README.md").read_text(encoding="utf-8")
    assert load_masked(str(report.folder)).weights != report.base.weights


def test_sides_are_pairs_with_the_male_text_first() -> None:
    assert sides(["她走了。", "他和她。", "天黑了。"], word_table("zh")) == [("他走了。", "她走了。")]


def test_runs_are_listed_and_deleted_with_their_model(tmp_path: Path) -> None:
    database = tmp_path / "lab.db"
    folder = tuned_folder(tmp_path / "lab-tunes", "back v1.2")
    report = tune("planted:+1", texts("cda"), FEW, folder, device="cpu")
    write_run(report)
    (run,) = tuned_runs(database)
    assert (run.name, model_of(run), run.models) == ("back v1.2", folder, ("back v1.2",))
    assert run.table.read_text(encoding="utf-8").splitlines()[0] == "step,loss,held_out_loss,held_out_accuracy"
    delete_run(run)
    assert list((tmp_path / "lab-tunes").iterdir()) == [] and tuned_runs(database) == []
