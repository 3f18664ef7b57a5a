"""SentenceDebias and INLP on vectors whose direction was planted, and the projection inside a head."""

from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.core.errors import Refused
from evenhand.core.models.loading import load_causal, load_masked
from evenhand.core.models.tuning.projection import apply_projection, inlp, sentence_debias, sentence_vectors
from tests.support.tiny_models import bert, tiny_causal

WIDTH, PAIRS = 12, 300


def planted(strength: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors of pairs of sentences that differ along one direction, and that direction."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=WIDTH)
    direction /= np.linalg.norm(direction)
    shared = random.normal(size=(PAIRS, WIDTH))
    male, female = (shared + 0.05 * random.normal(size=shared.shape) + side * strength * direction for side in (1, -1))
    return male, female, direction


def test_sentence_debias_removes_the_planted_direction() -> None:
    male, female, direction = planted(1.5)
    result = sentence_debias(male, female)
    assert np.linalg.norm(result.matrix @ direction) < 0.05
    assert np.allclose(result.matrix @ result.matrix, result.matrix) and np.allclose(result.matrix, result.matrix.T)
    assert result.before.accuracy > 0.9 and not result.before.is_chance
    assert result.after.is_chance and abs(result.after.accuracy - 0.5) < 0.06


def test_inlp_continues_until_the_probe_is_at_chance() -> None:
    male, female, direction = planted(1.5)
    result = inlp(male, female, "masked")
    assert result.after.is_chance and 1 <= result.directions < WIDTH
    assert np.linalg.norm(result.matrix @ direction) < 0.1
    assert round(WIDTH - np.trace(result.matrix)) == result.directions


def test_inlp_removes_nothing_from_unbiased_vectors() -> None:
    male, female, _ = planted(0.0)
    result = inlp(male, female, "masked")
    assert result.directions <= 1 and result.after.is_chance


def test_few_sentences_are_refused() -> None:
    with pytest.raises(Refused, match="Only 3 texts"):
        sentence_debias(np.ones((3, 4)), np.zeros((3, 4)))


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama"])
def test_the_projected_head_equals_projecting_the_last_states(tmp_path: Path, kind: str) -> None:
    if kind == "bert":
        bert(tmp_path, num_hidden_layers=1)
    else:
        tiny_causal(tmp_path, kind)
    loaded = (load_masked if kind == "bert" else load_causal)(str(tmp_path))
    model, ids = loaded.model, torch.arange(5, 12).unsqueeze(0)
    words = model.get_input_embeddings().weight.clone()
    vector = np.random.default_rng(1).normal(size=model.config.get_text_config().hidden_size)
    matrix = np.eye(len(vector)) - np.outer(vector, vector) / (vector @ vector)
    hook = model.base_model.register_forward_hook(
        lambda _model, _given, out: type(out)(last_hidden_state=out[0] @ torch.from_numpy(matrix).float())
    )
    with torch.no_grad():
        expected = model(input_ids=ids).logits
    hook.remove()
    apply_projection(kind, model, matrix)
    with torch.no_grad():
        assert torch.allclose(model(input_ids=ids).logits, expected, atol=1e-4)
    assert torch.equal(model.get_input_embeddings().weight, words)  # a tied head has weights of its own now
    model.save_pretrained(tmp_path / "out")
    loaded.tokenizer.save_pretrained(tmp_path / "out")
    again = (load_masked if kind == "bert" else load_causal)(str(tmp_path / "out")).model
    with torch.no_grad():
        assert torch.allclose(again(input_ids=ids).logits, expected, atol=1e-4)


def test_a_sentence_vector_is_the_mean_of_its_states(tmp_path: Path) -> None:
    bert(tmp_path, num_hidden_layers=1)
    loaded = load_masked(str(tmp_path))
    result = sentence_vectors(loaded.model, loaded.tokenizer, ["他是医生。", "她"], 64)
    with torch.no_grad():
        states = loaded.model.base_model(**loaded.tokenizer("她", return_tensors="pt")).last_hidden_state[0]
    assert np.allclose(result[1], states.mean(0).numpy(), atol=1e-5)
