"""What training will take in memory, from the files of a model: for a page, which loads no model."""

import json
import math
from pathlib import Path
from typing import Any

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models.catalogue import weight_files
from evenhand.core.models.fetching import HUB_NAME, locate
from evenhand.core.models.tuning.memory import available, needed
from evenhand.core.models.tuning.settings import Memory, Tuning

NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "width": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head"),
}


def memory_of(model: str, tuning: Tuning) -> Memory | None:
    """The forecast for a model that is on this machine; None where it is not, or its files do not tell."""
    if HUB_NAME.fullmatch(model) and not Path(model).exists():
        from evenhand.core.models.catalogue import BUILTIN, cached_snapshot

        if model not in BUILTIN and cached_snapshot(model) is None:
            return None
    try:
        folder = locate(model)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        numbers = sum(_numbers(file) for file in weight_files(folder))
    except (ModelUnavailable, OSError, ValueError, RecursionError):
        return None
    if not numbers or not isinstance(config, dict):
        return None
    layers, width, heads = (_first(config, names) for names in NAMES.values())
    trained = numbers if not tuning.lora else 2 * 6 * layers * width * tuning.lora  # six matrices a layer, about
    return needed(numbers, trained, layers, width, heads, int(config.get("vocab_size") or 0), tuning, available())


def _first(config: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((int(config[name]) for name in names if isinstance(config.get(name), int)), 0)


def _numbers(file: Path) -> int:
    """How many numbers a file of weights holds: by the head of a safetensors file, else by its size in fp32."""
    if file.suffix != ".safetensors":
        return file.stat().st_size // 4
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > 100 << 20:
            return 0
        head = json.loads(opened.read(length))
    return sum(math.prod(one["shape"]) for name, one in head.items() if name != "__metadata__")


def training_seconds(numbers: int, tuning: Tuning, *, speed: float, used: float) -> float:
    """About how long a run takes: 6 operations a parameter and token, forward and backward (Kaplan et al. 2020, table
    1, without attention), on a device of *speed* operations a second of which the share *used* is had (0 to 1)."""
    return 6 * numbers * tuning.steps * tuning.batch * tuning.length / (speed * used)
