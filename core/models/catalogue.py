"""Which models there are by name, and whether they can be used without fetching. Knows nothing of torch."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from evenhand.core.errors import N_
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
        "zh", "masked", "known", N_("Models with known answers, to check the measures. They know nothing of language.")
    ),
    "demo-zh": Builtin(
        "zh",
        "masked",
        "demo_zh",
        N_("A small Chinese model that ships with Evenhand. For trying out the app, not for findings."),
    ),
    "random-zh": Builtin(
        "zh",
        "masked",
        "demo_zh",
        N_("The architecture of demo-zh, untrained: a reference for what chance alone gives."),
    ),
    "demo-en": Builtin(
        "en",
        "masked",
        "demo_en",
        N_("A small English model that ships with Evenhand. For trying out the app, not for findings."),
    ),
    "demo-en-causal": Builtin(
        "en",
        "causal",
        "demo_en_causal",
        N_("A small English text generator that ships with Evenhand. For trying out the app, not for findings."),
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
    """The folder of a built-in model; random-zh borrows the shape and vocabulary of demo-zh."""
    return MODELS / (RANDOM_SHAPE if name == RANDOM else name)


def hub_cache() -> Path:
    """Where the Hugging Face libraries keep what they fetched (HF_HUB_CACHE, HF_HOME, else the user's cache)."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def cached_snapshot(name: str) -> Path | None:
    """The folder of a hub model that was fetched before, or None where it is missing or incomplete."""
    kept = hub_cache() / f"models--{name.replace('/', '--')}"
    reference = kept / "refs" / "main"
    if not reference.is_file():
        return None
    folder = kept / "snapshots" / reference.read_text().strip()
    words = any((folder / file).is_file() for file in ("tokenizer.json", "vocab.txt", "vocab.json"))
    return folder if words and (folder / "config.json").is_file() and weight_files(folder) else None


def weight_files(folder: Path) -> list[Path]:
    """The files of weights that load without running code, safetensors before torch's own; none where a part lacks."""
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
    """Which file holds which tensor; empty where the index cannot be read."""
    try:
        return dict(json.loads(index.read_text(encoding="utf-8"))["weight_map"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def is_open_to_all(name: str) -> bool:
    """Whether whoever may ask a model at all may ask this one: it ships with the app."""
    return name in BUILTIN


def is_open_to_leads(name: str) -> bool:
    """Whether somebody who may load models on a server with accounts may name this one.

    Models that ship, names on the hub, and folders below EVENHAND_MODELS: any other path of the server is none of
    theirs. Links are followed before it is judged.
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
    """The built-in models, then those of the papers (core/data/models.tsv), of one task; None: of every task."""
    entries = [
        ModelEntry(name, True, each.language, each.note, (folder_of(name) / "config.json").is_file(), each.task)
        for name, each in BUILTIN.items()
    ]
    entries += [
        ModelEntry(row["name"], False, row["language"], row["paper_name"], bool(cached_snapshot(row["name"])), kind)
        for row in table("models")
        for kind in TASKS
        if row["task"] == kind
    ]
    return [entry for entry in entries if task in (None, entry.task)]
