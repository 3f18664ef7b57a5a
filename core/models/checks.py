"""Checkpoints whose numbers would mean nothing are refused here, each in one sentence."""

import logging
from typing import Any, Literal

import torch

from evenhand.core.errors import N_, ModelUnavailable

Task = Literal["masked", "causal"]

# What a checkpoint may lack: tied to the word embeddings, computed, or not used for this.
HARMLESS = ("position_ids", "token_type_ids", "pooler.", "seq_relationship.")
ALIKE = 1e-3  # relative; a model that looks ahead differs by far more

LOOKS_AHEAD = N_("{name} ({kind}) is not a left-to-right model, so the probability of a sentence is not defined.")

log = logging.getLogger(__name__)


def refuse_missing(name: str, model: Any, task: Task, missing: set[str]) -> None:
    """A checkpoint without a head loads with a random one in silence; that must not be scored."""
    covered = {name for group in _tied(model) if group - missing for name in group}
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
            "{name} has no masked-language-modelling head; its scores would be random. ELECTRA"
            " discriminators have none: use the generator of the same name."
        )
    raise ModelUnavailable(message, name=name)


def _tied(model: Any) -> list[set[str]]:
    """Groups of parameter names that share memory: a checkpoint needs to hold only one of each group."""
    names: dict[int, set[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), set()).add(name)
    return [group for group in names.values() if len(group) > 1]


def refuse_nan(name: str, model: Any) -> None:
    """Weights that are not numbers answer anything."""
    for tensor in model.state_dict().values():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelUnavailable(N_("The weights of {name} contain NaN or infinite values."), name=name)


@torch.inference_mode()
def refuse_looking_ahead(name: str, model: Any) -> None:
    """A model whose answer at a place depends on later words has no probability of a sentence to sum up.

    Asked of the model itself, since a config does not always tell (XLNet is listed among the causal models).
    """
    ids = torch.arange(8).remainder(model.config.vocab_size).unsqueeze(0)
    other = ids.clone()
    other[0, -1] = model.config.vocab_size - 1
    first, second = (model(input_ids=row, use_cache=False).logits[0, :-1].float() for row in (ids, other))
    if bool((first - second).abs().max() > ALIKE * (1 + first.abs().max())):
        raise ModelUnavailable(LOOKS_AHEAD, name=name, kind=model.config.model_type)
