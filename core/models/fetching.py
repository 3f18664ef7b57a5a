"""From the name of a model to the folder that holds it, with the network as the last resort."""

import logging
import re
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, EvenhandError, ModelUnavailable
from evenhand.core.models.catalogue import BUILTIN, cached_snapshot, folder_of, hub_cache
from evenhand.core.models.planted.names import association_of, is_planted, plant_of
from evenhand.core.models.planted.pronoun_names import is_pronoun_plant, pronoun_plant
from evenhand.core.resources import MODELS

LOOK_UP_SECONDS = 5.0
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
SMALL_FILES = ("*.json", "vocab.txt", "merges.txt", "*.model")

log = logging.getLogger(__name__)
_fetching: dict[str, "Future[Path]"] = {}
_lock = threading.Lock()


def locate(name: str, *, patience: float | None = None) -> Path:
    """The folder of a model: built in, local, fetched before, or fetched now.

    The hub is looked up for at most five seconds. A download is waited for, or
    with *patience* (seconds, the look-up counted) goes on in the background
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
        return MODELS  # made in memory: there is no folder of its own
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
    """Ask which files there are (bounded in time), then fetch the ones that are needed."""
    try:
        files = _in_background(_file_names, name).result(timeout=LOOK_UP_SECONDS)
    except TooLate:
        raise _unreachable(name) from None
    safe = [file for file in files if re.fullmatch(r"model.*\.safetensors(\.index\.json)?", file)]
    weights = safe or [file for file in files if re.fullmatch(r"pytorch_model.*\.(bin|bin\.index\.json)", file)]
    if not weights:
        message = N_(
            "{name} has no weights that load without running code (safetensors, or a plain pytorch_model.bin)."
        )
        raise ModelUnavailable(message, name=name)
    return _download(name, [*SMALL_FILES, *weights])


def _file_names(name: str) -> list[str]:
    """The names of the files of a hub model; every reason why not becomes one sentence."""
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
        except BaseException as error:  # the thread has nobody else to tell
            future.set_exception(error)

    threading.Thread(target=run, name=f"fetch {name}", daemon=True).start()
    return future
