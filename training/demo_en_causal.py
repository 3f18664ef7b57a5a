"""Train demo-en-causal, the small English causal model that writes and judges pronouns out of the box.

`python -m training.demo_en_causal [--books PATH] [--out core/data/models/demo-en-causal] [--resume]`
"""

import json
import logging
import math
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

from evenhand.core.errors import BadFile
from evenhand.core.resources import MODELS
from training import en_corpus
from training.masking import Muon

log = logging.getLogger("training.demo_en_causal")
CARD = (Path(__file__).parent / "demo_en_causal_card.md").read_text(encoding="utf-8")
POSITIONS = 256
WINDOW = 128  # tokens a row in training; rotary positions carry beyond it


@dataclass(frozen=True)
class Plan:
    """Numbers of a run. The steps, not the clock, end it."""

    steps: int = 2200
    rows: int = 16  # of WINDOW tokens a batch
    lr: float = 2e-3  # peak
    warmup: int = 60  # steps
    seed: int = 20240601
    width: int = 192
    layers: int = 4


def build(plan: Plan, size: int, end: int) -> Any:
    """An untrained model: Llama's shape, because rotary positions see what is next to a token from the start."""
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

    def __init__(self, books: Path, folder: Path, size: int = en_corpus.SIZE) -> None:
        train_on, held = en_corpus.read_books(books)
        self.tokenizer = en_corpus.byte_pairs(train_on, folder, POSITIONS, size)
        self.end = int(self.tokenizer.vocab[en_corpus.END])
        self.train, self.held = (self._joined(part) for part in (train_on, held))
        if min(len(self.train), len(self.held)) <= WINDOW:
            raise BadFile("{file} holds too little text: nothing of it is held out.", file=books.name)

    def _joined(self, texts: list[str]) -> Tensor:
        return torch.tensor([i for ids in en_corpus.encode(self.tokenizer, texts) for i in (self.end, *ids)])

    def batches(self, plan: Plan) -> Iterator[Tensor]:
        """Rows of WINDOW + 1 tokens without end; each epoch is cut anew, the same for the same seed."""
        rng = random.Random(plan.seed)
        while True:
            starts = list(range(rng.randrange(WINDOW), len(self.train) - WINDOW - 1, WINDOW))
            rng.shuffle(starts)
            for at in range(0, len(starts), plan.rows):
                yield torch.stack([self.train[start : start + WINDOW + 1] for start in starts[at : at + plan.rows]])

    @torch.inference_mode()
    def held_out(self, model: Any, rows: int = 256) -> dict[str, float]:
        """Perplexity per token and the share of tokens that are the first guess, on held-out paragraphs."""
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


def optimizers(model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and norms."""
    matrices = [p for name, p in model.named_parameters() if ".layers." in name and p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [Muon(matrices, lr=plan.lr), torch.optim.AdamW(rest, lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.0)]


def begin(plan: Plan, text: Text, folder: Path, resume: bool) -> tuple[Any, dict[str, Any]]:
    """The model to train and what is known of the run: at its start, or as last saved."""
    model = build(plan, len(text.tokenizer), text.end)
    facts: dict[str, Any] = {"steps": 0, "minutes": 0.0, "tokens": 0, "resumed_at": []}
    saved = folder / "training.json"
    if resume and saved.is_file():
        facts |= json.loads(saved.read_text(encoding="utf-8"))
        facts["resumed_at"].append(facts["steps"])
        model.load_state_dict(LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).state_dict())
    return model, facts | {"plan": asdict(plan)}


def train(plan: Plan, text: Text, folder: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train for the plan's steps, saving and measuring every 250; returns what the card tells.

    *resume* goes on from the last saved weights of the same folder: batches
    are those of an uninterrupted run, the optimizers start afresh.
    """
    model, facts = begin(plan, text, folder, resume)
    chain = optimizers(model, plan)
    last, spent, started, mean = facts["steps"], facts["minutes"], time.monotonic(), 0.0
    for step, rows in zip(range(1, plan.steps + 1), text.batches(plan), strict=False):
        if step <= last:
            continue
        share = min(step / plan.warmup, (plan.steps - step + 1) / max(1, plan.steps - plan.warmup))
        loss = one_step(model, chain, rows, plan.lr * share)
        mean += (loss - mean) / min(step - last, 100)
        facts |= {"steps": step, "tokens": facts["tokens"] + rows[:, 1:].numel()}
        facts["minutes"] = spent + (time.monotonic() - started) / 60
        if step % 50 == 0:
            log.info("step %d loss %.3f, %.1f min", step, mean, facts["minutes"])
        if step % 250 == 0 or step == plan.steps:
            save(model, text, folder, facts)
            log.info("step %d held out %s", step, json.dumps(facts["held_out"]))
    return facts


def one_step(model: Any, chain: list[torch.optim.Optimizer], rows: Tensor, rate: float) -> float:
    """One update; returns the loss in nats per token."""
    logits = model(input_ids=rows[:, :-1]).logits
    loss: Any = cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
    loss.backward()
    for optimizer in chain:
        for settings in optimizer.param_groups:
            settings["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
    return float(loss.detach())


def save(model: Any, text: Text, folder: Path, facts: dict[str, Any]) -> None:
    """Write the weights as fp16, the facts and the card; the figures are those of the stored weights."""
    half: Any = LlamaForCausalLM(model.config)
    half.load_state_dict(model.state_dict())
    half.half().save_pretrained(folder)
    facts["held_out"] = text.held_out(half.float())
    facts["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    (folder / "training.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    shape = f"{facts['plan']['layers']} layers, {facts['plan']['width']} wide"
    (folder / "README.md").write_text(CARD.format(shape=shape, resumed=resumed(facts), **facts), encoding="utf-8")


def resumed(facts: dict[str, Any]) -> str:
    """What the card says of a run that was not one piece; nothing of one that was."""
    stops = " and ".join(f"{step:,}" for step in facts["resumed_at"])
    return f" The run was stopped at step {stops} and went on with `--resume`." if stops else ""


@click.command()
@click.option(
    "--books", type=click.Path(exists=True, path_type=Path), default=en_corpus.BOOKS, help="a paragraph a line"
)
@click.option("--out", type=click.Path(path_type=Path), default=MODELS / "demo-en-causal")
@click.option("--steps", type=int, default=Plan.steps, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--resume", is_flag=True, help="go on from the last saved weights")
def main(books: Path, out: Path, steps: int, threads: int, resume: bool) -> None:
    """Train demo-en-causal and write it to a folder in Hugging Face layout."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(threads)
    click.echo(json.dumps(train(Plan(steps=steps), Text(books, out), out, resume=resume)))


if __name__ == "__main__":
    main()
