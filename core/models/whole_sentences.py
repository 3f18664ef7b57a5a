"""Scores that are sums over whole sentences, one with each option of a probe; and which scorer answers for a method.

`PairSumScorer`, of causal models. docs/models.md#methods: log P(sentence) = sum over t of log P(w_t | w_1 ... w_t-1).
Before the first token in which the options' sentences differ all terms are equal and cancel in Bias_c, so the sum
begins there; the logprobs of a score are therefore of the rest of the sentence given its beginning, natural logs, and
not comparable with those of masked scoring. The end of the text is not scored.

`PllScorer`, of masked models: every token of a sentence masked in turn; for comparison with masked scoring. Source:
Salazar et al. 2020, "Masked Language Model Scoring", equation 2: PLL(W) = sum over t of log P(w_t | W without t).
Bias_c is PLL(sentence with the male word) - PLL(sentence with the female word), natural logs, and holds what the word
does to the probability of every other token, not only its own. For words of several tokens this is the original sum,
which Kauf and Ivanova 2023 found to favour words whose tokens predict each other; their within-word variant is not
computed. Special tokens around the sentence are given, not scored. Cost: one row of the length of the sentence for
every token and option. What both sentences ask alike (a word of one token, masked) is computed once: 2 L - 1 rows for a
sentence of L tokens where masked scoring needs one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from evenhand.core.errors import N_, Refused
from evenhand.core.models import Joint, Method, Precision
from evenhand.core.models.continuations import CausalScorer, passage, passages, shared_tokens
from evenhand.core.models.loaded import LoadedModel, Task
from evenhand.core.models.loading import load_model, task_of
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.models.probe_tokens import (
    BAD_SPAN,
    EMPTY_OPTION,
    LITERAL_MASK,
    NO_OPTIONS,
    TOO_LONG,
    UNKNOWN_OPTION,
    TextReader,
    longest_input,
    outside_spans,
)
from evenhand.core.types import MASK, MaskedSentence, Score

HIDDEN = N_("This method scores whole sentences and cannot mask other words of the sentence.")
SAME_TOKENS = N_("The words have identical tokens in this model, so there is nothing to compare.")


@dataclass(frozen=True, slots=True)
class Sentences:
    """The token ids of a probe's text with each option in the slot.

    `ids` hold the tokenizer's frame too; the text is `ids[i][before : len(ids[i]) - after]`. None for an option that
    is undefined, for which `reason` says why.
    """

    ids: tuple[tuple[int, ...] | None, ...]
    before: int
    after: int
    reason: str | None = None


class SentenceReader(TextReader):
    """Reads whole sentences with the tokenizer of one model; the model's own way to cut them, not piece by piece.

    *opening*: put only a beginning before the text, and that always: what the tokenizer adds there, else its
    beginning-of-text token (GPT-2 knows one and adds none); nothing after it.
    """

    def __init__(self, tokenizer: Any, longest: int, *, opening: bool = False) -> None:
        super().__init__(tokenizer, longest)
        self._masks = {MASK, tokenizer.mask_token} - {None}
        if opening:
            own = [] if tokenizer.bos_token_id is None else [int(tokenizer.bos_token_id)]
            self._before, self._after = self._before or own, []

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Sentences]:
        """Return the sentences of each probe, in order, or why they are undefined for this model."""
        drafts = [self._refusal(probe) for probe in probes]
        sound = [probe for probe, refusal in zip(probes, drafts, strict=True) if refusal is None]
        texts = [probe.with_option(number)[0] for probe in sound for number in range(len(probe.options))]
        encodings = iter(self._backend.encode_batch(texts, add_special_tokens=False))
        sentences = iter([self._framed(probe, [next(encodings) for _ in probe.options]) for probe in sound])
        return [next(sentences) if refusal is None else refusal for refusal in drafts]

    def _refusal(self, probe: MaskedSentence) -> Sentences | None:
        """Return the undefined result of a probe that fails a check before encoding; None where it passes."""
        outside = outside_spans(probe.text, [(place.start, place.end) for place in probe.places()])
        reason = None
        if outside is None or probe.start == probe.end:
            reason = BAD_SPAN
        elif probe.hidden:
            reason = HIDDEN
        elif any(mask in piece for piece in outside for mask in self._masks):
            reason = LITERAL_MASK
        elif not probe.options:
            reason = NO_OPTIONS
        elif not all(option.strip() for option in probe.options):
            reason = EMPTY_OPTION
        return None if reason is None else self._undefined(probe, reason)

    def _undefined(self, probe: MaskedSentence, reason: str) -> Sentences:
        return Sentences((None,) * len(probe.options), len(self._before), len(self._after), reason)

    def _framed(self, probe: MaskedSentence, encodings: list[Any]) -> Sentences:
        """Return the sentences of a sound probe from the encodings of its texts."""
        ids: list[tuple[int, ...] | None] = []
        for number, encoding in enumerate(encodings):
            unknown = any(self.is_unknown(encoding, *span) for span in probe.with_option(number)[1])
            ids.append(None if unknown else (*self._before, *encoding.ids, *self._after))
        known = [row for row in ids if row]
        if any(len(row) > self.longest for row in known):
            return self._undefined(probe, TOO_LONG)
        if len(known) > 1 and len(set(known)) == 1:
            return self._undefined(probe, SAME_TOKENS)
        reason = None if len(known) == len(ids) else UNKNOWN_OPTION
        return Sentences(tuple(ids), len(self._before), len(self._after), reason)


NO_BEGINNING = N_(
    "The sentence begins with the word, and this model's tokenizer adds no token before it, so the first"
    " word has no probability."
)


class PairSumScorer(CausalScorer):
    """The probability of the sentence with each option, from the first token that differs."""

    method, version, joining = "pair-sum", 1, "sum"

    def __init__(self, loaded: LoadedModel, *, shared: bool | None = None) -> None:
        longest = longest_input(loaded.tokenizer, loaded.model.config)
        self.reader = SentenceReader(loaded.tokenizer, longest, opening=True)
        super().__init__(loaded, self.reader, shared)

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order: natural logs, None with a reason where undefined."""
        read = [_comparable(sentences) for sentences in self.reader.read_all(probes)]
        rows = [tuple(ids for ids in sentences.ids if ids) for sentences in read]
        asked = list(dict.fromkeys(row for row in rows if row))  # a sentence and its twin are the same pair
        make = passage if self.continuations.shared else passages
        sums = dict(zip(asked, self.continuations.sums(asked, make), strict=True))
        scores = []
        for sentences, row in zip(read, rows, strict=True):
            found = iter(sums[row] if row else ())
            scores.append(
                self._signed([None if ids is None else next(found) for ids in sentences.ids], sentences.reason)
            )
        return scores


