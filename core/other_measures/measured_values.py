"""One figure of a measure, with interval and null, for the model, its untrained twin or the control.

The control consists of pairs of sentences that differ in a word without gender. It shows the value of a measure of
pairs without any lean.
"""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.core.models.catalogue import known_models
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note

Role = Literal["model", "untrained", "control"]
ROLES: tuple[Role, ...] = ("model", "untrained", "control")
DRAWN = 4_000  # values of a null that is drawn

Numbers = NDArray[np.float64]
Watch = Callable[[int], object]  # how many texts are done


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """A number of a measure on its own scale.

    `quantity`: share, ss, the name of a test and so on. `neutral`: the value without a lean, None where undefined.
    `band`: the two ends between which 95 of 100 values lie by chance alone. `p`: how often chance alone reaches the
    value, one-sided for WEAT and SEAT, two-sided elsewhere. `facts`: further counts.
    """

    quantity: str
    role: Role
    estimate: Estimate
    neutral: float | None = None
    band: tuple[float, float] | None = None
    p: float | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return the values for a record and for `--json`; an undefined one is None with its reason."""
        estimate = self.estimate
        data: dict[str, object] = {"quantity": self.quantity, "role": self.role} | estimate.numbers("units")
        data |= {"neutral": self.neutral, "method": estimate.method, "p": self.p}
        data |= {"band": list(self.band) if self.band else None, **self.facts}
        for key, note in (("value_reason", estimate.reason), ("interval_reason", estimate.note)):
            if note is not None:
                data |= {key: str(note), f"{key}_message": note.message, f"{key}_values": note.values}
        return data

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "MeasuredValue":
        """Return the value that a record holds; its reasons can be translated."""
        reason, note = (
            Note(data[f"{key}_message"], data.get(f"{key}_values") or {}) if data.get(f"{key}_message") else None
            for key in ("value_reason", "interval_reason")
        )
        estimate = Estimate(
            data["value"], data.get("low"), data.get("high"), data.get("units", 0), reason, note,
            method=data.get("method", ""),
        )  # fmt: skip
        low, high = data.get("band") or (None, None)
        band = None if low is None or high is None else (low, high)
        return cls(data["quantity"], data["role"], estimate, data.get("neutral"), band, data.get("p"), data)


@dataclass(slots=True)
class Answered:
    """The answers of one model or its twin: signature, figures, and the score of every text for the table."""

    signature: str
    figures: list[MeasuredValue] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)  # item, part, text, score


def percent(share: Estimate) -> Estimate:
    """Return a share of 1 in percent, with its interval."""
    ends = [None if value is None else 100 * value for value in (share.value, share.low, share.high)]
    return replace(share, value=ends[0], low=ends[1], high=ends[2])


def coin_band(count: int) -> tuple[float, float] | None:
    """Return the shares (percent) between which 95 of 100 lie if a fair coin decides each of *count* pairs."""
    if not count:
        return None
    from scipy import stats

    low, high = stats.binom.ppf([0.025, 0.975], count, 0.5)
    return 100 * float(low) / count, 100 * float(high) / count


def coin_p(higher: int, count: int) -> float | None:
    """Return the two-sided exact p of *higher* of *count* by a fair coin; None without a pair."""
    if not count:
        return None
    from scipy import stats

    return float(stats.binomtest(higher, count, 0.5).pvalue)


def drawn_null(values: Numbers, observed: float, centre: float) -> tuple[tuple[float, float], float]:
    """Return the band of drawn null *values*, and the two-sided p of *observed*: (k + 1) / (n + 1)."""
    low, high = np.percentile(values, [2.5, 97.5])
    farther = int((np.abs(values - centre) >= abs(observed - centre) - 1e-9).sum())
    return (float(low), float(high)), (farther + 1) / (len(values) + 1)


def flipped_null(signs: Sequence[int], units: Sequence[str]) -> tuple[tuple[float, float], float] | None:
    """Return the band and the two-sided p of a share of pairs, in percent, if a coin decides each unit as a whole.

    *signs*: 1 where the first sentence of a pair is preferred, -1 where the second is, 0 for a tie, which counts in
    the denominator. *units*: the words in which a pair differs. A model that prefers one of two words decides all
    their pairs, so the null turns the signs of a unit together. None without a pair that is decided.
    """
    decided = sum(map(abs, signs))
    if not decided:
        return None
    names = list(dict.fromkeys(units))
    sums = np.bincount([names.index(unit) for unit in units], weights=signs).astype(float)
    turns = np.random.default_rng(0).choice([-1.0, 1.0], size=(DRAWN, len(names)))
    scale = 50 / len(signs)  # percent
    return drawn_null(scale * (decided + turns @ sums), scale * (decided + sum(signs)), scale * decided)


def middle(values: Sequence[float]) -> float | None:
    """Return the median; None without values."""
    return float(np.median(values)) if len(values) else None


def without_interval(value: float, units: int, why: Note) -> Estimate:
    """Return a value without an interval, with the reason *why*; a value that is not finite is undefined."""
    if not math.isfinite(value):
        return Estimate.undefined(why, units)
    return Estimate(value, units=units, note=why)


@cache
def published(measure: str, variant: str) -> tuple[dict[str, str], ...]:
    """Return the printed values of a measure (model, quantity, value, source), without those of other variants."""
    rows = table("published_other_measures")
    return tuple(row for row in rows if row["measure"] == measure and row["variant"] in ("", variant))


_TWO = re.compile(r"\[([^|\[\]]+)\|([^|\[\]]+)\]")
BLANK = "BLANK"


@dataclass(frozen=True, slots=True)
class ControlPair:
    """A context with BLANK and two words; which of them comes first is drawn by a hash, so it means nothing."""

    context: str
    words: tuple[str, str]

    @property
    def sentences(self) -> tuple[str, str]:
        """Both sentences, in the order of the words."""
        first, second = (self.context.replace(BLANK, word) for word in self.words)
        return first, second


@cache
def control_pairs(language: str) -> tuple[ControlPair, ...]:
    """Return the 40 pairs of a language ("en", "zh"); none for another language."""
    pairs = []
    for row in table("control_pairs"):
        if row["language"] != language:
            continue
        two = _TWO.search(row["sentence"])
        assert two is not None
        words = (two[1], two[2])
        if hashlib.sha256(row["sentence"].encode()).digest()[0] % 2:
            words = (two[2], two[1])
        pairs.append(ControlPair(_TWO.sub(BLANK, row["sentence"]), words))
    return tuple(pairs)


def control_language(model: str, texts: tuple[str, ...]) -> str:
    """Return the language of the control: the language of the model where known, else of the texts."""
    known = {entry.name: entry.language for task in ("masked", "causal") for entry in known_models(task)}
    if known.get(model) in ("en", "zh"):
        return known[model]
    sample = "".join(texts[:20])
    return "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in sample) else "en"
