"""Load a language model from a folder, or say in one sentence why its numbers would mean nothing."""

import json
import logging
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING
from transformers.utils import logging as transformers_logging

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models import Precision
from evenhand.core.models.catalogue import NO_WEIGHTS, RANDOM, RANDOM_SEED, locate, weight_files
from evenhand.core.models.loaded import (
    DTYPES,
    LOOKS_AHEAD,
    LoadedModel,
    Task,
    chosen,
    digest,
    refuse_looking_ahead,
    refuse_missing,
    refuse_nan,
)
from evenhand.core.models.planted.names import association_of, is_planted, is_pronoun_plant

MAKERS: dict[Task, Any] = {"masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}
MAPPINGS = {"masked": MODEL_FOR_MASKED_LM_MAPPING, "causal": MODEL_FOR_CAUSAL_LM_MAPPING}

NO_UNTRAINED = N_("{name} is a planted model and has no untrained counterpart.")

quiet: Any = transformers_logging
quiet.set_verbosity_error()
quiet.disable_progress_bar()
log = logging.getLogger(__name__)


def load_model(
    name: str,
    task: Task | None = None,
    *,
    precision: Precision = "fp32",
    patience: float | None = None,
    device: str = "cpu",
    untrained: bool = False,
) -> LoadedModel:
    """Load a language model: built in, planted, from a local folder or from the Hugging Face hub.

    *task*: to fill masks, or to read from left to right; None: the task of its config. *untrained*: load its
    architecture and tokenizer with random weights (seeded) as a reference for a measure; not for planted models.

    Never runs code that comes with a model. *patience*: see `catalogue.locate`; *device*: see `loaded.chosen`. Raises
    ModelUnavailable with one sentence for a model that is not available or has no head of its own for the task.
    """
    task = task or task_of(name, patience=patience)
    if is_planted(name):
        if untrained:
            raise ModelUnavailable(NO_UNTRAINED, name=name)
        planted = _planted(name, task, precision)
        planted.model.to(chosen(device))
        return planted
    place, folder = chosen(device), locate(name, patience=patience)
    config = read_config(name, folder)
    if not _serves(config, task):
        message = N_("{name} ({kind}) is not a masked language model, so it cannot fill a slot inside a sentence.")
        raise ModelUnavailable(message if task == "masked" else LOOKS_AHEAD, name=name, kind=config.model_type)
    tokenizer = read_tokenizer(name, folder, config, task)
    bare = untrained or name == RANDOM
    model = _untrained(config, task) if bare else _trained(name, folder, config, task)
    refuse_nan(name, model)
    weights = digest(model, tokenizer, task)
    model = model.eval().requires_grad_(False)
    if task == "causal":
        refuse_looking_ahead(name, model)
    return LoadedModel(name, model.to(place, DTYPES[precision]), tokenizer, weights, precision, read_card(folder))


load_masked, load_causal = partial(load_model, task="masked"), partial(load_model, task="causal")


def _planted(name: str, task: Task, precision: Precision) -> LoadedModel:
    from evenhand.core.models.planted import masked, pronouns

    if task == "causal":
        if not is_pronoun_plant(name):
            raise ModelUnavailable(LOOKS_AHEAD, name=name, kind="bert")
        return pronouns.build_pronouns(name, precision)
    size = association_of(name)
    return masked.build(name, precision) if size is None else masked.build_association(name, size, precision)


def task_of(name: str, *, patience: float | None = None) -> Task:
    """Return the task of a model by its config: to fill masks, or to read from left to right.

    Raises ModelUnavailable for a model that is not available. A model made for neither task counts as masked, and
    loading refuses it.
    """
    if is_planted(name):
        return "causal" if is_pronoun_plant(name) else "masked"
    config = read_config(name, locate(name, patience=patience))
    return "causal" if _serves(config, "causal") else "masked"


def read_card(folder: Path) -> str:
    """Return the model card without its header of settings; empty where there is none."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    return text.strip()


def read_config(name: str, folder: Path) -> Any:
    """Return the config of a model's folder. Raises ModelUnavailable where it cannot be read."""
    if not (folder / "config.json").is_file():
        message = N_("{name} is not a model folder: there is no config.json in it. Give the folder that contains one.")
        raise ModelUnavailable(message, name=name)
    try:
        written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # broken JSON, or nested too deep, or not UTF-8
        raise ModelUnavailable(
            N_("The config.json of {name} cannot be read. Download the model again."), name=name
        ) from None
    if not isinstance(written, dict) or not isinstance(written.get("model_type"), str):
        message = N_("The config.json of {name} does not name the model type.")
        raise ModelUnavailable(message, name=name)
    kind = written["model_type"]
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        log.info("config of %s: %s", name, error)
        message = N_(
            "{name} is of type {kind}, which is not supported or requires custom code. Evenhand does not run"
            " code from models."
        )
        raise ModelUnavailable(message, name=name, kind=kind) from None
    return config


def _serves(config: Any, task: Task) -> bool:
    """Return True if the architecture was made for the task; BERT as a decoder reads from left to right."""
    fills = type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)
    return fills if task == "masked" else type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and not fills