def _comparable(sentences: Sentences) -> Sentences:
    """Return *sentences*; undefined as a whole if one option is undefined or the sentences share no beginning."""
    known = [ids for ids in sentences.ids if ids]
    whole = len(known) == len(sentences.ids) > 0
    if whole and shared_tokens(known):
        return sentences
    return replace(sentences, ids=(None,) * len(sentences.ids), reason=NO_BEGINNING if whole else sentences.reason)


AT_ONCE = 32  # probes whose questions are in memory together: some thousand rows


class PllScorer(MaskedScorer):
    """Scores probes by pseudo-log-likelihood; obeys `core.types.Scorer`. Not for several threads at once.

    `fillers` is that of masked scoring: the distribution at the slot.
    """

    method, version, joining = "pll", 1, "sum"

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded)
        self.joining, self.version = "sum", 1
        self.sentences = SentenceReader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order: PLL of the whole sentence with each option, natural log."""
        return [score for i in range(0, len(probes), AT_ONCE) for score in self._score(probes[i : i + AT_ONCE])]

    def _score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        read = self.sentences.read_all(probes)
        questions = [
            [self.question_at(ids, i) for i in range(sentences.before, len(ids) - sentences.after)] if ids else []
            for sentences in read
            for ids in sentences.ids
        ]
        answers = iter(self._answer([question for group in questions for question in group]))
        sums = iter([sum(next(answers)[0][0] for _ in group) if group else None for group in questions])
        return [self._signed([next(sums) for _ in sentences.ids], sentences.reason) for sentences in read]


LocalScorer = MaskedScorer | PllScorer | PairSumScorer


def refuse_joint(method: str, joint: str) -> None:
    """Raise Refused for a way to join tokens with a method that sums whole sentences."""
    if method != "masked" and joint != "independent":
        message = N_(
            "{joint} combines the tokens of a masked word, but {method} sums over whole sentences. Omit {joint}."
        )
        raise Refused(message, joint=joint, method=method)


def open_here(
    name: str, *, joint: Joint = "independent", precision: Precision = "fp32", method: Method = "auto",
    device: str = "auto", patience: float | None = None,
) -> LocalScorer:  # fmt: skip
    """See `core.models.open_scorer`; *patience*: see `core.models.catalogue.locate`."""
    if method not in get_args(Method):
        message = N_("{method} is not a scoring method; choose one of {known}.")
        raise Refused(message, method=method, known=", ".join(get_args(Method)))
    if method == "auto":
        method = "pair-sum" if task_of(name, patience=patience) == "causal" else "masked"
    refuse_joint(method, joint)
    task: Task = "causal" if method == "pair-sum" else "masked"
    loaded = load_model(name, task, precision=precision, patience=patience, device=device)
    if method == "pair-sum":
        return PairSumScorer(loaded)
    return PllScorer(loaded) if method == "pll" else MaskedScorer(loaded, joint=joint)
