"""The known models by name, whether they can be used without fetching, and the folder of a model.

The network is the last resort. This module does not import torch.
"""

import json
import logging
import os
import re
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenhand.core.errors import N_, EvenhandError, ModelUnavailable
from evenhand.core.models.planted.names import association_of, is_planted, is_pronoun_plant, plant_of, pronoun_plant
from evenhand.core.resources import MODELS, table

Task = Literal["masked", "causal", "nli"]


class Builtin(NamedTuple):
    """A model that ships with the app: `recipe` is the module of training/ that makes it."""

    language: str
    task: Task
    recipe: str
    note: str


MODEL_FOLDER = "EVENHAND_MODELS"  # the one folder of models that leads of a server may name
BUILTIN = {
    "known": Builtin(
        "zh",
        "masked",
        "known",
        N_("Models with known answers for validating the measures; they have no knowledge of language."),
    ),
    "demo-zh": Builtin(
        "zh",
        "masked",
        "demo_zh",
        N_("A small Chinese model shipped with Evenhand, for trying out the app, not for findings."),
    ),
    "random-zh": Builtin(
        "zh",
        "masked",
        "demo_zh",
        N_("The architecture of demo-zh, untrained: a chance baseline."),
    ),
    "demo-en": Builtin(
        "en",
        "masked",
        "demo_en",
        N_("A small English model shipped with Evenhand, for trying out the app, not for findings."),
    ),
    "demo-en-causal": Builtin(
        "en",
        "causal",
        "demo_en_causal",
        N_("A small English generative model shipped with Evenhand, for trying out the app, not for findings."),
    ),
    "demo-nli": Builtin(
        "mul",
        "nli",
        "demo_nli",
        N_("A small sentence-pair classifier that ships with Evenhand. For trying out the app, not for findings."),
    ),
}
TASKS: tuple[Task, ...] = ("masked", "causal", "nli")
RANDOM, RANDOM_SHAPE, RANDOM_SEED = "random-zh", "demo-zh", 0


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model that can be chosen by name.

    `task`: masked (scored at a mask), causal (left to right), nli (a classifier
    of sentence pairs). `available` says that it loads without the network. `note` is a sentence
    to translate for a built-in model, and the paper's name for it otherwise.
    """

    name: str
    builtin: bool
    language: str
    note: str
    available: bool
    task: Task = "masked"


def folder_of(name: str) -> Path:
    """Return the folder of a built-in model; random-zh borrows the shape and vocabulary of demo-zh."""
    return MODELS / (RANDOM_SHAPE if name == RANDOM else name)


def hub_cache() -> Path:
    """Return the cache folder of the Hugging Face libraries (HF_HUB_CACHE, HF_HOME, else the user's cache)."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def cached_snapshot(name: str) -> Path | None:
    """Return the folder of a hub model that was fetched before; None where it is missing or incomplete."""
    path = hub_cache() / f"models--{name.replace('/', '--')}"
    reference = path / "refs" / "main"
    if not reference.is_file():
        return None
    folder = path / "snapshots" / reference.read_text().strip()
    words = any((folder / file).is_file() for file in ("tokenizer.json", "vocab.txt", "vocab.json"))
    return folder if words and (folder / "config.json").is_file() and weight_files(folder) else None


def weight_files(folder: Path) -> list[Path]:
    """Return the files of weights that load without running code, safetensors first; none where a part is missing."""
    for whole in ("model.safetensors", "pytorch_model.bin"):
        if (folder / whole).is_file():
            return [folder / whole]
        index = folder / f"{whole}.index.json"
        if index.is_file():
            parts = [folder / part for part in sorted(set(_weight_map(index).values()))]
            if parts and all(part.is_file() for part in parts):
                return parts
    return []


def _weight_map(index: Path) -> dict[str, str]:
    """Return the file of each tensor by the tensor's name; empty where the index cannot be read."""
    try:
        return dict(json.loads(index.read_text(encoding="utf-8"))["weight_map"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def is_open_to_all(name: str) -> bool:
    """Return True if every user who may use a model may use this one: a model that ships with the app."""
    return name in BUILTIN


def is_open_to_leads(name: str) -> bool:
    """Return True if a user who may load models on a server with accounts may name this one.

    These are models that ship, names on the hub, and folders below EVENHAND_MODELS, but no other path of the server.
    Links are followed before the path is checked.
    """
    place = Path(name).expanduser()
    if is_open_to_all(name):
        return True
    if not place.exists() and not name.startswith((".", "/", "~", "\\")):
        return True
    named = os.environ.get(MODEL_FOLDER, "").strip()
    root = Path(named).expanduser().resolve() if named else None
    return root is not None and root in place.resolve().parents


def known_models(task: Task | None = "masked") -> list[ModelEntry]:
    """Return the built-in models, then those of the papers (core/data/models.tsv), of one *task* or (None) of all."""
    entries = [
        ModelEntry(
            name, True, builtin.language, builtin.note, (folder_of(name) / "config.json").is_file(), builtin.task
        )
        for name, builtin in BUILTIN.items()
    ]
    entries += [
        ModelEntry(row["name"], False, row["language"], row["paper_name"], bool(cached_snapshot(row["name"])), kind)
        for row in table("models")
        for kind in TASKS
        if row["task"] == kind
    ]
    return [entry for entry in entries if task in (None, entry.task)]


LOOK_UP_SECONDS = 5.0
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
NO_WEIGHTS = N_("{name} has no weights that load without running code (safetensors, or a plain pytorch_model.bin).")
SMALL_FILES = ("*.json", "vocab.txt", "merges.txt", "*.model")

log = logging.getLogger(__name__)
_fetching: dict[str, "Future[Path]"] = {}
_lock = threading.Lock()


def locate(name: str, *, patience: float | None = None) -> Path:
    """Return the folder of a model: built in, local, fetched before, or fetched now.

    The hub is looked up for at most five seconds. A download is waited for, or
    with *patience* (seconds, the look-up counted) continues in the background
    while ModelUnavailable says so.
    """
    if name in BUILTIN:
        return _built_in(name)
    if is_pronoun_plant(name):
        pronoun_plant(name)
        return MODELS
    if is_planted(name):
        if association_of(name) is None:
            plant_of(name)
        return MODELS  # made in memory, so without a folder of its own
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    if name.startswith((".", "/", "~", "\\")) or (name and folder.exists()):
        raise ModelUnavailable(N_("There is no folder {name}. Check the path."), name=name)
    if not HUB_NAME.fullmatch(name):
        message = N_(
            "{name} is neither a folder nor the name of a model on the Hugging Face Hub (such as bert-base-chinese)."
        )
        raise ModelUnavailable(message, name=name)
    return cached_snapshot(name) or _from_hub(name, patience)


def _built_in(name: str) -> Path:
    folder = folder_of(name)
    if not (folder / "config.json").is_file():
        message = N_("The built-in model {name} is missing from this copy of Evenhand. Build it with: {command}")
        command = f"python -m training.{BUILTIN[name].recipe}"
        raise ModelUnavailable(message, name=name, command=command)
    return folder


def _from_hub(name: str, patience: float | None) -> Path:
    with _lock:
        running = _fetching.get(name)
        if running is None or running.done():  # done, yet not in the cache: it failed, or was removed since
            running = _fetching[name] = _in_background(_look_up_and_fetch, name)
    try:
        return running.result(timeout=patience)
    except TooLate:
        message = N_("{name} is being downloaded from the Hugging Face Hub. Run again in a minute.")
        raise ModelUnavailable(message, name=name) from None


def _look_up_and_fetch(name: str) -> Path:
    """List the files of a model (within a time limit), then fetch the needed ones."""
    try:
        files = _in_background(_file_names, name).result(timeout=LOOK_UP_SECONDS)
    except TooLate:
        raise _unreachable(name) from None
    safe = [file for file in files if re.fullmatch(r"model.*\.safetensors(\.index\.json)?", file)]
    weights = safe or [file for file in files if re.fullmatch(r"pytorch_model.*\.(bin|bin\.index\.json)", file)]
    if not weights:
        raise ModelUnavailable(NO_WEIGHTS, name=name)
    return _download(name, [*SMALL_FILES, *weights])


def _file_names(name: str) -> list[str]:
    """Return the names of the files of a hub model; every cause of failure becomes one sentence."""
    from huggingface_hub import HfApi, errors

    try:
        return [file.rfilename for file in HfApi().model_info(name, timeout=LOOK_UP_SECONDS).siblings or []]
    except errors.GatedRepoError:
        message = N_("{name} is a gated model on the Hugging Face Hub. Accept its terms there and set HF_TOKEN.")
        raise ModelUnavailable(message, name=name) from None
    except errors.RepositoryNotFoundError:
        message = N_("There is no model named {name} on the Hugging Face Hub, or it is private. Check the spelling.")
        raise ModelUnavailable(message, name=name) from None
    except Exception as error:  # offline, no name service, a proxy's refusal: the hub's client raises many kinds
        log.info("hub look-up of %s: %s", name, error)
        raise _unreachable(name) from None


def _download(name: str, patterns: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=patterns, cache_dir=hub_cache()))
    except Exception as error:  # as above; the disk may be full too
        log.info("download of %s: %s", name, error)
        message = N_("{name} was not downloaded completely: the connection or the disk failed. Try again.")
        raise ModelUnavailable(message, name=name) from None


def _unreachable(name: str) -> EvenhandError:
    message = N_(
        "{name} is not on this machine, and the Hugging Face Hub did not answer within 5 s. Connect to the"
        " internet once, or copy the model here and give its folder."
    )
    return ModelUnavailable(message, name=name)


def _in_background(function: Any, name: str) -> "Future[Any]":
    """Run a function in a thread that does not keep the process alive."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(name))
        except BaseException as error:  # the thread has no other way to report an error
            future.set_exception(error)

    threading.Thread(target=run, name=f"fetch {name}", daemon=True).start()
    return future
