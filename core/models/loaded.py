"""A model that passed every check: the checks, its device, its digest, and the signature of its numbers.

Checkpoints whose numbers would mean nothing are refused, each with one sentence. The device is not part of a signature:
fp32 is fp32 on every device, and rounding differs by less than 1e-4.
"""

import hashlib
import json
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models import Precision
from evenhand.core.models.forward import Forward, Fused, HeadAtPlaces, anatomy
from evenhand.core.types import Score, Signature

Task = Literal["masked", "causal"]

# What a checkpoint may lack: tied to the word embeddings, computed, or not used for this.
HARMLESS = ("position_ids", "token_type_ids", "pooler.", "seq_relationship.")
AHEAD_ALIKE = 1e-3  # relative; a model that looks ahead differs by far more

LOOKS_AHEAD = N_("{name} ({kind}) is not a left-to-right model, so the probability of a sentence is not defined.")

log = logging.getLogger(__name__)


def refuse_missing(name: str, model: Any, task: Task, missing: set[str]) -> None:
    """Raise ModelUnavailable for a checkpoint without a head, which would load with a random one silently."""
    names: dict[int, set[str]] = {}  # that share memory: a checkpoint needs to hold only one of each group
    for key, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), set()).add(key)
    covered = {key for group in names.values() if group - missing for key in group}
    lacking = sorted(key for key in missing - covered if not any(part in key for part in HARMLESS))
    if not lacking:
        return
    log.info("%s lacks %s", name, ", ".join(lacking))
    if all(key.startswith(model.base_model_prefix + ".") for key in lacking):
        message = N_("The files of {name} lack weights ({example}); the scores would be random.")
        raise ModelUnavailable(message, name=name, example=lacking[0])
    message = N_("{name} has no masked-language-modelling head; its scores would be random.")
    if task == "causal":
        message = N_("{name} has no language-modelling head; its scores would be random.")
    elif model.config.model_type == "electra":
        message = N_(
            "{name} has no masked-language-modelling head; its scores would be random. For ELECTRA, use the"
            " generator, not the discriminator."
        )
    raise ModelUnavailable(message, name=name)


def refuse_nan(name: str, model: Any) -> None:
    """Raise ModelUnavailable for weights with NaN or infinite values, whose answers have no meaning."""
    for tensor in model.state_dict().values():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelUnavailable(N_("The weights of {name} contain NaN or infinite values."), name=name)


@torch.inference_mode()
def refuse_looking_ahead(name: str, model: Any) -> None:
    """Raise ModelUnavailable for a causal model whose answer at a place depends on later words.

    Such a model gives no probability of a sentence. The model itself is tested, since a config does not always tell
    (XLNet is listed among the causal models).
    """
    ids = torch.arange(8).remainder(model.config.vocab_size).unsqueeze(0)
    other = ids.clone()
    other[0, -1] = model.config.vocab_size - 1
    first, second = (model(input_ids=row, use_cache=False).logits[0, :-1].float() for row in (ids, other))
    if bool((first - second).abs().max() > AHEAD_ALIKE * (1 + first.abs().max())):
        raise ModelUnavailable(LOOKS_AHEAD, name=name, kind=model.config.model_type)


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
        """The number of the model's parameters, with tied ones counted once."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def forward_of(model: Any, padding_id: int) -> Forward:
    """Return the fastest exact way to run *model* (a Hugging Face masked language model)."""
    parts = anatomy(model)
    return HeadAtPlaces(model, padding_id) if parts is None else Fused(parts)


def digest(model: Any, tokenizer: Any, task: Task = "masked") -> str:
    """Return SHA-256 over all that decides an answer: every tensor, the vocabulary, the tokenizer's rules, the shape.

    It is over tensors, not files, so that the same weights have the same digest
    in one file, in shards and without a file (random-zh).
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


def chosen(device: str) -> torch.device:
    """Return the device of that name; "auto" is the first available one of CUDA, MPS and the processor.

    Raises ModelUnavailable for one that is not there. TensorFloat-32 stays off, which would change the numbers.
    """
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    name = next(name for name, here in present.items() if here) if device == "auto" else device
    kind = name.partition(":")[0]
    if not present.get(kind, False):
        known = ", ".join(name for name, here in present.items() if here)
        raise ModelUnavailable(
            N_("torch finds no device {device} on this machine. Available: {known}."), device=name, known=known
        )
    if kind == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device(name)


def use_threads(number: int | None) -> None:
    """Compute with *number* threads in this process; None leaves their number alone."""
    if number is not None:
        torch.set_num_threads(number)


NOT_A_NUMBER = N_("The model returned a value that is not a number.")


class Signed:
    """A loaded model with a method. Subclasses set `method`, `version` and `joining`.

    `version` is raised when an answer changes by more than rounding.
    """

    method: str
    version: int
    joining: str
    loaded: LoadedModel

    @property
    def signature(self) -> str:
        """The signature of each score, as text."""
        return str(self._parts())

    @property
    def cache_key(self) -> str:
        """The signature with the full SHA-256 of the weights."""
        return self._parts().with_weights(self.loaded.weights)

    def _parts(self) -> Signature:
        loaded = self.loaded
        return Signature(self.method, loaded.name, loaded.weights, self.joining, loaded.precision, self.version)

    def _signed(self, logprobs: Sequence[float | None], reason: str | None) -> Score:
        """Return a signed score, undefined as a whole where one of the model's answers is not a finite number."""
        if any(p is not None and not math.isfinite(p) for p in logprobs):
            return Score((None,) * len(logprobs), self.signature, NOT_A_NUMBER)
        return Score(tuple(logprobs), self.signature, reason)
