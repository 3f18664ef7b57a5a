"""The association of every sentence of a corpus under one model.

association = ln(P_T / P_prior): P_T is the probability of the person word where the profession is given (TM), P_prior
where it is hidden too (TAM). Natural logarithm (Kurita et al. 2019; Bartl et al. 2020). Above 0: the profession makes
the person word likelier. Range (-inf, inf).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from evenhand.core.association.corpus import Sentence
from evenhand.core.association.sets import Attribute
from evenhand.core.errors import N_
from evenhand.core.types import MaskedSentence, Score

CHUNK = 1_024  # probes per batch; equal masked sentences stay in one batch
OK = "ok"
NO_PRIOR = N_("The model gives this word probability 0 when the profession is masked, so the ratio is undefined.")
NO_TARGET = N_("The model gives this word probability 0 when the profession is visible, so the logarithm is undefined.")

COLUMNS = (
    *("row", "sentence", "template", "person", "person_key", "pair", "person_gender", "profession", "profession_key"),
    *("class", "field", "women", "model", "logp_target", "logp_prior", "p_target", "p_prior", "association"),
    *("pieces", "masks", "status", "signature"),
)

Progress = Callable[[int, int], object]  # probes done, of how many


class Targets(Protocol):
    """The scorer of associations: `core.models.association_targets.TargetScorer`."""

    passes: int

    @property
    def signature(self) -> str:
        """Everything that can change the number."""
        ...

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """One score per probe, in order."""
        ...

    def pieces(self, probe: MaskedSentence) -> int:
        """How many pieces the word in the slot has."""
        ...

    def masks(self, probe: MaskedSentence) -> int | None:
        """How many masks the model reads."""
        ...


def association(logp_target: float | None, logp_prior: float | None) -> tuple[float | None, str | None]:
    """ln(P_T / P_prior) from natural-log probabilities, or None and why: a missing one, or a probability of 0."""
    if logp_target is None or logp_prior is None:
        return None, None
    if logp_prior == -math.inf:
        return None, NO_PRIOR
    if logp_target == -math.inf:
        return None, NO_TARGET
    return logp_target - logp_prior, None


@dataclass(frozen=True, slots=True)
class Associated:
    """One sentence with what one model says: natural-log probabilities, None where undefined.

    `pieces` of the person word; `masks` in the sentence with both hidden. `status` is "ok" or the reason.
    """

    row: int
    sentence: Sentence
    model: str
    signature: str
    logp_target: float | None
    logp_prior: float | None
    pieces: int
    masks: int | None
    status: str

    @property
    def value(self) -> float | None:
        """The association; None where undefined."""
        return association(self.logp_target, self.logp_prior)[0]

    def values(self) -> tuple[Any, ...]:
        """The cells in the order of COLUMNS; None where undefined."""
        one, person, profession = self.sentence, self.sentence.person, self.sentence.profession
        form = one.text[slice(*one.profession_at)]
        probabilities = (None if p is None else math.exp(p) for p in (self.logp_target, self.logp_prior))
        return (
            *(self.row, one.text, one.template.name, one.noun, person.key, person.pair, person.gender, form),
            *(profession.name, profession.kind, profession.field, profession.women, self.model),
            *(_finite(self.logp_target), _finite(self.logp_prior), *probabilities, self.value),
            *(self.pieces, self.masks, self.status, self.signature),
        )


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


@dataclass(slots=True)
class Tally:
    """The passes that a run needed, and those that it saved.

    `sentences` have two probes each. `target_passes`, `prior_passes`: distinct masked sentences that the model read
    for them; the rest of the probes were answered by the same pass as another one.
    """

    sentences: int = 0
    scored: int = 0
    target_passes: int = 0
    prior_passes: int = 0
    undefined: dict[str, int] = field(default_factory=dict)
    json_names: ClassVar = {"sentences": "rows", "undefined": None, "undefined_rows": "undefined"}
    also_in_json: ClassVar = ("undefined_rows", "probes", "passes", "passes_saved", "priors_saved")

    @property
    def undefined_rows(self) -> list[dict[str, Any]]:
        """How many sentences have no association, by reason."""
        return [{"reason": reason, "rows": rows} for reason, rows in self.undefined.items()]

    @property
    def probes(self) -> int:
        """How many probes there are: two a sentence."""
        return 2 * self.sentences

    @property
    def passes(self) -> int:
        """How many sentences the model read."""
        return self.target_passes + self.prior_passes

    @property
    def passes_saved(self) -> int:
        """Passes saved by reading equal masked sentences once."""
        return self.probes - self.passes

    @property
    def priors_saved(self) -> int:
        """Of these, passes saved by equal priors."""
        return self.sentences - self.prior_passes

    def count(self, one: Associated) -> None:
        """Count a finished sentence."""
        self.scored += one.status == OK
        if one.status != OK:
            self.undefined[one.status] = self.undefined.get(one.status, 0) + 1


def associate(
    corpus: Sequence[Sentence],
    scorer: Targets,
    *,
    model: str,
    attribute: Attribute = "word",
    tally: Tally | None = None,
    progress: Progress | None = None,
    chunk: int = CHUNK,
) -> list[Associated]:
    """Every sentence of *corpus* with its association under *scorer*, in order.

    The priors of all professions with equally many masks are one masked sentence for a template and determiner, and
    so are the targets of all person words with one determiner: each is read once, and all words are looked up there.
    """
    counted = tally if tally is not None else Tally()
    counted.sentences += len(corpus)
    targets = [one.target_probe() for one in corpus]
    priors = [one.prior_probe(attribute) for one in corpus]
    asked = _ChunkedAsking(scorer, progress, 2 * len(corpus), chunk)
    before = scorer.passes
    with_profession = asked.answers(targets, [one.tm for one in corpus])
    between = scorer.passes
    without = asked.answers(priors, [one.tam for one in corpus])
    counted.target_passes += between - before
    counted.prior_passes += scorer.passes - between
    masks: dict[tuple[str, str], int | None] = {}
    found = []
    for row, (one, target, prior) in enumerate(zip(corpus, with_profession, without, strict=True), 1):
        probe, seen = targets[row - 1], (one.tam, one.noun)
        if attribute == "piece" or seen not in masks:
            masks[seen] = scorer.masks(priors[row - 1])
        associated = _associated(row, one, model, target, prior, scorer.pieces(probe), masks[seen])
        counted.count(associated)
        found.append(associated)
    return found


def _associated(
    row: int, one: Sentence, model: str, target: Score, prior: Score, pieces: int, masks: int | None
) -> Associated:
    logps = (target.logprobs[0], prior.logprobs[0])
    reason = target.reason or prior.reason or association(*logps)[1]
    return Associated(row, one, model, target.signature, *logps, pieces, masks, reason or OK)


class _ChunkedAsking:
    """Asks in chunks; probes with equal masked sentences stay together, so that they are one pass."""

    def __init__(self, scorer: Targets, progress: Progress | None, total: int, chunk: int) -> None:
        self._scorer, self._progress, self._total, self._chunk = scorer, progress, total, chunk
        self._done = 0

    def answers(self, probes: Sequence[MaskedSentence], masked: Sequence[str]) -> list[Score]:
        """One score per probe, in order; *masked* says which of them are the same sentence when masked."""
        order = sorted(range(len(probes)), key=masked.__getitem__)
        found: dict[int, Score] = {}
        at = 0
        while at < len(order):
            end = min(at + self._chunk, len(order))
            while end < len(order) and masked[order[end]] == masked[order[end - 1]]:
                end += 1
            part = order[at:end]
            found.update(zip(part, self._scorer.score([probes[i] for i in part]), strict=True))
            at = end
            self._done += len(part)
            if self._progress is not None:
                self._progress(self._done, self._total)
        return [found[i] for i in range(len(probes))]
