"""Sentence bias (Bias_c), model bias, and checks of a printed Bias_c.

Source: the SlguSet papers (conference equations 1 to 3, journal equation 2; docs/methods.md#bias-of-a-sentence).
Direction: positive leans to the male word, negative to the female word, regardless of the word in the source.
Base: log10 unless a name says otherwise; `as_ln` converts. Undefined is None, with a reason in words.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evenhand.core.errors import N_
from evenhand.core.types import Score, Signature

LN10 = math.log(10)
OBVIOUS = 0.3  # log10: a factor of 1.995, the papers' threshold
SMALL_MASS = 0.01  # below one per cent for both words together the ratio says little
WHOLE_SENTENCES = ("pair-sum", "pll", "lm-eval")  # methods without a slot; the last is of logs (core.harness)
Denominator = Literal["side", "all"]

NO_ANSWER = N_("The model gives no probability for one of the two words.")
NO_SLOT = N_("Whole sentences were scored, so there is no slot and no pair mass.")
BOTH_ZERO = N_("Both words have probability 0, so their ratio is undefined.")


def as_ln(log10_value: float | None) -> float | None:
    """Return a log10 ratio as a natural-log ratio; None stays None."""
    return None if log10_value is None else log10_value * LN10


def bias(logp_male: float | None, logp_female: float | None, base: float = 10) -> float | None:
    """Return log(p_male / p_female) in *base* from natural-log probabilities (docs/methods.md#bias-of-a-sentence).

    Range (-inf, inf); positive leans male. A word of probability 0 (-inf) gives +inf or -inf.
    None where a probability is missing or both are 0: `why_undefined` says which.
    """
    if logp_male is None or logp_female is None or math.isnan(logp_male) or math.isnan(logp_female):
        return None
    if logp_male == logp_female == -math.inf:
        return None
    return (logp_male - logp_female) / math.log(base)


def bias_of(score: Score) -> float | None:
    """Return Bias_c in log10 of a score whose first option is the male word, the second the female word."""
    return bias(score.logprobs[0], score.logprobs[1])


def why_undefined(logp_male: float | None, logp_female: float | None) -> str | None:
    """Return the reason, as a sentence, for which `bias` is None for these two values; None where it is defined."""
    if bias(logp_male, logp_female) is not None:
        return None
    return BOTH_ZERO if logp_male == logp_female == -math.inf else NO_ANSWER


def pair_mass(logp_male: float | None, logp_female: float | None) -> float | None:
    """Return p_male + p_female at the slot, in [0, 1]: the model's probability of either word.

    See docs/methods.md#pair-and-context.
    """
    if logp_male is None or logp_female is None:
        return None
    return min(1.0, math.exp(logp_male) + math.exp(logp_female))


def masks_in(signature: str, masks: int) -> int:
    """Return the power that turns a score into a word's probability: *masks* for a geometric mean over them, else 1."""
    parts = Signature.parse(signature)
    return max(1, masks) if parts is not None and parts.joint == "geometric_mean" else 1


def method_of(signature: str) -> str:
    """Return the method of a signature, "masked", "pair-sum" or "pll"; "" for a text of another form."""
    parts = Signature.parse(signature)
    return parts.method if parts is not None else ""


def whole_sentences(signature: str) -> bool:
    """Tell if the probabilities are of whole sentences, for which no pair mass exists.

    See docs/methods.md#pair-and-context.
    """
    return method_of(signature) in WHOLE_SENTENCES


def word_mass(logp_male: float | None, logp_female: float | None, signature: str, masks: int) -> float | None:
    """Return `pair_mass` of whole words, the product over masks, also for scores that are geometric means.

    See docs/methods.md#pair-and-context.

    None where whole sentences were scored: their probabilities say nothing about a slot.
    """
    if logp_male is None or logp_female is None or whole_sentences(signature):
        return None
    power = masks_in(signature, masks)
    return pair_mass(logp_male * power, logp_female * power)


def corrected(bias_log10: float | None, prior_log10: float | None) -> float | None:
    """Return Bias_c minus the mean Bias_c of its word pair; None where either is missing or infinite.

    See docs/methods.md#pair-and-context.
    """
    if bias_log10 is None or prior_log10 is None or not math.isfinite(bias_log10) or not math.isfinite(prior_log10):
        return None
    return bias_log10 - prior_log10


@dataclass(frozen=True, slots=True)
class SideMeans:
    """Bias_man, Bias_woman and Model_bias of many sentences, in the base of the values that went in.

    `n` counts the finite values; `n_man`, `n_woman` those above and below 0; 0 belongs to neither.
    `undefined` and `infinite` values are left out of every mean and counted.
    Both side values are >= 0; None where the side is empty (never 0).
    """

    n: int
    n_man: int
    n_woman: int
    undefined: int
    infinite: int
    bias_man: float | None
    bias_woman: float | None
    model_bias: float | None
    denominator: Denominator


def side_means(values: Iterable[float | None], *, denominator: Denominator = "side") -> SideMeans:
    """Return the three summaries of docs/methods.md#bias-of-a-model.

    denominator "side" divides each side's sum by the sentences of that side (conference, equations 2 and 3);
    "all" divides by all finite values (journal, equation 2, as far as it can be read).
    Model_bias is the mean of the two sides; undefined where a side is empty.
    """
    given = [math.nan if value is None else value for value in values]
    finite = [value for value in given if math.isfinite(value)]
    man = [value for value in finite if value > 0]
    woman = [value for value in finite if value < 0]

    def mean(side: list[float]) -> float | None:
        if not side:
            return None
        return abs(math.fsum(side)) / (len(side) if denominator == "side" else len(finite))

    bias_man, bias_woman = mean(man), mean(woman)
    model = None if bias_man is None or bias_woman is None else (bias_man + bias_woman) / 2
    undefined = sum(math.isnan(value) for value in given)
    infinite = len(given) - undefined - len(finite)
    return SideMeans(len(finite), len(man), len(woman), undefined, infinite, bias_man, bias_woman, model, denominator)


@dataclass(frozen=True, slots=True)
class Obvious:
    """The number of sentences that lean by more than 0.3; `male + female + none` is the number of finite values."""

    male: int
    female: int
    none: int


def obvious(values: Iterable[float | None]) -> Obvious:
    """Count |Bias_c| > 0.3 in log10 (docs/methods.md#bias-of-a-model); exactly 0.3 is not obvious."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    male = sum(value > OBVIOUS for value in finite)
    female = sum(value < -OBVIOUS for value in finite)
    return Obvious(male, female, len(finite) - male - female)


@dataclass(frozen=True, slots=True)
class PrintedCheck:
    """The check whether a printed Bias_c follows from the two printed probabilities.

    `calculated` is the ratio in log10; `low`, `high` the range that rounded probabilities allow.
    `needed_p_male`, `needed_p_female` are the values that would give the printed one if the other is right.
    """

    calculated: float
    low: float
    high: float
    consistent: bool
    needed_p_male: float
    needed_p_female: float


def check_printed(
    p_male: float, p_female: float, printed: float, *, digits: int = 4, decimals: int = 3, base: float = 10
) -> PrintedCheck:
    """Check a published row: does *printed* follow from the probabilities, printed with *digits* digits?

    Rounding is allowed for: every probability may be off by half a unit of its last digit, the printed
    value by half a unit of its last decimal. Raises ValueError unless both probabilities are in (0, 1].
    """
    if not (0 < p_male <= 1 and 0 < p_female <= 1):
        raise ValueError("a printed probability must lie in (0, 1]")
    half_male, half_female = (0.5 * 10 ** (math.floor(math.log10(p)) - digits + 1) for p in (p_male, p_female))
    scale = math.log(base)
    low = math.log((p_male - half_male) / (p_female + half_female)) / scale
    high = math.log((p_male + half_male) / (p_female - half_female)) / scale
    slack = 0.5 * 10**-decimals + 1e-12
    return PrintedCheck(
        calculated=math.log(p_male / p_female) / scale,
        low=low,
        high=high,
        consistent=low - slack <= printed <= high + slack,
        needed_p_male=p_female * base**printed,
        needed_p_female=p_male * base**-printed,
    )


def times(bias_log10: float) -> str:
    """Return how many times as likely the more likely word is: "6.6", "12", "2,300". The sign does not matter.

    One decimal below 10, whole numbers below 100, two digits above; "∞" for an infinite ratio.
    """
    size = abs(bias_log10)
    if math.isinf(size):
        return "∞"
    if size >= 9:
        return f"10^{size:.1f}"
    ratio = 10**size
    if ratio < 9.95:
        return f"{ratio:.1f}"
    if ratio < 99.5:
        return f"{ratio:.0f}"
    unit = 10 ** (math.floor(math.log10(ratio)) - 1)
    return f"{round(ratio / unit) * unit:,}"


def odds(bias_log10: float | None, words: tuple[str, str] | None = None) -> tuple[str, dict[str, str]]:
    """Return the ratio as a sentence to translate, and the values for its places.

    The sentence names the male or the female word, never a person; of two *words* without a side it names these.
    """
    if bias_log10 is None:
        return N_("The ratio is undefined here."), {}
    if words is not None and times(bias_log10) != "1.0":
        word, other = words if bias_log10 > 0 else words[::-1]
        if math.isinf(bias_log10):
            return N_("Only {word} is possible; {other} has probability 0."), {"word": word, "other": other}
        message = N_("{word} is {times} times as likely as {other}.")
        return message, {"word": word, "times": times(bias_log10), "other": other}
    if math.isinf(bias_log10):
        only_male = N_("Only the male word is possible; the female word has probability 0.")
        only_female = N_("Only the female word is possible; the male word has probability 0.")
        return (only_male if bias_log10 > 0 else only_female), {}
    value = times(bias_log10)
    if value == "1.0":
        return N_("Both words are about equally likely."), {}
    male = N_("The male word is {times} times as likely as the female word.")
    female = N_("The female word is {times} times as likely as the male word.")
    return (male if bias_log10 > 0 else female), {"times": value}
