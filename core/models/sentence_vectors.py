"""Vectors of sentences and words from any language model: what SEAT and WEAT compare.

A sentence's vector is a hidden state of one layer: of the first token ([CLS]), of the last, or the mean over the tokens
of the text. May et al. 2019 take the first of the last layer from BERT and the last from GPT. A word's vector is the
mean of the input embeddings of its tokens, which no context touches.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import N_, Refused
from evenhand.core.models.forward import padded_batches
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_causal, load_masked, task_of
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.types import Signature

Pooling = Literal["first", "mean", "last"]
Vector = NDArray[np.float64]

BUDGET = 2048  # padded tokens a batch
VERSION = 1
NO_LAYER = N_("{name} has {layers} layers; {layer} is none of them (0 is the input, -1 the last).")


class VectorReader:
    """Asks one model for vectors. `signature` says how: method, model, weights, layer and pooling, precision."""

    def __init__(
        self, name: str, *, layer: int = -1, pooling: Pooling | None = None, device: str = "auto",
        untrained: bool = False,
    ) -> None:  # fmt: skip
        """*layer*: 0 is the input embeddings, -1 the last. *pooling* None: first of a masked model, last of a causal.

        Raises ModelUnavailable, and Refused for a layer that the model has not.
        """
        task = task_of(name)
        load = load_causal if task == "causal" else load_masked
        self.loaded: LoadedModel = load(name, device=device, untrained=untrained)
        self.pooling: Pooling = pooling or ("last" if task == "causal" else "first")
        layers = int(self.loaded.model.config.num_hidden_layers)
        if not -layers - 1 <= layer <= layers:
            raise Refused(NO_LAYER, name=name, layers=layers, layer=layer)
        self.layer = layer if layer >= 0 else layers + 1 + layer
        self._special = set(self.loaded.tokenizer.all_special_ids) - {self.loaded.tokenizer.unk_token_id}
        self._longest = longest_input(self.loaded.tokenizer, self.loaded.model.config)

    def signature(self, method: str) -> str:
        """The signature of a measure on sentence vectors ("seat") or on input embeddings ("weat")."""
        joint = "embeddings" if method == "weat" else f"layer{self.layer},{self.pooling}"
        return str(Signature(method, self.loaded.name, self.loaded.weights, joint, self.loaded.precision, VERSION))

    def sentences(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vector of each text; one that is longer than the model reads, or empty in it, has none."""
        distinct = list(dict.fromkeys(texts))
        rows = [list(self.loaded.tokenizer(text)["input_ids"]) for text in distinct]
        fits = [i for i, row in enumerate(rows) if len(row) <= self._longest and set(row) - self._special]
        found: dict[str, Vector] = {}
        for batch in padded_batches([len(rows[i]) for i in fits], BUDGET):
            chosen = [fits[i] for i in batch]
            for i, vector in zip(chosen, self._states([rows[i] for i in chosen]), strict=True):
                found[distinct[i]] = vector
        return found

    def words(self, words: Sequence[str]) -> dict[str, Vector]:
        """The mean input embedding of each word's tokens, as it is written inside a text; unknown words have none."""
        table = self.loaded.model.get_input_embeddings().weight.detach().float().cpu().numpy()
        unknown, found = self.loaded.tokenizer.unk_token_id, {}
        for word in dict.fromkeys(words):
            ids = self._inside(word)
            if ids and unknown not in ids:
                found[word] = table[ids].mean(0).astype(float)
        return found

    def _inside(self, word: str) -> list[int]:
        """The tokens of a word that follows a space, as nearly all words of a text do."""
        ids = self.loaded.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        return [i for i in ids if i not in self._special]

    @torch.inference_mode()
    def _states(self, rows: Sequence[list[int]]) -> list[Vector]:
        model, longest = self.loaded.model, max(map(len, rows))
        padding = self.loaded.tokenizer.pad_token_id or 0
        given: Any = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows], device=model.device)
        seen = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=model.device)
        out = model(input_ids=given, attention_mask=seen, output_hidden_states=True)
        states = out.hidden_states[self.layer].float().cpu().numpy().astype(float)
        return [self._pooled(state, row) for state, row in zip(states, rows, strict=True)]

    def _pooled(self, state: Vector, row: Sequence[int]) -> Vector:
        if self.pooling == "first":
            return np.asarray(state[0])
        text = [i for i, token in enumerate(row) if token not in self._special]
        return np.asarray(state[text[-1]] if self.pooling == "last" else state[text].mean(0))
