"""Load a language model from a folder, or say in one sentence why its numbers would mean nothing."""

import json
import logging
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING
from transformers.utils import logging as transformers_logging

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models import Precision
from evenhand.core.models.catalogue import RANDOM, RANDOM_SEED, weight_files
from evenhand.core.models.checks import LOOKS_AHEAD, Task, refuse_looking_ahead, refuse_missing, refuse_nan
from evenhand.core.models.devices import chosen
from evenhand.core.models.fetching import locate
from evenhand.core.models.loaded import DTYPES, LoadedModel, digest
from evenhand.core.models.planted.names import association_of, is_planted
from evenhand.core.models.planted.pronoun_names import is_pronoun_plant

MAPPINGS = {"masked": MODEL_FOR_MASKED_LM_MAPPING, "causal": MODEL_FOR_CAUSAL_LM_MAPPING}

NO_UNTRAINED = N_("{name} is planted by hand: there is no untrained model of its kind.")

quiet: Any = transformers_logging
quiet.set_verbosity_error()
quiet.disable_progress_bar()
log = logging.getLogger(__name__)


def load_masked(
    name: str,
    *,
    precision: Precision = "fp32",
    patience: float | None = None,
    device: str = "cpu",
    untrained: bool = False,
) -> LoadedModel:
    """Load a masked language model: built in, from a local folder or from the Hugging Face hub.

    *untrained*: its architecture and tokenizer with random weights (seeded), as the reference beside a measure; a
    planted model has none.

    Never runs code that comes with a model. *patience*: see `fetching.locate`;
    *device*: see `devices.chosen`. Raises ModelUnavailable with one sentence for
    every model that cannot be had or has no masked-language-model head of its own.
    """
    if is_planted(name):
        if untrained:
            raise ModelUnavailable(NO_UNTRAINED, name=name)
        planted = _planted(name, precision)
        planted.model.to(chosen(device))
        return planted
    return _load(name, "masked", precision, patience, device, untrained)


def _planted(name: str, precision: Precision) -> LoadedModel:
    size = association_of(name)
    if size is not None:
        from evenhand.core.models.planted import association as planted_association

        return planted_association.build(name, size, precision)
    from evenhand.core.models.planted.masked import build

    return build(name, precision)


def load_causal(
    name: str,
    *,
    precision: Precision = "fp32",
    patience: float | None = None,
    device: str = "cpu",
    untrained: bool = False,
) -> LoadedModel:
    """Load a language model that reads from left to right; refusals and *untrained* as of `load_masked`."""
    if untrained and is_planted(name):
        raise ModelUnavailable(NO_UNTRAINED, name=name)
    if is_pronoun_plant(name):
        from evenhand.core.models.planted.pronouns import build_pronouns

        planted = build_pronouns(name, precision)
        planted.model.to(chosen(device))
        return planted
    if is_planted(name):
        raise ModelUnavailable(LOOKS_AHEAD, name=name, kind="bert")
    return _load(name, "causal", precision, patience, device, untrained)


def task_of(name: str, *, patience: float | None = None) -> Task:
    """What a model was made for, by its config: to fill masks, or to read from left to right.

    Raises ModelUnavailable where it cannot be had; a model made for neither counts as masked, and loading refuses it.
    """
    if is_planted(name):
        return "causal" if is_pronoun_plant(name) else "masked"
    config = read_config(name, locate(name, patience=patience))
    return "causal" if _serves(config, "causal") else "masked"


def _load(
    name: str, task: Task, precision: Precision, patience: float | None, device: str, untrained: bool
) -> LoadedModel:
    place = chosen(device)
    folder = locate(name, patience=patience)
    config = read_config(name, folder)
    _refuse_other_task(name, config, task)
    tokenizer = read_tokenizer(name, folder, config, task)
    bare = untrained or name == RANDOM
    model = _untrained(config, task) if bare else _trained(name, folder, config, task)
    refuse_nan(name, model)
    weights = digest(model, tokenizer, task)
    model = model.eval().requires_grad_(False)
    if task == "causal":
        refuse_looking_ahead(name, model)
    return LoadedModel(name, model.to(place, DTYPES[precision]), tokenizer, weights, precision, read_card(folder))


def read_card(folder: Path) -> str:
    """The model card without its header of settings; empty where there is none."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    return text.strip()


def read_config(name: str, folder: Path) -> Any:
    """The config of a model's folder. Raises ModelUnavailable where there is none that can be read."""
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
            "{name} is of type {kind}, which is not supported or needs code of its own. Evenhand does not"
            " run code from models."
        )
        raise ModelUnavailable(message, name=name, kind=kind) from None
    return config


def _serves(config: Any, task: Task) -> bool:
    """Whether the architecture was made for the task; BERT as a decoder reads from left to right."""
    fills = type(config) in MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)
    return fills if task == "masked" else type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and not fills


def _refuse_other_task(name: str, config: Any, task: Task) -> None:
    if _serves(config, task):
        return
    kind = config.model_type
    if task == "masked":
        message = N_("{name} ({kind}) is not a masked language model and cannot fill a blank inside a sentence.")
        raise ModelUnavailable(message, name=name, kind=kind)
    raise ModelUnavailable(LOOKS_AHEAD, name=name, kind=kind)


def read_tokenizer(name: str, folder: Path, config: Any, task: Task) -> Any:
    """The fast tokenizer of a model's folder. Raises ModelUnavailable where there is none that fits the model."""
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
        message = N_(
            "The vocabulary of the tokenizer of {name} is larger than that of the model; the two do not belong"
            " together."
        )
        raise ModelUnavailable(message, name=name)
    return tokenizer


def _untrained(config: Any, task: Task) -> Any:
    """The architecture with seeded random weights; leaves the caller's random state alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(RANDOM_SEED)
        make: Any = AutoModelForMaskedLM if task == "masked" else AutoModelForCausalLM
        attention = {} if _lacks_sdpa(config, task) else {"attn_implementation": "sdpa"}
        return make.from_config(config, dtype=torch.float32, **attention)


def _trained(name: str, folder: Path, config: Any, task: Task) -> Any:
    if not weight_files(folder):
        message = N_(
            "{name} has no weights that load without running code (safetensors, or a plain pytorch_model.bin)."
        )
        raise ModelUnavailable(message, name=name)
    settings = {"local_files_only": True, "trust_remote_code": False, "weights_only": True}
    attention = {} if _lacks_sdpa(config, task) else {"attn_implementation": "sdpa"}
    try:
        make: Any = AutoModelForMaskedLM if task == "masked" else AutoModelForCausalLM
        model, report = make.from_pretrained(
            folder, config=config, dtype=torch.float32, output_loading_info=True, **attention, **settings
        )
    except Exception as error:
        log.info("weights of %s: %s", name, error)
        message = N_(
            "The weights of {name} cannot be used: the file is damaged, does not match its config.json, or"
            " can only be read by running code."
        )
        raise ModelUnavailable(message, name=name) from None
    refuse_missing(name, model, task, set(report["missing_keys"]) | {key for key, *_ in report["mismatched_keys"]})
    return model


def _lacks_sdpa(config: Any, task: Task) -> bool:
    return not getattr(MAPPINGS[task][type(config)], "_supports_sdpa", False)
