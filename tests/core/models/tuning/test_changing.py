"""A model is trained further, is stopped, continues: the numbers are those of an unbroken run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models.loaded import digest
from evenhand.core.models.loading import load_causal, load_masked
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Tuning
from evenhand.core.models.tuning.training import WHOLE, Changeable, latest_checkpoint
from tests.support.tiny_models import bert, tiny_causal

TEXTS = ["他是医生。", "她是护士。", "爸爸说很好。", "妈妈在看书。", "老师来了。", "今天早上很高兴。"] * 3


class Stopped(Exception):
    """As good as kill -9: the run gets no chance to react."""


def stop_at(step: int) -> Callable[[int, int], None]:
    def on_step(done: int, total: int) -> None:
        if done == step:
            raise Stopped

    return on_step


@pytest.fixture(scope="module")
def base(tmp_path_factory: Any) -> str:
    folder = tmp_path_factory.mktemp("base")
    bert(folder, num_hidden_layers=1)
    return str(folder)


def trained(base: str, work: Path, tuning: Tuning, stop: int = 0) -> tuple[Changeable, list[tuple[int, float]]]:
    changed, looks = Changeable(base, dropout=tuning.dropout, device="cpu"), []
    if tuning.lora:
        changed.put_adapters(tuning.lora, tuning.seed)
    rows = changed.rows(TEXTS, tuning.length)
    on_step = stop_at(stop) if stop else None
    changed.train(
        rows[:14],
        rows[14:],
        tuning,
        work,
        on_step=on_step,
        on_look=lambda step, loss, found: looks.append((step, found.loss)),
    )
    return changed, looks


@pytest.mark.parametrize("lora", [0, 2])
def test_a_resumed_run_ends_in_equal_numbers(base: str, tmp_path: Path, lora: int) -> None:
    tuning = Tuning(steps=8, batch=3, rate=3e-3, every=4, patience=3, dropout=BERT_DROPOUT, lora=lora)
    whole, looks = trained(base, tmp_path / "whole", tuning)
    with pytest.raises(Stopped):
        trained(base, tmp_path / "stopped", tuning, stop=7)
    went_on, later = trained(base, tmp_path / "stopped", tuning)
    assert [step for step, _ in looks] == [4, 8] and later == looks[1:]
    for weight, other in zip(whole.model.state_dict().values(), went_on.model.state_dict().values(), strict=True):
        assert torch.equal(weight, other)
    whole.save(tmp_path / "out", adapters=bool(lora))
    reloaded = load_masked(str(tmp_path / "out"))
    assert reloaded.weights != load_masked(base).weights
    assert (tmp_path / "out" / "adapter").is_dir() == bool(lora)


def test_training_lowers_the_loss_on_the_texts(base: str, tmp_path: Path) -> None:
    changed = Changeable(base, device="cpu")
    rows = changed.rows(TEXTS, 32)
    before = changed.held_out(rows).loss
    result = changed.train(rows, rows, Tuning(steps=30, batch=6, rate=1e-2, every=30, patience=0), tmp_path / "work")
    assert changed.held_out(rows).loss < before - 1
    assert (result.steps, result.best_step, result.early, result.resumed_at) == (30, None, False, 0)


def test_training_stops_early_when_held_out_loss_rises(base: str, tmp_path: Path) -> None:
    changed = Changeable(base, device="cpu")
    rows = changed.rows(["他是他是他是他是。"], 32) * 6
    other = changed.rows(["妈妈在看书画山水。"], 32) * 2
    tuning = Tuning(steps=60, batch=4, rate=2e-2, every=3, patience=2)
    result = changed.train(rows, other, tuning, tmp_path / "work")
    assert result.early and result.steps < 60 and result.best_step is not None and result.best_step < result.steps


def test_a_causal_model_is_trained_and_loads(tmp_path: Path) -> None:
    tiny_causal(tmp_path / "base", "llama")
    changed = Changeable(str(tmp_path / "base"), device="cpu")
    rows = changed.rows(["She ran home.", "He said it.", "They went"] * 4, 32)
    changed.train(rows, rows, Tuning(steps=4, batch=4, rate=1e-3, every=4), tmp_path / "work")
    changed.save(tmp_path / "out")
    assert load_causal(str(tmp_path / "out")).weights != changed.before.weights


def test_dropout_is_set_per_layer_and_can_be_off(base: str) -> None:
    changed = Changeable(base, dropout=BERT_DROPOUT, device="cpu")
    shares = {path: layer.p for path, layer in changed.model.named_modules() if isinstance(layer, torch.nn.Dropout)}
    attention = {path: share for path, share in shares.items() if path.endswith("attention.self.dropout")}
    assert set(attention.values()) == {0.15} and {shares[path] for path in shares.keys() - attention.keys()} == {0.2}
    rows = changed.rows(TEXTS, 32)
    changed.model.train()
    assert changed.held_out(rows).loss == changed.held_out(rows).loss and changed.model.training


def test_models_without_dropout_and_missing_models(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        Changeable(str(tmp_path / "none"))


def test_half_written_checkpoints_are_not_used(tmp_path: Path) -> None:
    for step in (4, 8, 12):
        (tmp_path / f"checkpoint-{step}").mkdir()
    for step in (4, 8):
        (tmp_path / f"checkpoint-{step}" / WHOLE).touch()
    assert latest_checkpoint(tmp_path) == tmp_path / "checkpoint-8"
    assert not (tmp_path / "checkpoint-12").exists()


def test_the_memory_forecast_counts_trained_parameters(base: str) -> None:
    changed = Changeable(base, device="cpu")
    numbers = sum(parameter.numel() for parameter in changed.model.parameters())
    memory = changed.forecast(Tuning(batch=2, length=16))
    assert (memory.weights, memory.gradients, memory.optimizer) == (4 * numbers, 4 * numbers, 8 * numbers)
    changed.put_adapters(2, 0)
    assert changed.forecast(Tuning(batch=2, length=16)).gradients < memory.gradients


def test_a_saved_model_has_the_digest_of_its_base(base: str, tmp_path: Path) -> None:
    changed = Changeable(base, device="cpu")
    changed.save(tmp_path / "same")
    same = load_masked(str(tmp_path / "same"))
    assert digest(same.model, same.tokenizer) == changed.before.weights
