"""What the measures look like by chance: which of the two words is called the male one, and which one the source had.

Two shuffles, each the null of something else (SPEC 6.1; drawn by `core.model_bias.nulls`):

* **the words of a pair change sides**: every Bias_c keeps its size and gets a random sign, the same for all sentences
  of a stem (男/女 is that of seven pairs). Null of the signed mean and of Bias_man - Bias_woman. Sentence by sentence
  it is none, since the sentences of a pair share the lean of its words: that row says so.
* **the sources change sides**: which sentences had the male word, for all of a stem. Null of the side AUC.

Neither touches |Bias_c|, so neither is a null of Model_bias, Bias_man or Bias_woman: for how large they are there is
only a reference, see `core.ruler.context_effects`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from evenhand.core.errors import N_
from evenhand.core.model_bias import nulls as drawn
from evenhand.core.statistics import RESAMPLES, Note

if TYPE_CHECKING:
    import pandas as pd

Shuffled = Literal["sentence", "pair", "source"]

NOISE = 6  # decimals: fp32 says nothing beyond them, and a model that says the same everywhere must not look shuffled
WHAT: dict[Shuffled, str] = {
    "sentence": N_("the two words are swapped at random in every sentence"),
    "pair": N_("the two words are swapped, stem by stem"),
    "source": N_("the source words are swapped, stem by stem"),
}
NAMES: dict[str, str] = {
    "signed_mean": N_("signed mean"),
    "side_difference": "Bias_man − Bias_woman",
    "side_auc": N_("side AUC"),
}


@dataclass(frozen=True, slots=True)
class Null:
    """A measure of a model beside what chance alone gives: the middle 95% of the shuffled values.

    `null_of`: a key of NAMES. `p`: the share of shuffled values at least as far from the middle as the model's
    (two-sided). All None, with a reason, where the measure is undefined; without a value for `p` where there is no
    test. In log10, or 0 to 1 for the AUC. `units`: how many stems turned.
    """

    null_of: str
    shuffled: Shuffled
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: Note | None = None
    units: int = 0
    explained_by: ClassVar = "reason"

    @property
    def inside(self) -> bool | None:
        """Whether the model's value is one that chance alone gives; None where undefined."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return self.low <= self.value <= self.high


def nulls(rows: "pd.DataFrame", *, resamples: int = RESAMPLES, seed: int = 0) -> list[Null]:
    """Every measure that has a null, of one model's scores (as `core.model_bias.read_scores` gives them)."""
    rows = rows.assign(bias_log10=rows["bias_log10"].round(NOISE))
    found = drawn.shuffled_sides(rows, shuffles=resamples, seed=seed)
    alone = drawn.shuffled_sides(rows, unit="sentence")
    return [
        *(_null(alone[name], "sentence") for name in ("signed_mean", "side_difference")),
        *(_null(found[name], "pair") for name in ("signed_mean", "side_difference")),
        _null(found["side_auc"], "source"),
    ]


def _null(found: drawn.Null, shuffled: Shuffled) -> Null:
    return Null(found.of, shuffled, found.observed, found.low, found.high, found.p, found.reason, found.stems)
