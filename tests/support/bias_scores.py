"""Score rows made by hand: one pair, or twelve pairs of a stem each."""

import math
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.model_bias import read_scores
from evenhand.core.resources import keyword_pairs, stem_of

GOLDEN = [0.741, -1.428, 0.2, -0.1, 0.0]  # docs/methods.md#bias-of-a-model


def scores(values: list[float | None], model: str = "m", **columns: Any) -> pd.DataFrame:
    """Return a score table of one model with these values; `columns` replace the plain ones."""
    n = len(values)
    bias = [math.nan if value is None else value for value in values]
    given_columns: dict[str, Any] = {
        "row": range(1, n + 1),
        "sentence": [f"他看见了第{i}只鸟。" for i in range(n)],
        "pair": "他/她",
        "keyword": ["他" if i % 2 == 0 else "她" for i in range(n)],
        "model": model,
        "p_male": 0.2,
        "p_female": 0.1,
        "bias_log10": bias,
        "signature": f"masked|{model}|weights:00000000|independent|fp32|v1",
    }
    return read_scores(pd.DataFrame({**given_columns, **columns}))


TWELVE = [f"{pair.male}/{pair.female}" for pair in {stem_of(p.name): p for p in keyword_pairs()}.values()]


def stemmed(values: list[float | None], model: str = "m", **columns: Any) -> pd.DataFrame:
    """Return the scores of *values* over twelve pairs, each of its own stem; the source has male, then female words."""
    pairs = [TWELVE[i % 12] for i in range(len(values))]
    keyword = [pair.split("/")[i // 12 % 2] for i, pair in enumerate(pairs)]
    return scores(values, model, pair=pairs, keyword=keyword, **columns)


def normal(n: int, seed: int = 1, shift: float = 0.0) -> list[float]:
    return list(np.random.default_rng(seed).normal(shift, 0.5, n))
