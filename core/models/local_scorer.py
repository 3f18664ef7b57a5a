"""Which scorer answers for a model and a method."""

from typing import get_args

from evenhand.core.errors import N_, Refused
from evenhand.core.models import Joint, Method, Precision
from evenhand.core.models.loading import load_causal, load_masked, task_of
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.models.pair_sum import PairSumScorer
from evenhand.core.models.pll import PllScorer

LocalScorer = MaskedScorer | PllScorer | PairSumScorer


def refuse_joint(method: str, joint: str) -> None:
    """Raises Refused where a way to join tokens is asked of a method that sums whole sentences."""
    if method != "masked" and joint != "independent":
        message = N_(
            "{joint} combines the tokens of a masked word, but {method} sums over whole sentences. Omit {joint}."
        )
        raise Refused(message, joint=joint, method=method)


def open_here(
    name: str,
    *,
    joint: Joint = "independent",
    precision: Precision = "fp32",
    method: Method = "auto",
    device: str = "auto",
    patience: float | None = None,
) -> LocalScorer:
    """See `core.models.open_scorer`; *patience*: see `core.models.fetching.locate`."""
    if method not in get_args(Method):
        message = N_("{method} is not a scoring method; choose one of {known}.")
        raise Refused(message, method=method, known=", ".join(get_args(Method)))
    if method == "auto":
        method = "pair-sum" if task_of(name, patience=patience) == "causal" else "masked"
    refuse_joint(method, joint)
    if method == "pair-sum":
        return PairSumScorer(load_causal(name, precision=precision, patience=patience, device=device))
    loaded = load_masked(name, precision=precision, patience=patience, device=device)
    return PllScorer(loaded) if method == "pll" else MaskedScorer(loaded, joint=joint)
