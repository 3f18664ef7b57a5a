"""Loading and scoring: the only package that imports torch, and it does so on the first model, not on import."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.models.catalogue import ModelEntry, known_models, locate

if TYPE_CHECKING:
    from evenhand.core.models.classifier import Classifier
    from evenhand.core.models.whole_sentences import LocalScorer

Joint = Literal["independent", "sequential", "geometric_mean"]
Precision = Literal["fp32", "bf16"]
Method = Literal["auto", "masked", "pair-sum", "pll"]

__all__ = ["Joint", "Method", "ModelEntry", "Precision", "known_models", "open_classifier", "open_scorer"]


def open_scorer(
    name: str,
    *,
    joint: Joint = "independent",
    threads: int | None = None,
    precision: Precision = "fp32",
    method: Method = "auto",
    device: str = "auto",
) -> "LocalScorer":
    """Load a model into this process and return its scorer; for the command line and for jobs.

    *name* is a built-in model, a name on the Hugging Face hub, or a folder. A
    model that must be fetched is waited for. *threads* limits torch for the
    whole process (None leaves it alone).

    *method*: "masked" asks at mask tokens, "pair-sum" sums the sentence from left to right, "pll" masks
    every token of the sentence in turn; "auto" is pair-sum for a causal model, else masked. *joint* is of
    masked only. *device*: "auto" (CUDA, MPS, else the processor), "cpu", "cuda", "cuda:1", "mps".
    Raises ModelUnavailable; Refused for a method or joint that does not exist or does not fit.
    """
    locate(name)  # a model that cannot be had is refused before torch is loaded, which takes longer
    from evenhand.core.models.loaded import use_threads
    from evenhand.core.models.whole_sentences import open_here

    use_threads(threads)
    return open_here(name, joint=joint, precision=precision, method=method, device=device)


def open_classifier(
    name: str, *, labels: Sequence[str] | None = None, threads: int | None = None, device: str = "auto"
) -> "Classifier":
    """Load a classifier of sentence pairs into this process; for the command line and for jobs.

    *name* is a built-in or planted classifier, a name on the Hugging Face hub, or a folder; *labels* say by hand
    what its three outputs mean. *threads*, *device*: see `open_scorer`. Raises ModelUnavailable, Refused.
    """
    if not name.startswith("planted:"):
        locate(name)
    from evenhand.core.models.classifier import Classifier, load_classifier
    from evenhand.core.models.loaded import use_threads

    use_threads(threads)
    return Classifier(load_classifier(name, labels=labels, device=device))


# Schick, Udupa and Schütze 2021, "Self-Diagnosis and Self-Debiasing": lambda 50, a factor of at least 0.01 (in their
# code), and the text that they describe gender bias with for CrowS-Pairs.
DECAY, LEAST_FACTOR = 50.0, 0.01
GENDER_PREFIX = "The following text discriminates against people because of their gender:\n"
BAD_DECAY = N_("The decay λ of self-debiasing must be above 0 and at most 1,000.")
NO_TOKENS = N_("At least one new token is needed.")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings for the choice of the next token.

    `top_k` 0 and `top_p` 1: no limit. `temperature` None: that of the model's own settings, else 1. `tokens`: the
    number of new tokens; `stop`: end a text at the model's end mark (else the mark is never chosen, as published).
    """

    top_k: int = 50
    top_p: float = 0.95
    temperature: float | None = None
    tokens: int = 50
    stop: bool = False
    debias: str = ""
    decay: float = DECAY

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise Refused(NO_TOKENS)
        if not 0 < self.top_p <= 1 or self.top_k < 0 or (self.temperature is not None and self.temperature <= 0):
            raise Refused(N_("Sampling needs top-k ≥ 0, top-p above 0 and at most 1, and a temperature above 0."))
        if not 0 < self.decay <= 1000:
            raise Refused(BAD_DECAY)

    @property
    def debias_signature(self) -> str:
        """For a signature: `,self-debias:50,0.01,1a2b3c4d`, the last a digest of the text; "" without self-debias."""
        if not self.debias:
            return ""
        digest = hashlib.sha256(self.debias.encode()).hexdigest()[:8]
        return f",self-debias:{self.decay:g},{LEAST_FACTOR:g},{digest}"
