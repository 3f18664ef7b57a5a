"""Held-out figures against the plain definition: one text at a time, every place alone."""

import math
from pathlib import Path

import pytest
import torch

from evenhand.core.models.loading import load_causal, load_masked
from evenhand.core.models.tuning.training import SEED, _masked_places, held_out
from tests.support.tiny_models import bert, tiny_causal

TEXTS = ["他是医生。", "她在看书画山水，很高兴。", "爸爸"]


def test_masked_loss_and_accuracy_equal_the_definition(tmp_path: Path) -> None:
    bert(tmp_path)
    loaded = load_masked(str(tmp_path))
    rows = [loaded.tokenizer(text)["input_ids"] for text in TEXTS]
    result = held_out(loaded.model, loaded.tokenizer, rows, "masked")
    places, total, right, count = torch.Generator().manual_seed(SEED), 0.0, 0, 0
    for row in rows:
        hidden = _masked_places(row, loaded.tokenizer, places)
        given = torch.tensor([[loaded.tokenizer.mask_token_id if i in hidden else t for i, t in enumerate(row)]])
        with torch.no_grad():
            logprobs = loaded.model(given).logits[0].log_softmax(-1)
        total -= sum(float(logprobs[i, row[i]]) for i in hidden)
        right += sum(int(logprobs[i].argmax()) == row[i] for i in hidden)
        count += len(hidden)
    assert result.tokens == count and result.texts == 3 and result.accuracy == right / count
    assert result.loss == pytest.approx(total / count, abs=1e-5)
    assert sum(losses[0] for losses in result.per_text) / count == pytest.approx(result.loss)


def test_causal_loss_is_over_every_token_except_the_first(tmp_path: Path) -> None:
    tiny_causal(tmp_path, "llama")
    loaded = load_causal(str(tmp_path))
    rows = [loaded.tokenizer(text)["input_ids"] for text in ("She ran home.", "He said it")]
    result = held_out(loaded.model, loaded.tokenizer, rows, "causal")
    with torch.no_grad():
        losses = [float(loaded.model(torch.tensor([row]), labels=torch.tensor([row])).loss) for row in rows]
    expected = sum(loss * (len(row) - 1) for loss, row in zip(losses, rows, strict=True))
    assert result.loss == pytest.approx(expected / (sum(map(len, rows)) - 2), abs=1e-5)


def test_held_out_figures_without_text_are_undefined(tmp_path: Path) -> None:
    bert(tmp_path, num_hidden_layers=1)
    loaded = load_masked(str(tmp_path))
    assert math.isnan(held_out(loaded.model, loaded.tokenizer, [], "masked").loss)
