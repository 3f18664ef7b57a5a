"""Load a masked language model from a folder, or say in one sentence why its numbers would mean nothing."""

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING
from transformers.utils import logging as transformers_logging

from core.errors import N_, ModelUnavailable
from core.models import Precision
from core.models.fetching import locate
from core.models.names import RANDOM, RANDOM_SEED, weight_files
from core.models.plants import is_planted

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
# What a checkpoint may lack: tied to the word embeddings, computed, or not used for masks.
HARMLESS = ("position_ids", "token_type_ids", "pooler.", "seq_relationship.")

quiet: Any = transformers_logging
quiet.set_verbosity_error()
quiet.disable_progress_bar()
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that passed every check, ready to be asked.

    `weights` is the SHA-256 of its tensors, vocabulary and shape: two models
    that could answer differently differ in it.
    """

    name: str
    model: Any
    tokenizer: Any
    weights: str
    precision: Precision
    card: str

    @property
    def parameters(self) -> int:
        """How many numbers the model consists of, tied ones counted once."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def load_masked(name: str, *, precision: Precision = "fp32", patience: float | None = None) -> LoadedModel:
    """Load a built-in model, a local folder or a model of the Hugging Face hub.

    Never runs code that comes with a model. *patience*: see `fetching.locate`.
    Raises ModelUnavailable with one sentence for every model that cannot be
    had or has no masked-language-model head of its own.
    """
    if is_planted(name):
        from core.models.planted import build

        return build(name, precision)
    folder = locate(name, patience=patience)
    config = _config(name, folder)
    tokenizer = _tokenizer(name, folder, config)
    model = _untrained(config) if name == RANDOM else _trained(name, folder, config)
    _refuse_nan(name, model)
    weights = digest(model, tokenizer)
    model = model.to(DTYPES[precision]).eval().requires_grad_(False)
    return LoadedModel(name, model, tokenizer, weights, precision, read_card(folder))


def read_card(folder: Path) -> str:
    """The model card without its header of settings; empty where there is none."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    return text.strip()


def _config(name: str, folder: Path) -> Any:
    if not (folder / "config.json").is_file():
        message = N_("{name} is not a folder of a model: it holds no config.json. Give the folder that does.")
        raise ModelUnavailable(message, name=name)
    try:
        written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError:  # broken JSON, or not UTF-8
        raise ModelUnavailable(
            N_("The config.json of {name} cannot be read. Fetch the model again."), name=name
        ) from None
    if not isinstance(written, dict) or not isinstance(written.get("model_type"), str):
        message = N_("The config.json of {name} does not say what type of model it is.")
        raise ModelUnavailable(message, name=name)
    kind = written["model_type"]
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        log.info("config of %s: %s", name, error)
        message = N_(
            "{name} is of the type {kind}, which this app does not know or which needs code of its own; it is not run."
        )
        raise ModelUnavailable(message, name=name, kind=kind) from None
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or getattr(config, "is_decoder", False):
        message = N_("{name} ({kind}) is not a masked language model: it cannot fill a blank inside a sentence.")
        raise ModelUnavailable(message, name=name, kind=kind)
    return config


def _tokenizer(name: str, folder: Path, config: Any) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        log.info("tokenizer of %s: %s", name, error)
        message = N_("The tokenizer of {name} cannot be read, or needs software that is not installed.")
        raise ModelUnavailable(message, name=name) from None
    if not getattr(tokenizer, "is_fast", False):
        message = N_("The tokenizer of {name} needs software that is not installed; only fast tokenizers are read.")
        raise ModelUnavailable(message, name=name)
    if tokenizer.mask_token is None:
        raise ModelUnavailable(N_("The tokenizer of {name} has no mask token, so there is nothing to fill."), name=name)
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        message = N_("The folder of {name} lacks the vocabulary of its tokenizer (tokenizer.json or vocab.txt).")
        raise ModelUnavailable(message, name=name)
    if max(tokenizer.get_vocab().values()) >= config.vocab_size:
        message = N_("The tokenizer of {name} has more words than the model; they do not belong together.")
        raise ModelUnavailable(message, name=name)
    return tokenizer


def _untrained(config: Any) -> Any:
    """The architecture with seeded random weights; leaves the caller's random state alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(RANDOM_SEED)
        make: Any = AutoModelForMaskedLM
        return make.from_config(config, dtype=torch.float32, attn_implementation="sdpa")


