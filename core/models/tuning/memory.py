"""What training will take in memory, said before it begins.

Weights, gradients and the two moments of Adam are 4 bytes a number each in fp32. Activations that backpropagation
keeps: about 34 bytes a token, layer and unit in 16 bits, plus 5 for each head and pair of tokens (Korthikanti et al.
2022, equation 1), so twice that in fp32; and the logits three times (themselves, their softmax, their gradient).
"""

from typing import Any

import psutil

from evenhand.core.models.tuning.settings import Memory, Tuning


def forecast(model: Any, tuning: Tuning, trained: int | None = None) -> Memory:
    """The bytes of a run of *model*; *trained*: how many numbers are trained, None for all."""
    config = model.config.get_text_config()
    numbers = sum(parameter.numel() for parameter in model.parameters())
    layers, width, heads = (
        int(getattr(config, name, 0)) for name in ("num_hidden_layers", "hidden_size", "num_attention_heads")
    )
    trained = numbers if trained is None else trained
    return needed(numbers, trained, layers, width, heads, int(config.vocab_size), tuning, available())


def needed(
    numbers: int, trained: int, layers: int, width: int, heads: int, vocabulary: int, tuning: Tuning, free: int
) -> Memory:
    """The bytes for a model of that shape with so many *numbers*, of which *trained* change; *free*: what is there."""
    tokens = tuning.batch * tuning.length
    activations = 2 * layers * tokens * (34 * width + 5 * heads * tuning.length)
    logits = 3 * 4 * tokens * vocabulary
    return Memory(4 * numbers, 4 * trained, 8 * trained, activations + logits, free)


def available() -> int:
    """Bytes of memory that are free on this machine."""
    return int(psutil.virtual_memory().available)
