"""Loading and scoring: the only package that imports torch, and it does so on the first model, not on import."""

from typing import TYPE_CHECKING, Literal

from core.models.fetching import locate
from core.models.names import ModelEntry, known_models

if TYPE_CHECKING:
    from core.models.masked import MaskedScorer

Joint = Literal["independent", "sequential", "geometric_mean"]
Precision = Literal["fp32", "bf16"]

__all__ = ["Joint", "ModelEntry", "Precision", "known_models", "open_scorer"]


def open_scorer(
    name: str, *, joint: Joint = "independent", threads: int | None = None, precision: Precision = "fp32"
) -> "MaskedScorer":
    """Load a model into this process and return its scorer; for the command line and for jobs.

    *name* is a built-in model, a name on the Hugging Face hub, or a folder. A
    model that must be fetched is waited for. *threads* limits torch for the
    whole process (None leaves it alone). Raises ModelUnavailable.
    """
    locate(name)  # a model that cannot be had is refused before torch is loaded, which takes longer
    import torch

    from core.models.loading import load_masked
    from core.models.masked import MaskedScorer

    if threads is not None:
        torch.set_num_threads(threads)
    return MaskedScorer(load_masked(name, precision=precision), joint=joint)
