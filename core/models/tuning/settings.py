"""The settings of further training, and a forecast of its memory; this module does not import torch."""

import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models.catalogue import BUILTIN, HUB_NAME, cached_snapshot, locate, weight_files

# Webster et al. 2020, "Measuring and Reducing Gendered Correlations", section 5: BERT, hidden 0.20, attention 0.15.
BERT_DROPOUT = (0.20, 0.15)
MASKED_SHARE = 0.15  # of the tokens, in training and in the held-out figures (Devlin et al. 2019)

BAD_NUMBER = N_("{name} must be between {low} and {high}, not {value}.")


@dataclass(frozen=True, slots=True)
class Tuning:
    """The numbers of a training run. `steps` of `batch` texts of at most `length` tokens; the learning rate falls
    linearly to 0 after `warmup` steps.

    `lora`: the rank of adapters that are trained in place of the weights (alpha twice that; Hu et al. 2022), 0 for all
    weights. `dropout`: of hidden states and of attention during training; None: as the model's config has it. `every`:
    steps between two looks at held-out text, which is also where a checkpoint is written. `patience`: so many looks
    without progress end the run, 0: it never ends early; the best checkpoint is the result then.
    """

    steps: int = 1000
    batch: int = 32
    length: int = 128
    rate: float = 5e-5
    warmup: int = 0
    decay: float = 0.01
    seed: int = 0
    lora: int = 0
    dropout: tuple[float, float] | None = None
    every: int = 100
    patience: int = 3
    also_in_json: ClassVar = ("signature",)

    def __post_init__(self) -> None:
        limits = {
            "steps": (1, 10_000_000), "batch": (1, 4096), "length": (8, 8192), "rate": (1e-9, 10.0),
            "warmup": (0, self.steps), "decay": (0.0, 1.0), "lora": (0, 1024), "every": (1, 10_000_000),
            "patience": (0, 10_000),
        }  # fmt: skip
        for name, (low, high) in limits.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise Refused(BAD_NUMBER, name=name, value=f"{value:g}", low=f"{low:g}", high=f"{high:g}")
        for share in self.dropout or ():
            if not 0 <= share < 1:
                raise Refused(BAD_NUMBER, name="dropout", value=f"{share:g}", low="0", high="1")

    @property
    def signature(self) -> str:
        """All settings that can change the outcome, except model and texts, as `steps:1000|batch:32|...`."""
        facts: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(Tuning)}
        facts["dropout"] = "config" if self.dropout is None else "/".join(f"{share:g}" for share in self.dropout)
        return "|".join(
            f"{name}:{value:g}" if name != "dropout" else f"{name}:{value}" for name, value in facts.items()
        )


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The quality of a model's predictions on texts that no training saw.

    `loss`: mean negative natural-log probability of a token: of masked ones (15 %, the same places before and after),
    or of the next one in a causal model. `accuracy`: share of tokens that were the first guess, 0 to 1. `per_text`: sum
    of -ln p, tokens and right guesses of each text, so that a difference has an interval over texts.
    """

    loss: float
    accuracy: float
    tokens: int
    texts: int
    per_text: tuple[tuple[float, int, int], ...] = ()
    json_names: ClassVar = {"per_text": None}


@dataclass(frozen=True, slots=True)
class Memory:
    """The estimated memory of a training run, in bytes, by purpose; see `needed`."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    available: int
    also_in_json: ClassVar = ("total",)

    @property
    def total(self) -> int:
        """All together."""
        return self.weights + self.gradients + self.optimizer + self.activations


def needed(
    numbers: int, trained: int, layers: int, width: int, heads: int, vocabulary: int, tuning: Tuning
) -> Memory:  # fmt: skip
    """Return the memory to train a model of that shape with *numbers* parameters, of which *trained* change.

    Weights, gradients and the two moments of Adam are 4 bytes a number each in fp32. Activations that backpropagation
    keeps: about 34 bytes a token, layer and unit in 16 bits, plus 5 for each head and pair of tokens (Korthikanti et
    al. 2022, equation 1), so twice that in fp32; and the logits three times (themselves, their softmax, their
    gradient).
    """
    import psutil  # only where memory is asked about

    tokens = tuning.batch * tuning.length
    activations = 2 * layers * tokens * (34 * width + 5 * heads * tuning.length)
    logits = 3 * 4 * tokens * vocabulary
    free = int(psutil.virtual_memory().available)
    return Memory(4 * numbers, 4 * trained, 8 * trained, activations + logits, free)


NAMES = (  # of what configs call the layers, the width and the heads
    ("num_hidden_layers", "n_layer", "num_layers"), ("hidden_size", "n_embd", "d_model"),
    ("num_attention_heads", "n_head"),
)  # fmt: skip


def memory_of(model: str, tuning: Tuning) -> Memory | None:
    """Return the forecast for a model on this machine; None where it is missing, or its files do not tell."""
    elsewhere = HUB_NAME.fullmatch(model) and not Path(model).exists() and model not in BUILTIN
    if elsewhere and cached_snapshot(model) is None:
        return None
    try:
        folder = locate(model)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        numbers = sum(_numbers(file) for file in weight_files(folder))
    except (ModelUnavailable, OSError, ValueError, RecursionError):
        return None
    if not numbers or not isinstance(config, dict):
        return None
    layers, width, heads = (
        next((int(config[name]) for name in names if isinstance(config.get(name), int)), 0) for names in NAMES
    )
    trained = numbers if not tuning.lora else 2 * 6 * layers * width * tuning.lora  # six matrices a layer, about
    return needed(numbers, trained, layers, width, heads, int(config.get("vocab_size") or 0), tuning)


def _numbers(file: Path) -> int:
    """Return how many numbers a file of weights has: by the head of a safetensors file, else by its size in fp32."""
    if file.suffix != ".safetensors":
        return file.stat().st_size // 4
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > 100 << 20:
            return 0
        head = json.loads(opened.read(length))
    return sum(math.prod(entry["shape"]) for name, entry in head.items() if name != "__metadata__")
