"""How a model is trained further; knows nothing of torch."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from evenhand.core.errors import N_, Refused

# Webster et al. 2020, "Measuring and Reducing Gendered Correlations", section 5: BERT, hidden 0.20, attention 0.15.
BERT_DROPOUT = (0.20, 0.15)
MASKED_SHARE = 0.15  # of the tokens, in training and in the held-out figures (Devlin et al. 2019)

BAD_NUMBER = N_("{name} cannot be {value}; it must lie between {low} and {high}.")


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
        """Everything that can change the outcome beside model and texts, as `steps:1000|batch:32|...`."""
        facts: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(Tuning)}
        facts["dropout"] = "config" if self.dropout is None else "/".join(f"{share:g}" for share in self.dropout)
        return "|".join(
            f"{name}:{value:g}" if name != "dropout" else f"{name}:{value}" for name, value in facts.items()
        )


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well a model predicts texts that no change saw.

    `loss`: mean negative natural-log probability of a token: of masked ones (15 %, the same places before and after),
    or of the next one in a causal model. `accuracy`: share of them that were the first guess, 0 to 1. `per_text`: sum
    of -ln p, tokens and right guesses of each text, so that a difference has an interval over texts.
    """

    loss: float
    accuracy: float
    tokens: int
    texts: int
    per_text: tuple[tuple[float, int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The figures without the texts."""
        return {"loss": self.loss, "accuracy": self.accuracy, "tokens": self.tokens, "texts": self.texts}


@dataclass(frozen=True, slots=True)
class Memory:
    """What a training run will take, in bytes, by what it holds; an estimate, see `core.models.tuning.memory`."""

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
