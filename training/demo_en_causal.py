"""Train demo-en-causal, the small English causal model that writes and judges pronouns out of the box.

`python -m training.demo_en_causal [--books PATH] [--out core/data/models/demo-en-causal] [--resume]`
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

from evenhand.core.errors import BadFile
from training import corpora, run
from training.corpora import POSITIONS

WINDOW = 128  # tokens a row in training; rotary positions carry beyond it


@dataclass(frozen=True)
class Plan(run.Plan):
    """Numbers of a run of a causal model."""

    steps: int = 2200
    rows: int = 16  # of WINDOW tokens a batch


def build(plan: Plan, size: int, end: int) -> Any:
    """Return an untrained model: Llama's shape, because rotary positions see what is next to a token from the start."""
    config = LlamaConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=plan.width // 32,
        intermediate_size=3 * plan.width, max_position_embeddings=POSITIONS, tie_word_embeddings=True,
        bos_token_id=end, eos_token_id=end, pad_token_id=end,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    made: Any = LlamaForCausalLM
    return made._from_config(config, attn_implementation="sdpa", dtype=torch.float32)


class Text:
    """Novels as one long run of tokens per part, each paragraph after an end mark."""

    card = (Path(__file__).parent / "demo_en_causal_card.md").read_text(encoding="utf-8")

    def __init__(self, books: Path, folder: Path, size: int = corpora.SIZE) -> None:
        train_on, held = corpora.read_books(books)
        self.tokenizer = corpora.byte_pairs(train_on, folder, POSITIONS, size)
        self.end = int(self.tokenizer.vocab[corpora.END])
        self.train, self.held = (self._joined(part) for part in (train_on, held))
        if min(len(self.train), len(self.held)) <= WINDOW:
            raise BadFile("{file} holds too little text: nothing of it is held out.", file=books.name)

    def _joined(self, texts: list[str]) -> Tensor:
        return torch.tensor([i for ids in corpora.encode(self.tokenizer, texts) for i in (self.end, *ids)])

    def start(self, plan: Plan) -> Any:
        """Return an untrained model."""
        return build(plan, len(self.tokenizer), self.end)

    def optimizers(self, model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
        """Return Muon and AdamW."""
        return run.muon_and_adam(model, plan, 0.0)

    def loss(self, model: Any, batch: Tensor, plan: Plan, step: int) -> tuple[Tensor, int]:
        """Return nats per token."""
        logits, following = model(input_ids=batch[:, :-1]).logits, batch[:, 1:]
        return cross_entropy(logits.flatten(0, 1), following.flatten()), following.numel()

    def batches(self, plan: Plan) -> Iterator[Tensor]:
        """Yield rows of WINDOW + 1 tokens without end; each epoch is cut differently, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            starts = list(range(rng.randrange(WINDOW), len(self.train) - WINDOW - 1, WINDOW))
            rng.shuffle(starts)
            for at in range(0, len(starts), plan.rows):
                yield torch.stack([self.train[start : start + WINDOW + 1] for start in starts[at : at + plan.rows]])

    @torch.inference_mode()
    def held_out(self, model: Any, rows: int = 256) -> dict[str, float]:
        """Return perplexity per token and the share of tokens that are the first guess, on held-out paragraphs."""
        model.eval()
        starts = range(0, min(len(self.held) - WINDOW - 1, rows * WINDOW), WINDOW)
        nats = right = total = 0.0
        for start in starts:
            row = self.held[start : start + WINDOW + 1][None]
            logits = model(input_ids=row[:, :-1]).logits.float()[0]
            nats += float(cross_entropy(logits, row[0, 1:], reduction="sum"))
            right += int((logits.argmax(-1) == row[0, 1:]).sum())
            total += WINDOW
        model.train()
        return {"perplexity": round(math.exp(nats / total), 2), "accuracy": round(right / total, 4), "tokens": total}


main = run.command(Plan, Text, "demo-en-causal", books=corpora.BOOKS)

if __name__ == "__main__":
    main()
