"""A model that passed every check, what names it, and its way to logits."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from evenhand.core.models import Precision
from evenhand.core.models.checks import Task
from evenhand.core.models.forward import Forward, HeadAtPlaces
from evenhand.core.models.fused_bert import Fused, anatomy

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
# Facts of a config that change no answer.
IDLE = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures", "use_cache")


@dataclass(frozen=True)
class LoadedModel:
    """A model that passed every check.

    `weights` is the SHA-256 of its tensors, vocabulary and shape: two models
    that could answer differently differ in it.
    """

    name: str
    model: Any
    tokenizer: Any
    weights: str
    precision: Precision
    card: str

    @cached_property
    def forward(self) -> Forward:
        """The forward pass; created on first use, shared by all scorers of this model."""
        padding = self.tokenizer.pad_token_id
        return forward_of(self.model, 0 if padding is None else padding)

    @property
    def parameters(self) -> int:
        """How many numbers the model consists of, tied ones counted once."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def forward_of(model: Any, padding_id: int) -> Forward:
    """The fastest exact way to run *model* (a Hugging Face masked language model)."""
    parts = anatomy(model)
    return HeadAtPlaces(model, padding_id) if parts is None else Fused(parts)


def digest(model: Any, tokenizer: Any, task: Task = "masked") -> str:
    """SHA-256 over everything that decides an answer: every tensor, the vocabulary, how text is cut, the shape.

    Tensors rather than files, so that the same weights have the same name in
    one file, in shards, and where there is no file (random-zh).
    """
    sha = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        sha.update(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())
    shape = ("model_type", "num_attention_heads", "hidden_act", "layer_norm_eps", "max_position_embeddings")
    cutting = json.loads(tokenizer.backend_tokenizer.to_str())
    facts = {key: getattr(model.config, key, None) for key in shape}
    facts |= {key: cutting[key] for key in ("normalizer", "pre_tokenizer")} | {"vocabulary": tokenizer.get_vocab()}
    if merges := cutting["model"].get("merges"):
        facts["merges"] = merges
    if task == "causal":  # rotary bases, windows, caps: too many kinds to name
        facts["config"] = {key: value for key, value in model.config.to_dict().items() if key not in IDLE}
        facts |= {"frame": cutting["post_processor"], "task": task}
    sha.update(json.dumps(facts, sort_keys=True, default=str).encode())
    return sha.hexdigest()
