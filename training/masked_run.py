"""A training run of a small masked language model: plan, model, text as token ids, masks."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM

from training import masking, run, starting, zh_corpus
from training.zh_corpus import POSITIONS


@dataclass(frozen=True)
class Plan(run.Plan):
    """Numbers of a run of a masked model."""

    budget: int = 2048  # padded tokens a batch; small batches, because a processor gains nothing from large ones
    rate: float = 0.30  # share of tokens masked in training; more labels for the same pass than the usual 15 %
    pair_share: float = 0.25  # of the rows are masked two neighbours at a time


def build(plan: run.Plan, size: int) -> Any:
    """Return an untrained model of the plan's shape for a vocabulary of *size* tokens."""
    config = BertConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=plan.width // 32,
        intermediate_size=4 * plan.width, max_position_embeddings=POSITIONS, type_vocab_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    made: Any = BertForMaskedLM
    return made._from_config(config, attn_implementation="sdpa", dtype=torch.float32)


class MaskedText:
    """Paragraphs and single sentences as token ids, and named pieces that are held out."""

    def __init__(self, tokenizer: Any, paragraphs: Sequence[str], sentences: Sequence[str], card: str) -> None:
        self.tokenizer, self.layout = tokenizer, masking.Layout(tokenizer)
        self.paragraphs, self.sentences = (zh_corpus.encode(tokenizer, part) for part in (paragraphs, sentences))
        self.card = (Path(__file__).parent / card).read_text(encoding="utf-8")
        self.held: dict[str, list[list[int]]] = {}

    def start(self, plan: Plan) -> Any:
        """Return a model that looks at its neighbours and knows how frequent each token is."""
        model = build(plan, len(self.tokenizer))
        starting.look_at_neighbours(model)
        starting.know_frequencies(model, self.paragraphs + self.sentences)
        return model

    def optimizers(self, model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
        """Return Muon and AdamW."""
        return run.muon_and_adam(model, plan, 0.05)

    def batches(self, plan: Plan) -> Iterator[list[list[int]]]:
        """Yield batches without end, epoch after epoch, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            yield from masking.batches(zh_corpus.epoch(self.paragraphs, self.sentences, rng), plan.budget, rng)

    def loss(self, model: Any, batch: list[list[int]], plan: Plan, step: int) -> tuple[Tensor, int]:
        """Return nats per masked token; the masks depend on the seed and the step alone."""
        ids = self.layout.pad(batch)
        bits = torch.Generator().manual_seed(plan.seed + step)
        masked, where = masking.mask(ids, plan.rate, plan.pair_share, self.layout, bits)
        return cross_entropy(masking.logits_at(model, masked, where, self.layout.padding), ids[where]), ids.numel()

    def held_out(self, model: Any) -> dict[str, dict[str, float]]:
        """Return the masked accuracy on each part that was held out, and of all where there are several."""
        found = {name: masking.accuracy(model, pieces, self.layout) for name, pieces in self.held.items()}
        if len(found) > 1:
            right, tokens = map(sum, zip(*found.values(), strict=True))
            found["pooled"] = right, tokens
        return {name: {"accuracy": round(right / n, 4), "tokens": n} for name, (right, n) in found.items()}