def _trained(name: str, folder: Path, config: Any) -> Any:
    if not weight_files(folder):
        message = N_(
            "{name} holds no weights that load without running code (safetensors, or a plain pytorch_model.bin)."
        )
        raise ModelUnavailable(message, name=name)
    settings = {"local_files_only": True, "trust_remote_code": False, "weights_only": True}
    attention = {} if _lacks_sdpa(config) else {"attn_implementation": "sdpa"}
    try:
        model, report = AutoModelForMaskedLM.from_pretrained(
            folder, config=config, dtype=torch.float32, output_loading_info=True, **attention, **settings
        )
    except Exception as error:
        log.info("weights of %s: %s", name, error)
        message = N_(
            "The weights of {name} cannot be used: the file is damaged, does not fit its config.json, "
            "or can only be read by running code."
        )
        raise ModelUnavailable(message, name=name) from None
    _refuse_missing(name, model, set(report["missing_keys"]) | {key for key, *_ in report["mismatched_keys"]})
    return model


def _lacks_sdpa(config: Any) -> bool:
    return not getattr(MODEL_FOR_MASKED_LM_MAPPING[type(config)], "_supports_sdpa", False)


def _refuse_missing(name: str, model: Any, missing: set[str]) -> None:
    """A checkpoint without a head loads with a random one in silence; that must not be scored."""
    covered = {name for group in _tied(model) if group - missing for name in group}
    lacking = sorted(key for key in missing - covered if not any(part in key for part in HARMLESS))
    if not lacking:
        return
    log.info("%s lacks %s", name, ", ".join(lacking))
    if not all(key.startswith(model.base_model_prefix + ".") for key in lacking):
        message = N_("{name} has no masked-language-model head; its numbers would be random.")
        if model.config.model_type == "electra":
            message = N_(
                "{name} has no masked-language-model head; its numbers would be random. "
                "An ELECTRA discriminator has none: take the generator of the same name."
            )
        raise ModelUnavailable(message, name=name)
    message = N_("The file of {name} lacks weights ({example}); its numbers would be random.")
    raise ModelUnavailable(message, name=name, example=lacking[0])


def _tied(model: Any) -> list[set[str]]:
    """Groups of parameter names that share memory: a checkpoint needs to hold only one of each group."""
    names: dict[int, set[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), set()).add(name)
    return [group for group in names.values() if len(group) > 1]


def _refuse_nan(name: str, model: Any) -> None:
    for tensor in model.state_dict().values():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelUnavailable(
                N_("The weights of {name} hold values that are not numbers (NaN or infinite)."), name=name
            )


def digest(model: Any, tokenizer: Any) -> str:
    """SHA-256 over everything that decides an answer: every tensor, the vocabulary, how text is cut, the shape.

    Tensors rather than files, so that the same weights have the same name in
    one file, in shards, and where there is no file (random-zh).
    """
    sha = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        sha.update(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())
    shape = ("model_type", "num_attention_heads", "hidden_act", "layer_norm_eps", "max_position_embeddings")
    cutting = json.loads(tokenizer.backend_tokenizer.to_str())
    facts = {key: getattr(model.config, key, None) for key in shape}
    facts |= {key: cutting[key] for key in ("normalizer", "pre_tokenizer")} | {"vocabulary": tokenizer.get_vocab()}
    sha.update(json.dumps(facts, sort_keys=True, default=str).encode())
    return sha.hexdigest()
