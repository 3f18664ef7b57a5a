"""A model of the user's on the ruler: its values beside the nulls and references that belong to each of them.

Either the built-in neutral sentences are asked of a model by its name, or the scores of a run are read; then only the
references ask a model, and where it cannot be had they say so and the rest stands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.audit.sample import keyword_in
from evenhand.core.errors import N_, EvenhandError, NotFound
from evenhand.core.model_bias import Summary, is_reference, prior_corrected, rows_of, summarise, units_of
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.resources import keyword_pairs
from evenhand.core.ruler.context_effects import Magnitude, in_contexts, in_sentences
from evenhand.core.ruler.nulls import Null, nulls
from evenhand.core.ruler.planted import scored
from evenhand.core.scoring.rows import ScoreItem, item_of
from evenhand.core.sentence_bias.keyword_packs import pack
from evenhand.core.sentence_bias.prior import neutral_contexts, neutral_probes
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.text.keywords import candidate
from evenhand.core.types import Scorer, Signature

if TYPE_CHECKING:
    import pandas as pd

OpenScorer = Callable[[str], Scorer]

SAMPLE = 400  # sentences of a run that are asked of the untrained model
NO_CORRECTED = Note(N_("No word pair has two sentences with a finite Bias_c, so no pair mean can be subtracted."))
OTHER_WEIGHTS = Note(N_("The model of that name now has other weights than when these scores were computed."))
OTHER_WAY = Note(N_("These scores and the reference use different scoring methods, so magnitudes are not comparable."))
NOT_ASKED = Note(N_("The model was not run: references are switched off."))


@dataclass(frozen=True, slots=True)
class Untrained:
    """The untrained model (random-zh) on the same sentences, or a sample of them: what no knowledge looks like."""

    n: int
    model_bias: Estimate
    context_effect: Estimate
    signature: str


@dataclass(frozen=True, slots=True)
class OnRuler:
    """A model with everything that stands beside its values, in log10.

    `context_effect`: mean |prior-corrected Bias_c|, what contexts do. `neutral_words`, `untrained` are None with a
    reason where they could not be had. `source`: "" for the built-in sentences, else what the scores are called.
    """

    model: str
    signature: str
    source: str
    summary: Summary
    context_effect: Estimate
    nulls: tuple[Null, ...]
    neutral_words: Magnitude | None
    neutral_words_reason: Note | None
    untrained: Untrained | None
    untrained_reason: Note | None


def built_in_items() -> list[ScoreItem]:
    """Every keyword pair in each of its neutral contexts, as rows to be scored; the male word stands for both."""
    found = [
        candidate(context.replace("{word}", pair.male), context.index("{word}"), pair, "male")
        for pair in keyword_pairs()
        for context in neutral_contexts(pair.name)
    ]
    return [item_of(row, one) for row, one in enumerate(found, 1)]


def pack_items(language: str) -> list[ScoreItem]:
    """Every pair of the keyword pack of a language in each of its neutral contexts, as rows to be scored."""
    probes = [(entry.pair, probe) for entry in pack(language).words for probe in neutral_probes(entry)]
    return [
        ScoreItem(
            row, probe.text, probe.start, probe.end, probe.start, probe.end, pair.name, "male",
            probe.text[probe.start : probe.end], probe.options, agreeing=probe.agreeing,
        )
        for row, (pair, probe) in enumerate(probes, 1)
    ]  # fmt: skip


def on_built_in(model: str, open_scorer: OpenScorer, *, seed: int = 0) -> OnRuler:
    """*model* on the built-in neutral sentences. Raises ModelUnavailable where it cannot be had.

    The sentences have no source, so the side AUC is undefined.
    """
    scorer = open_scorer(model)
    items = built_in_items()
    frame = scored(items, scorer, model)
    magnitude = in_contexts(scorer, seed=seed)
    untrained, reason = _untrained(items, open_scorer, seed)
    return _summary(frame, "", magnitude, None, untrained, reason, seed)


def on_scores(
    frame: "pd.DataFrame", model: str, open_scorer: OpenScorer | None, *, source: str, seed: int = 0
) -> OnRuler:
    """*model* as the scores in *frame* have it (`core.model_bias.read_scores`).

    *open_scorer* None: no model is asked, and the references say that. Raises NotFound for a model without rows.
    """
    rows = rows_of(frame, model)
    magnitude, why = _magnitude(rows, model, open_scorer, seed)
    other, reason = _untrained_of(frame, rows, open_scorer, seed)
    return _summary(rows, source, magnitude, why, other, reason, seed)


def _summary(
    rows: "pd.DataFrame",
    source: str,
    magnitude: Magnitude | None,
    why: Note | None,
    untrained: Untrained | None,
    reason: Note | None,
    seed: int,
) -> OnRuler:
    summary = summarise(rows, seed=seed)
    return OnRuler(
        model=summary.model,
        signature=summary.signature,
        source=source,
        summary=summary,
        context_effect=mean_corrected(rows, seed=seed),
        nulls=tuple(nulls(rows, seed=seed)),
        neutral_words=magnitude,
        neutral_words_reason=why,
        untrained=untrained,
        untrained_reason=reason,
    )


def mean_corrected(rows: "pd.DataFrame", *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """Mean |prior-corrected Bias_c| of one model's rows in log10, with its interval over units (SPEC 6.1)."""
    size = prior_corrected(rows).abs().dropna()
    if size.empty:
        return Estimate.undefined(NO_CORRECTED)
    units = units_of(rows.loc[size.index])
    sums = units.sums(size.to_numpy(float), np.ones(len(size)))

    def measures(weights: Any) -> dict[str, Any]:
        total = weights @ sums
        return {"mean": total[:, 0] / total[:, 1]}

    return over_units(
        Resampling(resamples, seed), measures, units.count, {"mean": (0.0, np.inf)}, {"mean": [sums[:, 1]]}
    )["mean"]


