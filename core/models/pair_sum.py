"""Causal models: the probability of the sentence with each option, from the first token that differs.

SPEC 6.1: log P(sentence) = sum over t of log P(w_t | w_1 ... w_t-1). Before the
first token in which the options' sentences differ all terms are equal and
cancel in Bias_c, so the sum begins there; the logprobs of a score are therefore
of the rest of the sentence given its beginning, natural logs, and not comparable
with those of masked scoring. The end of the text is not scored.

The beginning that the options share is read once: their continuations stand
one after the other in one row, each seeing the beginning and itself. A model
that does not take such a mask (tried out when it is opened) gets one row per
option.
"""

from collections.abc import Sequence

from evenhand.core.errors import N_
from evenhand.core.models.continuations import Continuations, passage, passages, shared_tokens
from evenhand.core.models.forward import padded_batches
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.models.sentence_tokens import SentenceReader, Sentences
from evenhand.core.models.signature import Signed
from evenhand.core.types import Filler, MaskedSentence, Score

NO_BEGINNING = N_(
    "The sentence begins with the word, and this model's tokenizer adds no token before it, so the first"
    " word has no probability."
)


class PairSumScorer(Signed):
    """Scores probes with one loaded causal model; obeys `core.types.Scorer`. Not for several threads at once."""

    method, version, joining = "pair-sum", 1, "sum"

    def __init__(self, loaded: LoadedModel, *, shared: bool | None = None) -> None:
        """*shared*: read the options' common beginning once; None tries out whether the model can."""
        self.loaded = loaded
        longest = longest_input(loaded.tokenizer, loaded.model.config)
        self.reader = SentenceReader(loaded.tokenizer, longest, opening=True)
        self.continuations = Continuations(loaded, self.reader.padding_id, shared=shared)

    @property
    def shared(self) -> bool:
        """Whether the options' common beginning is read once."""
        return self.continuations.shared

    @shared.setter
    def shared(self, shared: bool) -> None:
        self.continuations.shared = shared

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """One score per probe, in order: natural logs, None with a reason where undefined."""
        read = [_comparable(one) for one in self.reader.read_all(probes)]
        rows = [tuple(ids for ids in one.ids if ids) for one in read]
        asked = list(dict.fromkeys(row for row in rows if row))  # a sentence and its twin are the same pair
        sums = dict(zip(asked, self._sums(asked), strict=True))
        scores = []
        for one, row in zip(read, rows, strict=True):
            found = iter(sums[row] if row else ())
            scores.append(self._signed([None if ids is None else next(found) for ids in one.ids], one.reason))
        return scores

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Nothing: a model that reads from left to right does not fill a slot inside a sentence."""
        del probe, top, words
        return []

    def _sums(self, asked: Sequence[tuple[tuple[int, ...], ...]]) -> list[list[float]]:
        """Per set of sentences, the sum of each."""
        make = passage if self.shared else passages
        made = [(i, one) for i, row in enumerate(asked) for one in make(row)]
        sums = [[0.0] * len(row) for row in asked]
        for batch in padded_batches([len(one.ids) for _, one in made], self.continuations.budget(len(made))):
            group = [made[i] for i in batch]
            terms = iter(self.continuations.token_logprobs([one for _, one in group]))
            for number, one in group:
                for owner in one.owners:
                    sums[number][owner] += next(terms)
        return sums


def _comparable(sentences: Sentences) -> Sentences:
    """Undefined as a whole where an option is, since there is then nothing to differ from; or without a beginning."""
    known = [ids for ids in sentences.ids if ids]
    nothing: tuple[None, ...] = (None,) * len(sentences.ids)
    if not known or len(known) < len(sentences.ids):
        return Sentences(nothing, sentences.before, sentences.after, sentences.reason)
    if not shared_tokens(known):
        return Sentences(nothing, sentences.before, sentences.after, NO_BEGINNING)
    return sentences
