"""Loading and scoring: the only package that imports torch, and it does so on the first model, not on import."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from evenhand.core.models.catalogue import ModelEntry, known_models
from evenhand.core.models.fetching import locate

if TYPE_CHECKING:
    from evenhand.core.models.classifier import Classifier
    from evenhand.core.models.local_scorer import LocalScorer
    from evenhand.core.nli.types import Label, SentencePair

Joint = Literal["independent", "sequential", "geometric_mean"]
Precision = Literal["fp32", "bf16"]
Method = Literal["auto", "masked", "pair-sum", "pll"]

__all__ = ["Joint", "Method", "ModelEntry", "Precision", "fine_tune", "known_models", "open_classifier", "open_scorer"]


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
    import torch

    from evenhand.core.models.local_scorer import open_here

    if threads is not None:
        torch.set_num_threads(threads)
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
    import torch

    from evenhand.core.models.classifier import Classifier, load_classifier

    if threads is not None:
        torch.set_num_threads(threads)
    return Classifier(load_classifier(name, labels=labels, device=device))


def fine_tune(
    scorer: "Classifier",
    pairs: "Sequence[tuple[SentencePair, Label]]",
    *,
    epochs: int = 3,
    rate: float = 2e-5,
    batch: int = 32,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> "tuple[Classifier, str]":
    """A copy of a classifier, trained further on *pairs*, and how; see `core.models.finetuning`."""
    from evenhand.core.models.classifier import Classifier
    from evenhand.core.models.finetuning import FineTuning, fine_tuned

    settings = FineTuning(epochs, rate, batch, seed)
    return Classifier(fine_tuned(scorer.loaded, pairs, settings, progress)), settings.signature
