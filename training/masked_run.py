"""A training run of a small masked language model: plan, model, steps, what is saved and measured.

A built-in model brings its text (`training.demo_zh.Text`, `training.demo_en.Text`); everything else is here.
"""

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM

from training import masking, starting
from training.masking import Layout

log = logging.getLogger("training")


POSITIONS = 256  # the longest input, [CLS] and [SEP] counted


@dataclass(frozen=True)
class Plan:
    """Numbers of a run. The steps, not the clock, end it."""

    steps: int = 4000
    budget: int = 2048  # padded tokens a batch; small batches, because a processor gains nothing from large ones
    rate: float = 0.30  # share of tokens masked in training; more labels for the same pass than the usual 15 %
    pair_share: float = 0.25  # of the rows are masked two neighbours at a time
    lr: float = 2e-3  # peak
    warmup: int = 60  # steps
    seed: int = 20240601
    width: int = 192
    layers: int = 4


def build(plan: Plan, size: int) -> Any:
    """An untrained model of the plan's shape for a vocabulary of *size* tokens."""
    config = BertConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=plan.width // 32,
        intermediate_size=4 * plan.width, max_position_embeddings=POSITIONS, type_vocab_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    made: Any = BertForMaskedLM
    return made._from_config(config, attn_implementation="sdpa", dtype=torch.float32)


def optimizers(model: Any, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the encoder, AdamW for embeddings, head, biases and norms."""
    matrices = [p for name, p in model.named_parameters() if ".encoder." in name and p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        masking.Muon(matrices, lr=plan.lr),
        torch.optim.AdamW([p for p in rest if p.ndim == 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.05),
        torch.optim.AdamW([p for p in rest if p.ndim != 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def share_of_peak(step: int, plan: Plan) -> float:
    """Learning rate at *step* as a share of its peak: linear up, then linear down to zero."""
    return min((step + 1) / plan.warmup, (plan.steps - step) / (plan.steps - plan.warmup))


class Text(Protocol):
    """What a run needs of its text: token ids to train on, batches, the held-out figures, the template of the card."""

    tokenizer: Any
    layout: Layout
    card: str
    paragraphs: list[list[int]]
    sentences: list[list[int]]

    def batches(self, plan: Plan) -> Iterator[list[list[int]]]:
        """Batches without end, the same for the same seed."""
        ...

    def held_out(self, model: Any) -> dict[str, dict[str, float]]:
        """Masked accuracy on what was never trained on, per part."""
        ...


def as_stored(model: Any) -> Any:
    """A copy of the model in 16-bit floats; figures are measured on it, so that they hold for what is shipped."""
    half: Any = BertForMaskedLM(model.config)
    half.load_state_dict(model.state_dict())
    return half.half()


def save(model: Any, folder: Path, facts: dict[str, Any], template: str) -> None:
    """Write the weights as fp16, the config, and the card with the measured figures."""
    as_stored(model).save_pretrained(folder)
    facts = facts | {"parameters": sum(parameter.numel() for parameter in model.parameters())}
    (folder / "training.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(facts, template), encoding="utf-8")


def begin(plan: Plan, text: Text, folder: Path, resume: bool) -> tuple[Any, dict[str, Any]]:
    """The model to train and what is known of the run: at its start, or as last saved."""
    model = build(plan, len(text.tokenizer))
    starting.look_at_neighbours(model)
    starting.know_frequencies(model, text.paragraphs + text.sentences)
    facts: dict[str, Any] = {"steps": 0, "minutes": 0.0, "tokens": 0, "resumed_at": []}
    saved = folder / "training.json"
    if resume and saved.is_file():
        facts |= json.loads(saved.read_text(encoding="utf-8"))
        facts["resumed_at"].append(facts["steps"])
        model.load_state_dict(BertForMaskedLM.from_pretrained(folder, dtype=torch.float32).state_dict())
    return model, facts


def train(plan: Plan, text: Text, folder: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train for the plan's steps, saving and measuring every 250; returns what the card tells.

    *resume* goes on from the last saved weights of the same folder: batches and
    masks are those of an uninterrupted run, the optimizers start afresh.
    """
    model, facts = begin(plan, text, folder, resume)
    chain = optimizers(model, plan)
    last, spent, started, mean = facts["steps"], facts["minutes"], time.monotonic(), 0.0
    for step, group in zip(range(1, plan.steps + 1), text.batches(plan), strict=False):
        if step <= last:
            continue
        ids = text.layout.pad(group)
        loss = one_step(model, chain, ids, text.layout, plan, step)
        mean += (loss - mean) / min(step - last, 100)
        facts |= {"steps": step, "tokens": facts["tokens"] + ids.numel()}
        facts["minutes"] = spent + (time.monotonic() - started) / 60
        if step % 50 == 0:
            log.info("step %d loss %.3f, %.1f min", step, mean, facts["minutes"])
        if step % 250 == 0 or step == plan.steps:
            facts |= {"held_out": text.held_out(as_stored(model).float()), "plan": asdict(plan)}
            save(model, folder, facts, text.card)
            log.info("step %d held out %s", step, json.dumps(facts["held_out"]))
    return facts


def one_step(
    model: Any, chain: list[torch.optim.Optimizer], ids: Tensor, layout: Layout, plan: Plan, step: int
) -> float:
    """One update; returns the loss in nats per masked token. The masks depend on the seed and the step alone."""
    bits = torch.Generator().manual_seed(plan.seed + step)
    masked, where = masking.mask(ids, plan.rate, plan.pair_share, layout, bits)
    loss: Any = cross_entropy(masking.logits_at(model, masked, where, layout.padding), ids[where])
    loss.backward()
    for optimizer in chain:
        for settings in optimizer.param_groups:
            settings["lr"] = plan.lr * share_of_peak(step - 1, plan)
        optimizer.step()
        optimizer.zero_grad()
    return float(loss.detach())


def card(facts: dict[str, Any], template: str) -> str:
    """The model card *template* with the figures that were measured."""
    held, plan = facts["held_out"], facts["plan"]
    rows = "\n".join(f"| {name} | {held[name]['accuracy']:.1%} | {held[name]['tokens']:,} |" for name in held)
    shape = f"{plan['layers']} layers, {plan['width']} wide"
    stops = " and ".join(f"{step:,}" for step in facts["resumed_at"])
    resumed = f" The run was stopped at step {stops} and went on with `--resume`." if stops else ""
    return template.format(rows=rows, shape=shape, resumed=resumed, **facts)