def read_tokenizer(name: str, folder: Path, config: Any, task: Task) -> Any:
    """Return the fast tokenizer of a model's folder. Raises ModelUnavailable where none fits the model."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        log.info("tokenizer of %s: %s", name, error)
        message = N_("The tokenizer of {name} cannot be read, or depends on software that is not installed.")
        raise ModelUnavailable(message, name=name) from None
    if not getattr(tokenizer, "is_fast", False):
        message = N_(
            "The tokenizer of {name} needs software that is not installed; only fast tokenizers are supported."
        )
        raise ModelUnavailable(message, name=name)
    if task == "masked" and tokenizer.mask_token is None:
        raise ModelUnavailable(N_("The tokenizer of {name} has no mask token, so there is no slot to fill."), name=name)
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        message = N_("The tokenizer of {name} has no vocabulary file (tokenizer.json or vocab.txt).")
        raise ModelUnavailable(message, name=name)
    if max(tokenizer.get_vocab().values()) >= config.vocab_size:
        message = N_("The tokenizer of {name} has a larger vocabulary than the model; the two do not match.")
        raise ModelUnavailable(message, name=name)
    return tokenizer


def _untrained(config: Any, task: Task) -> Any:
    """Return the architecture with seeded random weights; the caller's random state is unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(RANDOM_SEED)
        return MAKERS[task].from_config(config, dtype=torch.float32, **_attention(config, task))


def _trained(name: str, folder: Path, config: Any, task: Task) -> Any:
    model, missing = read_weights(MAKERS[task], name, folder, config, **_attention(config, task))
    refuse_missing(name, model, task, missing)
    return model


def read_weights(maker: Any, name: str, folder: Path, config: Any, **settings: str) -> tuple[Any, set[str]]:
    """Return the model that *maker* makes from the weights in a folder, and the names of missing weights.

    Raises ModelUnavailable where there are none that load without running code, or they do not fit.
    """
    if not weight_files(folder):
        raise ModelUnavailable(NO_WEIGHTS, name=name)
    try:
        model, report = maker.from_pretrained(
            folder, config=config, dtype=torch.float32, output_loading_info=True, local_files_only=True,
            trust_remote_code=False, weights_only=True, **settings,
        )  # fmt: skip
    except Exception as error:
        log.info("weights of %s: %s", name, error)
        message = N_(
            "The weights of {name} cannot be used: the file is damaged, does not match its config.json, or"
            " can only be read by running code."
        )
        raise ModelUnavailable(message, name=name) from None
    return model, set(report["missing_keys"]) | {key for key, *_ in report["mismatched_keys"]}


def _attention(config: Any, task: Task) -> dict[str, str]:
    has_sdpa = getattr(MAPPINGS[task][type(config)], "_supports_sdpa", False)
    return {"attn_implementation": "sdpa"} if has_sdpa else {}