def _magnitude(
    rows: "pd.DataFrame", model: str, open_scorer: OpenScorer | None, seed: int
) -> tuple[Magnitude | None, Note | None]:
    if open_scorer is None:
        return None, NOT_ASKED
    try:
        scorer = open_scorer(model.split(" (")[0])
        if _weights(scorer.signature) not in {_weights(text) for text in rows["signature"].drop_duplicates()}:
            return None, OTHER_WEIGHTS
        if not _same_way(rows, scorer.signature):
            return None, OTHER_WAY
        return in_sentences(rows, scorer, seed=seed), None
    except EvenhandError as error:
        return None, Note(error.message, error.values)


def _same_way(rows: "pd.DataFrame", signature: str) -> bool:
    """Whether scores were asked and joined as those of *signature* are: by the same method, with the same joint."""
    return _scoring_method(signature) in {_scoring_method(text) for text in rows["signature"].drop_duplicates() if text}


def _scoring_method(text: str) -> tuple[str, str]:
    parts = Signature.parse(text)
    return (parts.method, parts.joint) if parts else (text, "")


def _weights(text: str) -> str:
    parts = Signature.parse(text)
    return parts.weights if parts else text


def _untrained_of(
    frame: "pd.DataFrame", rows: "pd.DataFrame", open_scorer: OpenScorer | None, seed: int
) -> tuple[Untrained | None, Note | None]:
    own = frame[frame["model"].map(is_reference).astype(bool)]
    if len(own) and not _same_way(rows, str(own["signature"].iloc[0])):
        return None, OTHER_WAY
    if len(own):  # the run has it already, on all its sentences
        return _as_untrained(own, seed), None
    if open_scorer is None:
        return None, NOT_ASKED
    try:
        if not _same_way(rows, open_scorer(RANDOM).signature):
            return None, OTHER_WAY
    except EvenhandError as error:
        return None, Note(error.message, error.values)
    sided = rows[rows["side"].isin(["male", "female"])]
    some = sided.sample(min(SAMPLE, len(sided)), random_state=seed).sort_index()
    return _untrained(_items(some), open_scorer, seed)


def _items(rows: "pd.DataFrame") -> list[ScoreItem]:
    items = []
    columns = (rows[name] for name in ("row", "sentence", "pair", "side", "start"))
    for number, (row, text, pair, side, start) in enumerate(zip(*columns, strict=True), 1):
        at = int(start) if isinstance(start, int | np.integer) else None
        try:
            items.append(item_of(number, keyword_in(str(text), str(pair), side, at, row=row)))
        except NotFound:  # a file without positions and a word that stands twice
            continue
    return items


def _untrained(items: list[ScoreItem], open_scorer: OpenScorer, seed: int) -> tuple[Untrained | None, Note | None]:
    try:
        return _as_untrained(scored(items, open_scorer(RANDOM), RANDOM), seed), None
    except EvenhandError as error:
        return None, Note(error.message, error.values)


def _as_untrained(rows: "pd.DataFrame", seed: int) -> Untrained:
    found = summarise(rows, seed=seed)
    return Untrained(found.n, found.model_bias, mean_corrected(rows, seed=seed), found.signature)
