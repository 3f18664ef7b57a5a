"""Train demo-zh, the small Chinese character model that makes live probabilities work out of the box.

`python -m training.demo_zh [--wiki PATH] [--sentences PATH] [--out core/data/models/demo-zh]`
"""

import json
import logging
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from core.resources import MODELS
from training import masking, zh_corpus

log = logging.getLogger("training.demo_zh")


@dataclass(frozen=True)
class Plan:
    """Numbers of a run. The steps, not the clock, end it."""

    steps: int = 6000
    budget: int = 6144
    rate: float = 0.20
    pair_share: float = 0.25
    lr: float = 3e-3
    warmup: int = 150
    seed: int = 20240601
    width: int = 256
    layers: int = 4
    muon: bool = True


def build(plan: Plan, size: int) -> BertForMaskedLM:
    """An untrained model of the plan's shape for a vocabulary of *size* tokens."""
    config = BertConfig(
        vocab_size=size, hidden_size=plan.width, num_hidden_layers=plan.layers, num_attention_heads=plan.width // 64,
        intermediate_size=4 * plan.width, max_position_embeddings=zh_corpus.POSITIONS, type_vocab_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(plan.seed)
    return BertForMaskedLM._from_config(config, attn_implementation="sdpa", dtype=torch.float32)


def optimizers(model: BertForMaskedLM, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the encoder, AdamW for embeddings, head, biases and norms."""
    matrices = [p for name, p in model.named_parameters() if ".encoder." in name and p.ndim == 2]
    chosen = {id(p) for p in matrices} if plan.muon else set()
    rest = [p for p in model.parameters() if id(p) not in chosen]
    found: list[torch.optim.Optimizer] = [
        torch.optim.AdamW([p for p in rest if p.ndim == 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.05),
        torch.optim.AdamW([p for p in rest if p.ndim != 2], lr=plan.lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    return [*found, masking.Muon(matrices, lr=plan.lr)] if plan.muon else found


def share_of_peak(step: int, plan: Plan) -> float:
    """Learning rate at *step* as a share of its peak: linear up, then linear down to zero."""
    return min((step + 1) / plan.warmup, (plan.steps - step) / (plan.steps - plan.warmup))
